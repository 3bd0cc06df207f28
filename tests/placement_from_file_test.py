"""Tests runs whose placement is the table of an earlier run. In simulation without overheads they take the same time, to the
picosecond; the table of a native run is simulated. An edited table makes its cell run again.
"""

import json
import os
import subprocess
import sys
import tempfile

from script_arguments import script_arguments


class Runs:
    def __init__(self, heddle, configs, folder):
        self.heddle, self.configs, self.folder = heddle, configs, folder

    def command(self, *words):
        return subprocess.run([self.heddle, *words], capture_output=True, text=True, check=False)

    def result(self, file, sets, *words):
        """Of a run with a right answer: else the exit code is 1."""
        options = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
        done = self.command("run", os.path.join(self.configs, file), *options, *words, "--json")
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def path(self, name):
        return os.path.join(self.folder, name)


def by_table(table, more):
    return {**more, "schedule.placement": "file", "schedule.placement_file": table, "schedule.stealing.victim": "none"}


def check_simulated(runs):
    """Also where tasks were stolen: then every task is on the worker that ran it."""
    table = runs.path("simulated.csv")
    for file in ("cholesky.yaml", "dag.yaml"):
        for placement in ("heft", "metis", "cyclic"):
            ideal = {"platform.overheads": "none"}  # the order in which one task wakes others on two workers is not in the table
            first = runs.result(file, {**ideal, "schedule.placement": placement, "schedule.stealing.victim": "none"}, "--tasks", table)
            again = runs.result(file, by_table(table, ideal))
            assert again["makespan_seconds"] == first["makespan_seconds"], (file, placement)
        runs.result(file, {"schedule.placement": "none", "schedule.stealing.victim": "random"}, "--tasks", table)
        runs.result(file, by_table(table, {}))


def check_numbers_as_names(runs):
    """In a DOT file tasks are often called by numbers, in another order."""
    graph, table, again = runs.path("numbers.dot"), runs.path("numbers.csv"), runs.path("again.csv")
    with open(graph, "w", encoding="utf-8") as file:
        file.write("digraph g { 2 [Weight=5]; 0 [Weight=1]; 1 [Weight=9]; 3 [Weight=2]; }")
    two = {"workload": f"{{name: dag, graph: {graph}}}", "platform.overheads": "none", "platform.nodes": "2", "platform.cores": "1"}
    first = runs.result("dag.yaml", {**two, "schedule.placement": "heft", "schedule.stealing.victim": "none"}, "--tasks", table)
    second = runs.result("dag.yaml", by_table(table, two), "--tasks", again)
    assert second["makespan_seconds"] == first["makespan_seconds"], (first, second)
    with open(table, encoding="utf-8") as file, open(again, encoding="utf-8") as other:
        assert file.read() == other.read()


def check_native(runs):
    table = runs.path("native.csv")
    here = {"platform.nodes": "1", "platform.cores": "2"}
    runs.result("cholesky.yaml", {**here, "backend": "native", "schedule.stealing.victim": "random"}, "--tasks", table)
    for backend in ("sim", "native"):
        runs.result("cholesky.yaml", by_table(table, {**here, "backend": backend}))


def check_cells(runs):
    """A cell is named by the contents of the table too."""
    table, out = runs.path("cells.csv"), runs.path("out")
    runs.result("dag.yaml", {"schedule.placement": "cyclic", "schedule.stealing.victim": "none"}, "--tasks", table)

    def cells():
        runs.result("dag.yaml", by_table(table, {}), "--out", out)
        return sorted(name for name in os.listdir(out) if os.path.isdir(os.path.join(out, name)))

    first = cells()
    assert len(first) == 1 and cells() == first, first
    with open(table, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(table, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n\n")  # a line without a task
    assert len(cells()) == 2


def check_refused(runs):
    file = os.path.join(runs.configs, "dag.yaml")
    done = runs.command("run", file, "--set", "schedule.placement=file")
    assert done.returncode == 2 and "placement: file, and no file is named" in done.stderr, done
    done = runs.command("run", file, "--set", "schedule.placement=file", "--set", "schedule.placement_file=/nonexistent.csv")
    assert done.returncode == 2 and "/nonexistent.csv" in done.stderr, done


def main():
    arguments = script_arguments("heddle", "simulator")
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(arguments.heddle, os.path.join(arguments.source, "configs"), folder)
        check_simulated(runs)
        check_numbers_as_names(runs)
        check_native(runs)
        check_cells(runs)
        check_refused(runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
