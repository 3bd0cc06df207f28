"""Tests that `heddle run --tasks` lists each task once, with its kernel, number and worker, natively and in simulation.
For a tiled Cholesky the test calculates from the algorithm (right-looking: potrf, trsm, syrk, gemm) what each task
waits for. No task may start before that has ended. The trace of the same run, read by trace_readers.py, must say the
same as the table. A simulation is the same with and without a record.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile

from script_arguments import has_simulator, script_arguments
from trace_readers import read_perfetto

TILES, TILE_SIZE = 6, 16
CHOLESKY = ["configs/cholesky.yaml", "--set", f"workload.tiles={TILES}", "--set", f"workload.tile_size={TILE_SIZE}",
            "--set", "schedule.placement=cyclic"]
FIB = ["configs/fib.yaml", "--backend", "sim", "--set", "workload.n=20", "--set", "platform.nodes=2", "--set",
       "platform.cores=2"]


def cholesky(tiles):
    """{name: (flops, names of the tasks that must end before)}."""
    cube = TILE_SIZE**3
    tasks = {}
    for k in range(tiles):
        tasks[f"potrf {k}"] = (cube / 3, [f"syrk {k} {k - 1}"])
        for i in range(k + 1, tiles):
            tasks[f"trsm {i} {k}"] = (cube, [f"potrf {k}", f"gemm {i} {k} {k - 1}"])
            tasks[f"syrk {i} {k}"] = (cube, [f"trsm {i} {k}", f"syrk {i} {k - 1}"])
            for j in range(k + 1, i):
                tasks[f"gemm {i} {j} {k}"] = (2 * cube, [f"trsm {i} {k}", f"trsm {j} {k}", f"gemm {i} {j} {k - 1}"])
    return {name: (flops, [before for before in befores if before in tasks]) for name, (flops, befores) in tasks.items()}


def picoseconds(text):
    whole, part = text.split(".")
    assert len(part) == 12
    return int(whole) * 10**12 + int(part)


class Runs:
    def __init__(self, heddle, folder):
        self.heddle, self.table, self.trace = heddle, os.path.join(folder, "tasks.csv"), os.path.join(folder, "a.pftrace")

    def run(self, words, *more, launch=0):
        """The result, rows of the table, the trace, and what was said on standard error."""
        before = [self.heddle, "launch", "-n", str(launch), "--"] if launch else []
        said = subprocess.run([*before, self.heddle, "run", *words, "--json", "--tasks", self.table, "--trace", self.trace,
                               *more], capture_output=True, text=True)
        assert said.returncode == 0, said
        with open(self.table, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with open(self.trace, "rb") as file:
            return json.loads(said.stdout), rows, read_perfetto(file.read()), said.stderr


def check_cholesky(runs, *words, launch=0):
    """Returns how many tasks were stolen."""
    result, rows, (slices, _, flows, traced), said = runs.run(CHOLESKY, *words, launch=launch)
    assert "record" not in said, said
    expected = cholesky(TILES)
    assert sorted(row["name"] for row in rows) == sorted(expected), "each task once"
    assert sorted(int(row["task"]) for row in rows) == list(range(len(expected)))
    assert result["tasks"] == len(rows)
    ends = {row["name"]: picoseconds(row["end_seconds"]) for row in rows}
    at_once = {}
    stolen = 0
    for row in rows:
        flops, befores = expected[row["name"]]
        assert row["kernel"] == row["name"].split()[0]
        assert abs(float(row["flops"]) - flops) < 1e-3 * flops, row
        ready, start, end = (picoseconds(row[f"{what}_seconds"]) for what in ("ready", "start", "end"))
        assert 0 <= ready <= start <= end <= round(result["makespan_seconds"] * 1e12), row
        assert all(ends[before] <= ready for before in befores), (row, befores)
        worker = (int(row["node"]), int(row["worker"]))
        assert worker < (result["nodes"], 0) and worker[1] < result["cores"]
        at_once.setdefault(worker, []).append((start, end))
        placed = (int(row["placed_node"]), int(row["placed_worker"]))
        assert worker == placed or row["stolen_from_node"] != "", row
        if row["stolen_from_node"]:
            stolen += 1
            assert (row["stolen_from_worker"] == "") == (int(row["stolen_from_node"]) != worker[0])
    for times in at_once.values():
        times.sort()
        assert all(a[1] <= b[0] for a, b in zip(times, times[1:])), "one task at a time"

    # The trace, in whole nanoseconds.
    assert len(slices) == result["nodes"] * result["cores"]
    assert len(traced) == len(rows)
    for row, task in zip(rows, traced):
        assert task["worker"] == (f"node {row['node']}", f"worker {row['worker']}")
        assert (task["task"], task["name"], task["kernel"]) == (int(row["task"]), row["name"], row["kernel"])
        assert task["begin"] == picoseconds(row["start_seconds"]) // 1000
        assert task["end"] == picoseconds(row["end_seconds"]) // 1000
        assert task["placed on"] == f"node {row['placed_node']} worker {row['placed_worker']}"
        assert ("stolen from" in task) == (row["stolen_from_node"] != "")
        assert abs(task["flops"] - float(row["flops"])) <= 1e-5 * task["flops"]

    # Data that come from another node come in messages.
    where = {row["name"]: row["placed_node"] for row in rows}
    crossing = sum(where[before] != where[name] for name, (_, befores) in expected.items() for before in befores)
    assert (crossing > 0) == (result["nodes"] > 1) and (len(flows) > 0) == (result["nodes"] > 1)
    for (sender, sent), (receiver, received) in flows.values():
        assert sender != receiver and sent <= received
    for node in range(result["nodes"]):
        assert any(name == "working" for (name_of_node, _), of in slices.items() if name_of_node == f"node {node}" for _, _, name in of)
    return stolen


def check_fork_join(runs):
    result, rows, (_, _, _, traced), said = runs.run(FIB)
    assert "record" not in said and len(rows) == len(traced) == result["tasks"], (said, len(rows), result["tasks"])
    assert [row["kernel"] for row in rows].count("root") == 1 and {row["kernel"] for row in rows} == {"root", "fib"}
    within = sum(row["stolen_from_worker"] != "" for row in rows)
    between = sum(row["stolen_from_node"] != "" for row in rows) - within
    assert within == result["steals"]["within_node"] > 0
    assert between == result["steals"]["between_nodes"] > 0
    for row in rows:
        known = row["ready_seconds"] != ""
        assert known == (row["kernel"] != "root" and (row["stolen_from_node"] == "" or row["stolen_from_worker"] != "")), row
        assert not known or picoseconds(row["ready_seconds"]) <= picoseconds(row["start_seconds"])

    _, cut, _, said = runs.run(FIB, "--tasks-max", "10")
    assert len(cut) == 10 and f"the first 10 of {len(rows):,} tasks" in said, said
    assert {(row["start_seconds"], row["node"], row["worker"]) for row in cut} <= {
        (row["start_seconds"], row["node"], row["worker"]) for row in rows}

    native = ["configs/fib.yaml", "--set", "workload.n=18", "--set", "platform.cores=2"]
    result, rows, _, said = runs.run(native)
    assert rows[-1]["kernel"] == "root" and len(rows) < result["tasks"]
    assert f"{result['tasks'] - len(rows):,} of {result['tasks']:,} tasks are not in the record" in said, said


def check_models(runs):
    """Also tasks that wait in the middle, and that are no forks, have rows: threads, pools, closures, first tasks."""
    for name in ("adaptive", "bag", "dataflow_cholesky", "jacobi", "neighbours", "overlap", "ping_pong", "stream"):
        result, rows, _, said = runs.run([f"configs/{name}.yaml", "--backend", "sim"])
        assert "record" not in said and len(rows) == result["tasks"] > 0, (name, said, len(rows), result["tasks"])


def check_dataflow(runs):
    """Eight tiles a row: n (n + 1) (n + 2) / 6 tasks of the factorization, n (n + 1) / 2 that fill it, the main program."""
    words = ["configs/dataflow_cholesky.yaml", "--set", "platform.nodes=1"]
    for backend, cores in (("native", 1), ("native", 2), *((("sim", n) for n in (1, 2, 4)) if has_simulator() else ())):
        result, rows, (slices, _, _, traced), said = runs.run(words, "--backend", backend, "--set", f"platform.cores={cores}")
        assert "record" not in said and len(rows) == result["tasks"] == 120 + 36 + 1, (said, len(rows), result["tasks"])
        kernels = [row["kernel"] for row in rows]
        assert [kernels.count(name) for name in ("root", "potrf", "trsm", "syrk", "gemm")] == [1, 8, 28, 28, 56], kernels
        stolen = sum(row["stolen_from_node"] != "" for row in rows)
        assert stolen <= result["steals"]["within_node"]
        if backend == "native":
            continue
        assert (stolen > 0) == (cores > 1)
        flops = sum(float(row["flops"]) for row in rows)
        assert abs(flops - result["declared_flops"]) <= 1e-4 * flops, (flops, result["declared_flops"])
        for worker, of in slices.items():
            tasks = [(task["begin"], task["end"]) for task in traced if task["worker"] == worker]
            for begin, end, name in of:
                inside = name != "working" or any(first <= begin and end <= last for first, last in tasks)
                assert inside, f"{worker} works without a task from {begin} to {end}"


def check_same_with_and_without(runs, words):
    said = subprocess.run([runs.heddle, "run", *words, "--json"], capture_output=True, text=True, check=True)
    plain, recorded = json.loads(said.stdout), runs.run(words)[0]
    for of_the_host in ("wall_seconds", "peak_memory_bytes", "placement_seconds"):
        plain.pop(of_the_host, None)
        recorded.pop(of_the_host, None)
    assert plain == recorded, (plain, recorded)


def check_picture(heddle):
    words = [*CHOLESKY, "--set", "workload.tile_size=64"]  # long enough for their numbers
    said = subprocess.run([heddle, "run", *words, "--gantt"], capture_output=True, text=True, check=True)
    lines = [line for line in said.stdout.splitlines() if line.startswith("node ")]
    assert [line[:15] for line in lines] == [f"node {n} worker {c}" for n in range(2) for c in range(2)], said.stdout
    drawn = [int(number) for line in lines for number in re.findall(r"(?<=[.=#])\d+(?==)", line[15:])]
    assert drawn and len(drawn) == len(set(drawn)) and set(drawn) < set(range(56)), drawn
    bag = [heddle, "run", "configs/bag.yaml", "--set", "platform.nodes=2", "--set", "workload.task_cost=1Mf", "--gantt"]
    said = subprocess.run(bag, capture_output=True, text=True, check=True).stdout
    lines = [line[15:] for line in said.splitlines() if line.startswith("node ")]
    assert len(lines) == 4 and not any("." in line for line in lines) and "not shown" not in said, said
    said = subprocess.run([*bag, "--tasks-max", "1"], capture_output=True, text=True, check=True).stdout
    assert "not shown: 3 workers without a recorded task" in said, said
    both = subprocess.run([heddle, "run", *CHOLESKY, "--gantt", "--json"], capture_output=True, text=True)
    assert both.returncode == 2 and "excludes" in both.stderr, both


def main():
    arguments = script_arguments("heddle")
    os.chdir(arguments.source)
    heddle = os.path.abspath(arguments.heddle)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(heddle, folder)
        stealing = ("--set", "schedule.stealing.victim=random")
        native = ("--backend", "native", "--set", "platform.nodes=1", "--set", "platform.cores=2")
        check_cholesky(runs, *native)
        check_cholesky(runs, *native, *stealing)
        two = ("--backend", "native", "--set", "platform.cores=2")
        check_cholesky(runs, *two, launch=2)
        check_cholesky(runs, *two, *stealing, launch=2)
        check_dataflow(runs)
        if not has_simulator():
            return 0
        assert check_cholesky(runs) == 0, "nothing is stolen"
        assert check_cholesky(runs, *stealing) > 0, "something is stolen"
        check_fork_join(runs)
        check_models(runs)
        for words in (CHOLESKY, FIB, ["configs/quickstart.yaml", "--set", "platform.nodes=4"], ["configs/dataflow_cholesky.yaml"],
                      ["configs/stream.yaml"]):
            check_same_with_and_without(runs, words)
        check_picture(heddle)
    return 0


if __name__ == "__main__":
    sys.exit(main())
