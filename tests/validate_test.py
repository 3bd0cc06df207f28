"""Tests heddle validate as a user runs it. Both worlds run, and existing results are not computed again. The table
describes itself, and the page of `heddle report` has the same numbers. The exit code is that of the verdict. No test
expects a time.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

from report_test import Page
from script_arguments import script_arguments

TEXT = """
name: tiny
workload: {name: fib, n: 16, cutoff: 8}
platform: {nodes: 1}
compare:
  platform.cores: [1, 2]
  schedule.stealing.victim: [none, random]
"""
WRONG = TEXT.replace("victim: [none, random]", "victim: [none, random]\n  backend: [native, sim]")


class Validations:
    def __init__(self, heddle, folder):
        self.heddle, self.folder = heddle, folder

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def file(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run(self, *words):
        return subprocess.run([self.heddle, *words], capture_output=True, text=True, check=False)

    def rows(self, *names):
        with open(self.path(*names), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def verdict_code(lines):
    """By the rule of docs/verbs/validate.md."""
    if any(line["within_15_percent"] == "outside" or line["same_tasks"] is False or line["failed"] for line in lines):
        return 1
    return 0 if all(line["within_15_percent"] == "within" for line in lines) else 5


def check_both_worlds(validations):
    file, out = validations.file("tiny.yaml", TEXT), validations.path("tiny")
    done = validations.run("validate", file, "--out", out, "--runs", "2", "--budget", "3600s", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == verdict_code(found["lines"]) == 5, done
    assert found["configurations"] == 4 and not found["budget_spent"] and found["competing_keys"] == ["schedule.stealing.victim"], found
    runs = validations.rows("tiny", "runs.csv")
    worlds = sorted((row["backend"], row["platform_cores"], row["schedule_stealing_victim"], row["seed"]) for row in runs)
    assert worlds == sorted((world, cores, victim, seed) for world in ("native", "sim") for cores in "12" for victim in ("none", "random") for seed in "12"), worlds
    # The medians and ratios are those of the runs.
    table = validations.rows("tiny", "results.csv")
    for row, line in zip(table, found["lines"]):
        assert line["same_tasks"] is True and line["within_15_percent"] == "undecided", line
        medians = {}
        for world in ("native", "sim"):
            of = [float(run["makespan_seconds"]) for run in runs if run["backend"] == world
                  and all(run[key] == row[key] for key in ("platform_cores", "schedule_stealing_victim"))]
            medians[world] = sum(of) / 2
        for field, expected in (("native_seconds", medians["native"]), ("simulated_seconds", medians["sim"]), ("ratio", medians["sim"] / medians["native"])):
            assert abs(float(row[field]) / expected - 1) < 1e-12, (field, row)
        assert row["ratio"] == repr(line["ratio"]["value"]) or float(row["ratio"]) == line["ratio"]["value"]
        assert float(row["native_tasks"]) == float(row["simulated_tasks"]) > 0
    with open(validations.path("tiny", "datapackage.json"), encoding="utf-8") as package:
        resource, = (one for one in json.load(package)["resources"] if one["path"] == "results.csv")
    assert [field["name"] for field in resource["schema"]["fields"]] == list(table[0])
    assert all(field["description"] != "a key of the experiment" for field in resource["schema"]["fields"]), resource
    return file, out, found


def check_going_on(validations, file, out, found):
    """What is there is not run again; more runs add to it."""
    times = {cell: os.stat(validations.path("tiny", cell, "result.json")).st_mtime_ns for cell in (row["cell"] for row in validations.rows("tiny", "runs.csv"))}
    again = json.loads(validations.run("validate", file, "--out", out, "--runs", "2", "--budget", "0s", "--json").stdout)
    assert again["lines"] == found["lines"]
    shown = json.loads(validations.run("validate", file, "--out", out, "--runs", "2", "--show", "--json").stdout)
    assert shown["lines"] == found["lines"]
    more = json.loads(validations.run("validate", file, "--out", out, "--runs", "4", "--budget", "3600s", "--json").stdout)
    assert all(line["native"]["runs"] == 4 and line["simulated"]["runs"] in (3, 4) for line in more["lines"]), more
    assert all(os.stat(validations.path("tiny", cell, "result.json")).st_mtime_ns == time for cell, time in times.items())


def check_report(validations, out):
    """The page has the ratios of results.csv."""
    page = validations.path("page.html")
    assert validations.run("report", out, "--out", page).returncode == 0
    shown = Page(page).rows("worlds-table")
    expected = sorted(float(row["ratio"]) for row in validations.rows("tiny", "results.csv"))
    assert sorted(float(row["ratio"]) for row in shown) == expected, (shown, expected)


def check_verdict(validations):
    """A description that is wrong by far is `outside`, and the exit code says so; a spent budget is said."""
    file = validations.file("wrong.yaml", "name: wrong\nworkload: {name: fib, n: 20, cutoff: 8}\nplatform: {nodes: 1, cores: 1, core_speed: 1Mf}\n"
                            "schedule: {stealing: {victim: none}}\n")
    done = validations.run("validate", file, "--out", validations.path("wrong"), "--budget", "3600s", "--runs", "16", "--json")
    found = json.loads(done.stdout)
    line, = found["lines"]
    assert done.returncode == verdict_code(found["lines"]) == 1 and line["within_15_percent"] == "outside", done.stdout
    assert line["native"]["runs"] == 8 and line["simulated"]["runs"] == 3, "it stops where it is decided"
    spent = validations.run("validate", file, "--out", validations.path("spent"), "--budget", "0s")
    assert spent.returncode == 5 and "the budget of 0s is spent" in spent.stdout, spent


def check_mistakes(validations):
    refused = validations.run("validate", validations.file("both.yaml", WRONG), "--out", validations.path("both"))
    assert refused.returncode == 2 and "leave `backend` out" in refused.stderr, refused
    for axis, said in (("repeat: [1, 2]", ("compare: repeat", "leave it out")), ("seed: [1, 2]", ("validate r", "leave `seed` out")),
                       ("variants: {a: {}, b: {repeat: 2}}", ("validate r", "leave `repeat` out")),
                       ("variants: {a: {}, b: {seed: 2}}", ("validate r", "leave `seed` out"))):
        file = validations.file("axis.yaml", f"workload: {{name: fib, n: 5}}\nplatform: {{nodes: 1}}\ncompare:\n  {axis}\n")
        refused = validations.run("validate", file, "--out", validations.path("axis"), "--runs", "3")
        assert refused.returncode == 2 and f"axis.yaml:4: {said[0]}" in refused.stderr and said[1] in refused.stderr, refused
    assert not os.path.exists(validations.path("axis"))
    validations.file("four.yaml", "cores: 4\n")
    for variants in ("{given: {platform.from: four.yaml}, plain: {}}", "{plain: {}, given: {platform.from: four.yaml}}", "{one: {platform.cores: 1}, all: {}}"):
        file = validations.file("some.yaml", f"workload: {{name: fib, n: 5}}\nplatform: {{nodes: 1}}\ncompare: {{variants: {variants}}}\n")
        refused = validations.run("validate", file, "--out", validations.path("axis"), "--runs", "3")
        assert refused.returncode == 2 and "states platform.cores, and variant=" in refused.stderr, refused
        assert not os.path.exists(validations.path("axis"))
        planned = validations.run("validate", file, "--out", validations.path("axis"), "--set", "platform.cores=2", "--show")
        assert "state platform.cores" not in planned.stderr, planned
    refused = validations.run("validate", validations.path("tiny.yaml"), "--out", validations.path("both"), "--by", "platform.core")
    assert refused.returncode == 2 and 'did you mean "platform.cores"?' in refused.stderr, refused


GRAPH = """
name: graph
workload: {name: cholesky, tiles: 6, tile_size: 32}
platform: {nodes: 1, cores: 2}
schedule: {placement: cyclic, stealing: {victim: random}}
"""


def check_replay(validations):
    """Each native run is simulated once with its own schedule; forked tasks have none."""
    file, out = validations.file("graph.yaml", GRAPH), validations.path("graph")
    words = ("validate", file, "--replay", "--out", out, "--runs", "3", "--budget", "3600s", "--json")
    done = validations.run(*words)
    line, = json.loads(done.stdout)["lines"]
    parts = line["replayed"]
    assert parts["runs"] == 3 and line["failed"] == 0, done
    assert abs((1 + parts["timing_error"]) * (1 + parts["scheduling_error"]) / line["ratio"]["value"] - 1) < 1e-12, line
    replays = os.listdir(os.path.join(out, "replays"))
    row, = validations.rows("graph", "results.csv")
    assert float(row["timing_error"]) == parts["timing_error"] and row["replayed_runs"] == "3", row
    assert {one["schedule_placement"] for one in validations.rows("graph", "runs.csv")} == {"cyclic"}
    assert json.loads(validations.run(*words, "--show").stdout)["lines"] == [line]
    assert sorted(os.listdir(os.path.join(out, "replays"))) == sorted(replays)
    done = validations.run("validate", validations.file("forks.yaml", TEXT), "--replay", "--out", validations.path("forks"), "--runs", "1")
    assert "4 configurations run no placed graph, and are not replayed" in done.stderr, done


POLICY = GRAPH.replace("{victim: random}", "{victim: hierarchical, near: 3}")


def check_refused_replays(validations):
    """A replay has no stealing, so a setting of the file's policy goes with it. A path is no YAML. Replays obey the budget, and one that failed is run again."""
    file, out = validations.file("policy.yaml", POLICY), validations.path("a: b #c")
    words = ("validate", file, "--replay", "--out", out, "--runs", "2", "--json")
    done = validations.run(*words, "--budget", "3600s")
    assert json.loads(done.stdout)["lines"][0]["replayed"]["runs"] == 2 and os.path.exists(os.path.join(out, "results.csv")), done
    replays = os.path.join(out, "replays")
    first, second = sorted(os.listdir(replays))
    os.remove(os.path.join(replays, first, "result.json"))
    with open(os.path.join(replays, first, "failure.json"), "w", encoding="utf-8") as file:
        json.dump({"error": "no memory", "exit_code": 1, "command": "heddle run"}, file)
    os.remove(os.path.join(replays, second, "result.json"))
    spent = validations.run(*words, "--budget", "0s")
    assert json.loads(spent.stdout)["budget_spent"] and json.loads(spent.stdout)["lines"][0]["replayed"]["runs"] == 0, spent
    assert "a replay failed: no memory" in spent.stderr and not os.path.exists(os.path.join(replays, second, "result.json")), spent
    again = validations.run(*words, "--budget", "3600s")
    assert json.loads(again.stdout)["lines"] == json.loads(done.stdout)["lines"] and "failed" not in again.stderr, again
    assert not os.path.exists(os.path.join(replays, first, "failure.json"))


SHARED = """
name: shared
workload: {name: fib, n: 16, cutoff: 8}
platform: {nodes: 1, cores: 1}
compare: {platform.overheads.fork: [1ns, 5ns]}
"""


def check_shared_cells(validations):
    """A key of the simulator's makes no second native cell: both configurations have the times of the same runs, which are those on disk."""
    file, out = validations.file("shared.yaml", SHARED), validations.path("shared")
    words = ("validate", file, "--out", out, "--runs", "6", "--budget", "3600s", "--json")
    first, second = found = json.loads(validations.run(*words).stdout)["lines"]
    assert first["native"] == second["native"] and first["native"]["runs"] == 6, found
    assert sum(row["backend"] == "native" for row in validations.rows("shared", "runs.csv")) == 6
    assert json.loads(validations.run(*words, "--show").stdout)["lines"] == found


CHANGING = """
name: changing
workload: {name: dag, graph: g.dot}
platform: {nodes: 1, cores: 1, core_speed: 1Gf}
schedule: {placement: heft, stealing: {victim: none}}
"""


def check_changed_input(validations):
    """Runs of an earlier input stay in their directories, but not in runs.csv; --show names the change and writes nothing."""
    graph = "digraph g {{ a [size={size}]; b [size=1e6]; a -> b [size=8]; }}\n"
    validations.file("g.dot", graph.format(size="1e6"))
    file, out = validations.file("changing.yaml", CHANGING), validations.path("changing")
    words = ("validate", file, "--out", out, "--runs", "2", "--budget", "3600s")
    validations.run(*words)
    before = {row["cell"] for row in validations.rows("changing", "runs.csv")}
    tables = {}
    for name in ("runs.csv", "results.csv"):
        with open(os.path.join(out, name), "rb") as table:
            tables[name] = table.read()
    validations.file("g.dot", graph.format(size="2e6"))
    shown = validations.run(*words, "--show")
    assert f"4 cells have an earlier result only ({validations.path('g.dot')} changed)" in shown.stderr, shown
    for name, text in tables.items():
        with open(os.path.join(out, name), "rb") as table:
            assert table.read() == text, name
    validations.run("validate", file, "--out", validations.path("nowhere"), "--show")
    assert not os.path.exists(validations.path("nowhere")), "--show has made a directory"
    validations.run(*words)
    after = {row["cell"] for row in validations.rows("changing", "runs.csv")}
    assert len(before) == len(after) == 4 and not before & after, (before, after)


def main():
    arguments = script_arguments("heddle", "simulator")
    with tempfile.TemporaryDirectory() as folder:
        validations = Validations(os.path.abspath(arguments.heddle), folder)
        file, out, found = check_both_worlds(validations)
        check_going_on(validations, file, out, found)
        check_report(validations, out)
        check_replay(validations)
        check_refused_replays(validations)
        check_shared_cells(validations)
        check_changed_input(validations)
        check_verdict(validations)
        check_mistakes(validations)
    return 0


if __name__ == "__main__":
    sys.exit(main())
