"""Tests that traces of `heddle run --trace` agree with the run's output. The states of each worker follow each other
without gaps and add up to the reported times. Every message that is sent arrives. If pj_dump is installed, it reads
the Paje files as well and must find the same.
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
from trace_readers import read_paje, read_perfetto

# Fork/join with stealing, placed graphs, large messages, and native workers.
RUNS = {
    "nqueens": ["configs/nqueens.yaml", "--backend", "sim", "--set", "workload.n=8", "--set", "platform.nodes=4", "--set", "platform.cores=2"],
    "dag": ["configs/dag.yaml"],
    "cholesky": ["configs/cholesky.yaml"],
    "native": ["configs/fib.yaml", "--set", "workload.n=20", "--set", "platform.cores=2"],
}
ACTIVITIES = ["working", "overhead", "stealing", "waiting", "idle"]


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

    slices, modules, flows, tasks = read_perfetto(gzip.decompress(data))
    assert len(slices) == workers
    for worker in slices.values():
        without_gaps(worker, makespan // 1000)
    count = sum(map(len, slices.values())) + sum(map(len, modules.values()))
    for activity, total in sums(slices).items():
        # Whole nanoseconds: each slice may be one off.
        assert abs(total * 1000 - times[activity]) <= 1000 * count, (activity, total, times[activity])
    # Those at the very end of a run are sent when every node has counted: reports of the nodes, and answers to thieves.
    sent = [one for (_, module), of_module in modules.items() for one in of_module if module == "sender"]
    received = [one for (_, module), of_module in modules.items() for one in of_module if module == "receiver"]
    assert len(sent) == len(received) == len(flows) and len(sent) >= messages, (len(sent), len(received), len(flows), messages)
    assert result["nodes"] == 1 or messages > 0
    for ends in flows.values():
        assert len(ends) == 2 and ends[0][1] < ends[1][1] and ends[0][0] != ends[1][0], ends
    count += len(tasks)
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
    slices, links, paje_tasks = read_paje(data.decode())
    assert len(slices) == workers and len(links) == len(flows)
    assert tasks and [task["kernel"] for task in paje_tasks] == [task["kernel"] for task in tasks]
    assert [task["end"] // 1000 for task in paje_tasks] == [task["end"] for task in tasks]
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
    arguments = script_arguments("heddle", "simulator")
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
