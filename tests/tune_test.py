"""Tests heddle tune as a user runs it. Its file of rules follows from the readings, and equal tunings in simulation
write equal bytes. A run with the rules takes the winner's time in each cell. Native tuning writes rules, too, and
mistakes leave nothing behind.
"""

import csv
import json
import os
import re
import signal
import stat
import subprocess
import tempfile
import time

from script_arguments import script_arguments
from spmd_workloads_testing import answer

RULE = re.compile(r"  - \{bytes: \[(\d+), (\d+)\], nodes: \[(\d+), (\d+)\], threads: \[(\d+), (\d+)\], algorithm: (\w+)\}  # .*")
SMALL = ["--operations", "all_reduce,scan,gather", "--bytes", "8,4KiB,256KiB", "--nodes", "1,3", "--threads", "2"]
AS_LEAST = ["--operations", "all_reduce", "--bytes", "8", "--nodes", "2", "--threads", "1"]


def run(heddle, *words, code=0, **more):
    done = subprocess.run([heddle, *words], capture_output=True, text=True, timeout=1700, check=False, **more)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rules_in(text):
    """(operation, six bounds, algorithm) of each rule, by the form that the page of the model shows."""
    rules, operation = [], None
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if re.fullmatch(r"\w+:", line):
            operation = line[:-1]
            continue
        found = RULE.fullmatch(line)
        assert found, line
        rules.append((operation, [int(bound) for bound in found.groups()[:6]], found.group(7)))
    return rules


def chosen(rules, operation, values):
    """The algorithm of the first rule that fits; `values`: bytes, nodes and threads."""
    for of, bounds, algorithm in rules:
        if of == operation and all(bounds[2 * i] <= value <= bounds[2 * i + 1] for i, value in enumerate(values)):
            return algorithm
    return None


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def times_in(path):
    """The median time of each algorithm in each cell: (operation, bytes, nodes, threads)."""
    runs = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cell = row["operation"], int(row["bytes"]), int(row["nodes"]), int(row["threads"])
            runs.setdefault(cell, {}).setdefault(row["algorithm"], []).append(float(row["seconds"]))
    return {cell: {algorithm: median(seconds) for algorithm, seconds in of.items()} for cell, of in runs.items()}


def in_simulation(heddle, folder):
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
    for place in (first, second):
        os.mkdir(place)
        said = run(heddle, "tune", *SMALL, "--out", "rules.yaml", cwd=place)
    assert "tune: 3 operations" in said.stderr and "rules.yaml: " in said.stdout, said
    for name in ("rules.yaml", "rules.csv"):
        assert read(os.path.join(first, name)) == read(os.path.join(second, name)), name
    rules, times = rules_in(read(os.path.join(first, "rules.yaml"))), times_in(os.path.join(first, "rules.csv"))
    assert len(times) == 3 * 3 * 2, len(times)
    table = [line.split() for line in said.stdout.splitlines()]
    sizes = {8: "8B", 4096: "4KiB", 262144: "256KiB"}
    for (operation, *values), of in times.items():
        named = {algorithm: seconds for algorithm, seconds in of.items() if algorithm != "auto"}
        winner = chosen(rules, operation, values)
        assert named[winner] <= min(named.values()) * (1 + 1e-9), (operation, values, winner, named)
        # The table has the same winner, and what `auto` costs.
        size, nodes, threads = values
        line, = (line for line in table if line[:5] == [operation, str(nodes), str(threads), sizes[size], winner])
        best = min(named.values())
        loss = 100 * (of["auto"] / best - 1) if best > 0 else 0  # one node takes no time
        assert abs(float(line[-1].rstrip("%")) - loss) <= 0.05 + 1e-9, (line, loss)
        # A run with the rules does what the best did.
        done = run(heddle, "run", "configs/collective.yaml", *(f"--set={key}={value}" for key, value in {
            "workload.operation": operation, "workload.algorithm": "default", "workload.bytes": size, "platform.nodes": nodes,
            "platform.cores": threads, "workload.rules": os.path.join(first, "rules.yaml")}.items()))
        assert f"{operation}_by_{winner} 11" in done.stdout, (operation, values, winner, done.stdout)
        # A run prints six digits.
        assert abs(answer(done.stdout, "call_time") - best) <= 1e-5 * best, (operation, values, winner, named, done.stdout)
    # The same command again runs nothing, and writes the same.
    before = read(os.path.join(second, "rules.yaml"))
    run(heddle, "tune", *SMALL, "--out", "rules.yaml", cwd=second)
    assert read(os.path.join(second, "rules.yaml")) == before
    assert sorted(os.listdir(second)) == ["rules.csv", "rules.runs", "rules.yaml"], os.listdir(second)


def in_a_file(heddle, folder):
    """A file says the platform; what it states is what is measured."""
    file, out = os.path.join(folder, "mine.yaml"), os.path.join(folder, "mine-rules.yaml")
    with open(file, "w", encoding="utf-8") as text:
        text.write("workload: {name: collective, ranks: threads}\nplatform: {nodes: 3, cores: 2, network: {latency: 1ms}}\nbackend: sim\n")
    run(heddle, "tune", file, "--operations", "scan", "--bytes", "1", "--out", out, "--set", "platform.network.bandwidth=1Gbps")
    text = read(out)
    assert '"latency":"1ms"' in text and '"bandwidth":"1Gbps"' in text and '"ranks":"threads"' in text, text
    (operation, bounds, _), = rules_in(text)
    assert operation == "scan" and bounds[2:] == [3, 3, 2, 2], text
    assert {cell for cell in times_in(os.path.join(folder, "mine-rules.csv"))} == {("scan", 8, 3, 2)}


def natively(heddle, folder):
    out = os.path.join(folder, "native.yaml")
    said = run(heddle, "tune", "--backend", "native", "--operations", "reduce_scatter", "--bytes", "8,1KiB", "--nodes", "1,2", "--threads", "1",
               "--repeat", "2", "--out", out)
    assert "natively" in said.stderr, said.stderr
    rules = rules_in(read(out))
    with open(os.path.join(folder, "native.csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    algorithms = {row["algorithm"] for row in rows}
    assert len(rows) == 2 * 2 * 2 * len(algorithms) and all(float(row["seconds"]) >= 0 for row in rows), rows
    assert all(chosen(rules, "reduce_scatter", (size, nodes, 1)) in algorithms for size in (8, 1024) for nodes in (1, 2)), rules
    run(heddle, "run", "configs/collective.yaml", "--backend", "native", "--set=platform.nodes=1", "--set=platform.cores=1",
        "--set=workload.operation=reduce_scatter", "--set=workload.algorithm=default", "--set=workload.bytes=8", f"--set=workload.rules={out}")


def refused(heddle, folder):
    """Each mistake is named, ends with 2, leaves an earlier file as it was, and nothing beside it."""
    place = os.path.join(folder, "refused")
    os.mkdir(place)
    out = os.path.join(place, "rules.yaml")
    with open(out, "w", encoding="utf-8") as file:
        file.write("# earlier\n")

    def config(name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return os.path.join(folder, name)

    for words, said in (
        (["--operations", "all_reduc"], 'did you mean "all_reduce"'),
        (["--operations", "all_reduce,"], 'no operation ""'),
        (["--bytes", "8..4"], "ends before it begins"),
        (["--bytes", "1e300"], "--bytes"),
        (["--bytes", "2GB"], "--bytes \"2GB\": this is no whole number of bytes up to 1GB"),
        (["--nodes", "0"], "--nodes"),
        (["--nodes", "-3"], "--nodes"),
        (["--nodes", "two"], "--nodes"),
        (["--threads", "1..1000000*1"], "--threads"),
        (["--nodes", "1..1000000000"], "platform.nodes"),
        (["--set", "platform.nods=2"], 'did you mean "nodes"'),
        (["--set", "workload.bytes"], "--set"),
        (["--backend", "inprocess"], "in-process"),
        (["--backend", "cloud"], "cloud"),
        (["--repeat", "0"], "repeat"),
        (["--operation", "scan"], 'did you mean "--operations"'),
        ([config("fib.yaml", "backend: sim\nworkload:\n  name: fib\n")], "fib.yaml:3: tune measures collective calls, and this is fib"),
        ([config("axes.yaml", "workload: {name: collective}\nbackend: sim\ncompare:\n  workload.bytes: [8, 16]\n")], "axes.yaml:4: "),
        ([config("bad.yaml", "workload: {name: collective,\n")], "bad.yaml:"),
        ([os.path.join(folder, "none.yaml")], "none.yaml"),
    ):
        done = run(heddle, "tune", *words, "--out", out, code=2)
        assert done.stderr.startswith("heddle: ") and said in done.stderr, (words, done.stderr)
        assert read(out) == "# earlier\n", words
        assert {name for name in os.listdir(place) if not name.endswith(".runs")} == {"rules.yaml"}, (words, os.listdir(place))
    for name, said in ((place, "cannot be written"), (os.path.join(place, "no", "rules.yaml"), "cannot be written"),
                       (os.path.join(place, "rules.csv"), "ending of the readings"), ("", "the value is empty")):
        done = run(heddle, "tune", *AS_LEAST, "--out", name, code=2)
        assert said in done.stderr, (name, done.stderr)
    mine = config("itself.yaml", "workload: {name: collective}\nbackend: sim\n")
    assert "is a file that this command reads" in run(heddle, "tune", mine, *AS_LEAST, "--out", mine, code=2).stderr
    assert read(mine) == "workload: {name: collective}\nbackend: sim\n"


def skipped(heddle, folder):
    """A platform that has no memory for a call refuses it: the other calls are tuned."""
    out = os.path.join(folder, "skipped.yaml")
    words = ["--operations", "all_gather", "--bytes", "8,900MB", "--nodes", "400", "--threads", "1", "--set", "workload.repeats=1"]
    said = run(heddle, "tune", *words, "--out", out)
    assert "skipped: all_gather of 900MB on 400 x 1 by " in said.stderr and "workload.bytes" in said.stderr, said.stderr
    assert [bounds[:2] for _, bounds, _ in rules_in(read(out))] == [[0, 2**53]], read(out)
    run(heddle, "run", "configs/collective.yaml", "--backend", "sim", *(f"--set={key}={value}" for key, value in {
        "workload.operation": "all_gather", "workload.algorithm": "ring", "workload.bytes": 900000000, "platform.nodes": 400}.items()), code=6)
    words[words.index("8,900MB")] = "900MB"
    done = run(heddle, "tune", *words, "--out", out, code=2)
    assert "no algorithm can do any of these calls" in done.stderr, done.stderr


def failed(heddle, folder):
    """A run that fails is no refusal, although its exit code is 2: no rules are written without that algorithm."""
    out, runs = os.path.join(folder, "failed.yaml"), os.path.join(folder, "failed.runs")
    run(heddle, "tune", *AS_LEAST, "--out", out)
    (_, _, winner), = rules_in(read(out))
    for name in os.listdir(runs):
        path = os.path.join(runs, name, "result.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            if json.load(file)["configuration"]["workload"]["algorithm"] != winner:
                continue
        # The result of this cell is lost, and it cannot be written.
        os.remove(path)
        os.remove(os.path.join(runs, name, "steals.csv"))
        os.makedirs(os.path.join(runs, name, "steals.csv", "not empty"))
        with open(out, "w", encoding="utf-8") as file:
            file.write("# earlier\n")
        done = run(heddle, "tune", *AS_LEAST, "--out", out, code=2)
        assert "no rules were written" in done.stderr and f"workload.algorithm={winner}" in done.stderr, done.stderr
        assert read(out) == "# earlier\n"
        return
    raise AssertionError(f"{winner} has no result in {runs}")


def into_a_pipe(heddle, folder):
    """What is no regular file is written into, and nothing is made beside it."""
    before = sorted(os.listdir("/dev"))
    shown = run(heddle, "tune", *AS_LEAST, "--out", "/dev/stdout", cwd=folder).stdout
    assert "all_reduce:\n  - {bytes: [0, " in shown, shown
    run(heddle, "tune", *AS_LEAST, "--out", "/dev/null", cwd=folder)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert [name for name in sorted(os.listdir("/dev")) if name not in before] == []
    pipe = os.path.join(folder, "pipe.yaml")
    os.mkfifo(pipe)
    process = subprocess.Popen([heddle, "tune", *AS_LEAST, "--out", pipe], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = read(pipe)
    assert process.wait(60) == 0 and rules_in(text), text
    assert stat.S_ISFIFO(os.stat(pipe).st_mode) and not os.path.exists(os.path.join(folder, "pipe.csv"))


def cut_off(heddle, folder):
    """A signal leaves the earlier file; the same command goes on."""
    out = os.path.join(folder, "cut.yaml")
    with open(out, "w", encoding="utf-8") as file:
        file.write("# earlier\n")
    command = [heddle, "tune", "--operations", "all_reduce", "--bytes", "8,16", "--nodes", "2..6", "--threads", "1", "--out", out]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not any(os.path.isdir(os.path.join(folder, "cut.runs", name)) for name in
                  (os.listdir(os.path.join(folder, "cut.runs")) if os.path.isdir(os.path.join(folder, "cut.runs")) else [])):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + signal.SIGTERM and "goes on from here" in errors, (process.returncode, errors)
    assert read(out) == "# earlier\n" and not [name for name in os.listdir(folder) if name.startswith("cut.yaml.")]
    run(heddle, *command[1:])
    assert rules_in(read(out)), read(out)


def main():
    arguments = script_arguments("heddle", "simulator")
    os.chdir(arguments.source)
    for check in (in_simulation, in_a_file, natively, refused, skipped, failed, into_a_pipe, cut_off):
        with tempfile.TemporaryDirectory() as folder:
            check(os.path.abspath(arguments.heddle), folder)


if __name__ == "__main__":
    main()
