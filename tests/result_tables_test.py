"""Tests that a datapackage.json describes the tables of a directory of results. Each column has a unit, a meaning, and a
type that its values have. `--record` adds what workers and tasks did. In simulation the states of each worker sum up
to the makespan, to the picosecond.
"""

import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

PATTERNS = {"string": lambda text: True, "any": lambda text: True, "integer": lambda text: str(int(text)) == text,
            "number": lambda text: float(text) is not None, "boolean": lambda text: text in ("true", "false")}
UNITS = {"makespan_seconds": "s", "bytes": "B", "declared_flops": "flop", "platform_core_speed": "flop/s",
         "platform_network_bandwidth": "B/s", "platform_network_latency": "s", "tasks": None}
STATES = ["working", "overhead", "stealing", "waiting", "idle"]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def picoseconds(text):
    whole, part = text.split(".")
    assert len(part) == 12
    return int(whole) * 10**12 + int(part)


def check_package(folder):
    """Returns the names of the tables in a folder, all of which its package describes."""
    with open(os.path.join(folder, "datapackage.json"), encoding="utf-8") as file:
        package = json.load(file)
    described = {}
    for resource in package["resources"]:
        fields = resource["schema"]["fields"]
        with open(os.path.join(folder, resource["path"]), newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        assert rows[0] == [field["name"] for field in fields], (folder, resource["path"])
        for field, *values in zip(fields, *rows[1:]):
            assert field["description"] and field["description"] != "a key of the experiment", field
            assert all(value == "" or PATTERNS[field["type"]](value) for value in values), (field, values)
            if field["name"] in UNITS and resource["path"] == "runs.csv":
                assert field.get("unit") == UNITS[field["name"]], field
            assert not field["name"].endswith("_seconds") or field.get("unit") == "s", field
        described[resource["path"]] = rows
    present = sorted(os.path.basename(path) for path in glob.glob(os.path.join(folder, "*.csv")))
    assert present == sorted(described), (present, sorted(described))
    return present


def check_times(cell):
    """The stays of each worker follow each other from zero to the makespan; their sums are in workers.csv, whose sums are in result.json."""
    with open(os.path.join(cell, "result.json"), encoding="utf-8") as file:
        result = json.load(file)
    makespan = round(result["makespan_seconds"] * 10**12)
    workers, sums, ends = rows_of(os.path.join(cell, "workers.csv")), {}, {}
    assert len(workers) == result["nodes"] * result["cores"]
    for row in rows_of(os.path.join(cell, "timeline.csv")):
        worker, begin, end = (row["node"], row["worker"]), picoseconds(row["start_seconds"]), picoseconds(row["end_seconds"])
        assert begin == ends.get(worker, 0) and end > begin, row
        ends[worker] = end
        sums[worker, row["state"]] = sums.get((worker, row["state"]), 0) + end - begin
    for row in workers:
        times = [picoseconds(row[f"{state}_seconds"]) for state in STATES]
        assert times == [sums.get(((row["node"], row["worker"]), state), 0) for state in STATES], row
        assert sum(times) == makespan, (row, makespan)
    for state in STATES:
        total = sum(picoseconds(row[f"{state}_seconds"]) for row in workers)
        assert abs(total / 1e12 - result["time_seconds"][state]) <= 1e-15 + 1e-12 * total / 1e12, state
    assert sum(int(row["tasks"]) for row in workers) == len(rows_of(os.path.join(cell, "tasks.csv")))
    assert sum(int(row["stolen_tasks"]) for row in workers) == result["steals"]["within_node"] + result["steals"]["between_nodes"]


def check_predecessors(cell, tiles):
    """Right-looking Cholesky, as in tasks_test.py. A task is ready when all its predecessors have ended."""
    rows = rows_of(os.path.join(cell, "tasks.csv"))
    ends = {row["name"]: picoseconds(row["end_seconds"]) for row in rows}
    names = {row["task"]: row["name"] for row in rows}
    for row in rows:
        kernel, *numbers = row["name"].split()
        i, j, k = [int(number) for number in numbers] if kernel == "gemm" else (int(numbers[0]), 0, int(numbers[-1]))
        before = {"potrf": [f"syrk {k} {k - 1}"], "trsm": [f"potrf {k}", f"gemm {i} {k} {k - 1}"],
                  "syrk": [f"trsm {i} {k}", f"syrk {i} {k - 1}"],
                  "gemm": [f"trsm {i} {k}", f"trsm {j} {k}", f"gemm {i} {j} {k - 1}"]}[kernel]
        assert {names[number] for number in row["predecessors"].split()} == {name for name in before if name in ends}, row
        assert all(ends[name] <= picoseconds(row["ready_seconds"]) for name in before if name in ends), row
    assert len(rows) == tiles * (tiles + 1) * (tiles + 2) // 6


def main():
    arguments = script_arguments("heddle", "simulator")
    os.chdir(arguments.source)

    def heddle(*words, code=0):
        done = subprocess.run([arguments.heddle, *words], capture_output=True, text=True)
        assert done.returncode == code, (words, done)
        return done.stdout + done.stderr

    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "cholesky")
        cholesky = ["run", "configs/cholesky.yaml", "--set", "workload.tiles=6", "--out", out]
        heddle(*cholesky, "--record")
        cell, = glob.glob(os.path.join(out, "*", ""))
        assert check_package(out) == ["runs.csv", "timings.csv"]
        assert check_package(cell) == ["steals.csv", "tasks.csv", "timeline.csv", "workers.csv"]
        check_times(cell)
        check_predecessors(cell, 6)
        heddle(*cholesky)
        assert check_package(cell) == ["steals.csv"], "what another run had recorded is gone"

        out = os.path.join(folder, "fib")
        heddle("run", "configs/fib.yaml", "--backend", "sim", "--set", "workload.n=16", "--set", "platform.nodes=2", "--set",
               "platform.cores=2", "--out", out, "--record")
        check_times(*glob.glob(os.path.join(out, "*", "")))
        assert "add --out DIR" in heddle("run", "configs/fib.yaml", "--record", code=2)
        assert "--record records one run" in heddle("run", "configs/fib.yaml", "--record", "--repeat", "2", "--out", out, code=2)

        out = os.path.join(folder, "native")
        heddle("run", "configs/cholesky.yaml", "--backend", "native", "--set", "platform.nodes=1", "--set", "platform.cores=2",
               "--set", "workload.tiles=4", "--out", out, "--record")
        assert check_package(*glob.glob(os.path.join(out, "*", ""))) == ["steals.csv", "tasks.csv", "timeline.csv", "workers.csv"]

        out = os.path.join(folder, "compared")
        heddle("compare", "configs/experiments/first.yaml", "--set", "workload.n=14", "--repeat", "2", "--out", out, "--record")
        assert check_package(out) == ["comparison.csv", "failures.csv", "runs.csv", "timings.csv"]
        cells = glob.glob(os.path.join(out, "*", ""))
        recorded = [cell for cell in cells if "tasks.csv" in check_package(cell)]
        assert len(cells) == 12 and len(recorded) == 6, "the first seed of each combination"
    return 0


if __name__ == "__main__":
    sys.exit(main())
