"""What `heddle run --trace` leaves behind is what the run says of itself: a small decoder reads Perfetto's format (field
numbers from its public protos/perfetto/trace/*.proto), a small reader the Paje format, and the states of each worker
follow each other without gaps and add up to the reported times; every message that is sent arrives. Where pj_dump is
installed, it reads the Paje files as well and must find the same.
"""

import collections
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

# Fork/join with stealing, placed graphs, large messages, and native workers.
RUNS = {
    "nqueens": ["configs/nqueens.yaml", "--backend", "sim", "--set", "workload.n=8", "--set", "platform.nodes=4", "--set", "platform.cores=2"],
    "dag": ["configs/dag.yaml"],
    "cholesky": ["configs/cholesky.yaml"],
    "native": ["configs/fib.yaml", "--set", "workload.n=20", "--set", "platform.cores=2"],
}
ACTIVITIES = ["working", "overhead", "stealing", "waiting", "idle"]


# --- Perfetto

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message: {number: [values]}; what has a length as bytes."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, f"kind {key & 7}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        found[key >> 3].append(value)
    return found


def read_perfetto(data):
    """Slices of workers {(node, worker): [(begin, end, name)]} in nanoseconds, slices of modules, and flows
    {number: [(node, begin)]}."""
    names, tracks, running, flows = {}, {}, {}, collections.defaultdict(list)
    workers, modules = collections.defaultdict(list), collections.defaultdict(list)
    before = 0
    for raw in fields(data)[1]:
        packet = fields(raw)
        assert packet[10] == [1], "one sequence"
        if packet[12]:
            assert packet[13] == [1], "the first packet clears the state"
            for entry in fields(packet[12][0])[2]:
                entry = fields(entry)
                names[entry[1][0]] = entry[2][0].decode()
        elif packet[60]:
            track = fields(packet[60][0])
            uuid = track[1][0]
            assert uuid not in tracks
            if track[3]:  # a process
                process = fields(track[3][0])
                tracks[uuid] = ("node", process[6][0].decode(), process[1][0])
            elif track[4]:
                thread = fields(track[4][0])
                node = next(name for _, name, pid in tracks.values() if pid == thread[1][0])
                tracks[uuid] = ("worker", (node, thread[5][0].decode()), None)
            else:
                tracks[uuid] = ("module", (tracks[track[5][0]][1], track[2][0].decode()), None)
        else:
            assert packet[13] == [2], "needs the names"
            event, time = fields(packet[11][0]), packet[8][0]
            assert time >= before, "in the order of time"
            before = time
            uuid = event[11][0]
            kind, who, _ = tracks[uuid]
            slices = workers if kind == "worker" else modules
            if event[9] == [1]:
                assert uuid not in running, "slices do not overlap"
                running[uuid] = (time, names[event[10][0]])
                for flow in event[47] + event[48]:
                    flows[flow].append((who, time))
            else:
                assert event[9] == [2]
                begin, name = running.pop(uuid)
                slices[who].append((begin, time, name))
    assert not running, "every slice ends"
    return workers, modules, flows


# --- Paje

def picoseconds(text):
    whole, part = text.split(".")
    assert len(part) == 12
    return int(whole) * 10**12 + int(part)


def read_paje(text):
    """States of workers {container: [(begin, end, name)]} in picoseconds, and links {key: (begin, end)}."""
    kinds, kind = {}, None
    states, current, links, sizes, before = collections.defaultdict(list), {}, {}, {}, 0
    for line in text.splitlines():
        words = line.split()
        if words[0] == "%EventDef":
            kinds[words[2]] = words[1]
        if words[0].startswith("%"):
            continue
        kind = kinds[words[0]]
        if kind.startswith("PajeDefine") or kind == "PajeCreateContainer":
            continue
        time = picoseconds(words[1])
        assert time >= before, "in the order of time"
        before = time
        if kind == "PajeSetState" or (kind == "PajeDestroyContainer" and words[2] == "W"):
            who = words[3]
            if who in current:
                states[who].append((current[who][0], time, current[who][1]))
            current[who] = (time, words[4] if kind == "PajeSetState" else "gone")
        elif kind == "PajeStartLink":
            assert words[-1] not in links
            links[words[-1]] = (time, None)
            sizes[words[-1]] = words[4]
        elif kind == "PajeEndLink":
            links[words[-1]] = (links[words[-1]][0], time)
            assert sizes[words[-1]] == words[4], "a message keeps its size"
    assert all(name == "gone" for _, name in current.values()), "every worker ends"
    return states, links


# --- the checks

def without_gaps(slices, end):
    at = 0
    for begin, until, _ in slices:
        assert begin == at and until > begin, (begin, until, at)
        at = until
    assert at == end, (at, end)
    assert all(a[2] != b[2] for a, b in zip(slices, slices[1:])), "neighbours differ"


def sums(slices):
    total = collections.Counter()
    for begin, end, name in (one for worker in slices.values() for one in worker):
        total[name] += end - begin
    return total


def with_thread_sanitizer(build):
    """ThreadSanitizer of gcc 12 fails by itself where fibers go on in another thread."""
    cache = os.path.join(build or "", "CMakeCache.txt")
    if not os.path.exists(cache):
        return False
    with open(cache, encoding="utf-8") as file:
        return any(line.startswith("HEDDLE_SANITIZE:") and "thread" in line for line in file)


def check(name, words, heddle, folder, sim_threads):
    def run(ending, number=1, *more):
        path = os.path.join(folder, f"{name}{number}.{ending}")
        said = subprocess.run([heddle, "run", *words, *more, "--json", "--trace", path], capture_output=True, text=True,
                              check=True)
        with open(path, "rb") as file:
            return json.loads(said.stdout), file.read(), path

    result, data, _ = run("pftrace.gz", 1, "--sim-threads", "1")
    makespan = round(result["makespan_seconds"] * 1e12)
    workers = result["nodes"] * result["cores"]
    messages = result["messages"]
    assert list(result["time_seconds"]) == ACTIVITIES
    times = {activity: round(seconds * 1e12) for activity, seconds in result["time_seconds"].items()}
    assert sum(times.values()) == makespan * workers, (times, makespan)

    slices, modules, flows = read_perfetto(gzip.decompress(data))
    assert len(slices) == workers
    for worker in slices.values():
        without_gaps(worker, makespan // 1000)
    count = sum(map(len, slices.values())) + sum(map(len, modules.values()))
    for activity, total in sums(slices).items():
        # Whole nanoseconds: each slice may be one off.
        assert abs(total * 1000 - times[activity]) <= 1000 * count, (activity, total, times[activity])
    # Those at the very end of a run are sent when everybody has counted: reports of the nodes, and answers to thieves.
    sent = [one for (_, module), of_module in modules.items() for one in of_module if module == "sender"]
    received = [one for (_, module), of_module in modules.items() for one in of_module if module == "receiver"]
    assert len(sent) == len(received) == len(flows) and len(sent) >= messages, (len(sent), len(received), len(flows), messages)
    assert result["nodes"] == 1 or messages > 0
    for ends in flows.values():
        assert len(ends) == 2 and ends[0][1] < ends[1][1] and ends[0][0] != ends[1][0], ends
    assert count < 2000 or len(data) < 30 * count, f"{len(data)} bytes for {count} slices"

    if result["backend"] != "sim":
        return
    assert run("pftrace.gz", 2)[1] == data, "two runs of one seed differ"
    assert run("pftrace")[1] == gzip.decompress(data)
    for threads in sim_threads:
        assert run("pftrace.gz", threads, "--sim-threads", str(threads))[1] == data, f"{threads} threads differ from one"

    _, data, path = run("paje")
    for threads in sim_threads:
        assert run("paje", threads, "--sim-threads", str(threads))[1] == data, f"{threads} threads differ from one"
    assert run("trace", 2)[1] == data and gzip.decompress(run("paje.gz")[1]) == data
    slices, links = read_paje(data.decode())
    assert len(slices) == workers and len(links) == len(flows)
    for worker in slices.values():
        without_gaps(worker, makespan)
    assert sums(slices) == +collections.Counter(times), "to the picosecond"
    assert all(end is not None and begin < end for begin, end in links.values())
    if shutil.which("pj_dump"):
        dump = subprocess.run(["pj_dump", "--float-precision=12", path], capture_output=True, text=True, check=True)
        assert not dump.stderr, dump.stderr
        rows = [[cell.strip() for cell in line.split(",")] for line in dump.stdout.splitlines()]
        found = collections.Counter()
        for row in rows:
            if row[0] == "State" and row[2] == "Activity":
                found[row[7]] += round(float(row[5]) * 1e12)
        assert found == +collections.Counter(times), (found, times)
        assert sum(row[0] == "Link" for row in rows) == len(links)


def check_refusals(heddle, folder):
    def refused(*words):
        said = subprocess.run([heddle, "run", *words], capture_output=True, text=True)
        assert said.returncode == 2 and not said.stdout, (words, said)
        return said.stderr

    before = sorted(os.listdir(folder))
    assert "no trace format" in refused("configs/fib.yaml", "--trace", os.path.join(folder, "a.json"))
    assert "cannot be written" in refused("configs/fib.yaml", "--trace", os.path.join(folder, "no", "a.pftrace"))
    assert "records one run" in refused("configs/fib.yaml", "--repeat", "2", "--trace", os.path.join(folder, "a.paje"))
    # The file that is there stays as it is where a run fails.
    with open(os.path.join(folder, "kept.paje"), "w", encoding="utf-8") as file:
        file.write("kept")
    full = [heddle, "run", *RUNS["nqueens"], "--set", "schedule.deque_slots=2", "--trace", os.path.join(folder, "kept.paje")]
    assert subprocess.run(full, capture_output=True).returncode != 0
    with open(os.path.join(folder, "kept.paje"), encoding="utf-8") as file:
        assert file.read() == "kept"
    assert sorted(os.listdir(folder)) == sorted(before + ["kept.paje"])


def main():
    arguments = script_arguments("heddle")
    sim_threads = () if with_thread_sanitizer(arguments.build) else (2, 3)
    os.chdir(arguments.source)
    with tempfile.TemporaryDirectory() as folder:
        for name, words in RUNS.items():
            check(name, words, arguments.heddle, folder, sim_threads)
        check_refusals(arguments.heddle, folder)
    print(f"{len(RUNS)} runs, pj_dump {'asked too' if shutil.which('pj_dump') else 'is not installed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
