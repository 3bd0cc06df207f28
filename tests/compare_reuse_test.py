"""Tests that heddle compare runs exactly the cells again whose files changed. One byte changes, of a task graph, a
platform file (also by `from`), a cost table or a sequence. All other cells are reused, and the output counts both.
What is only shown leaves the tables as they are; the page has the new results alone. Missing records are made.
"""

import json
import os
import subprocess
import sys
import tempfile

from comparisons import Comparison
from report_test import Page
from script_arguments import script_arguments

PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="{latency}us" core="1"/>
</platform>
"""
GRAPH = "digraph g {{ a [weight={weight}]; b [weight=2]; c [weight=3]; a -> b [weight=5]; a -> c [weight=5]; }}\n"
COSTS = "kernel, mean, deviation\npotrf, 0.00{mean}, 0\ntrsm, 0.002, 0\nsyrk, 0.002, 0\ngemm, 0.004, 0\n"

# Each: the file, its text with one byte to change, two values of that byte, and a comparison of two cells of which the first alone
# reads the file.
CASES = {
    "graph": ("g.dot", GRAPH, "weight", "1", "4", """
workload: {name: dag, graph: g.dot}
platform: {nodes: 2, cores: 1, core_speed: 1Gf}
schedule: {placement: heft, stealing: none}
backend: sim
compare: {workload.graph: [g.dot, 'cholesky:tiles=3']}
"""),
    "platform": ("p.xml", PLATFORM, "latency", "1", "9", """
workload: {name: fib, n: 12}
platform: {file: p.xml}
backend: sim
compare: {backend: [sim, inprocess]}
"""),
    "from": ("here.yaml", "# measured: {digit}\nplatform: {{core_speed: 2Gf}}\n", "digit", "1", "9", """
workload: {name: fib, n: 12}
platform: {nodes: 2, from: here.yaml}
backend: sim
compare: {platform.from: [here.yaml, other.yaml]}
"""),
    "costs": ("k.csv", COSTS, "mean", "1", "7", """
workload: {name: dag, graph: 'cholesky:tiles=3'}
platform: {nodes: 2, cores: 1}
schedule: {placement: heft, stealing: none}
backend: sim
compare: {workload.kernel_costs: [k.csv, other.csv]}
"""),
    "sequence": ("s.fasta", ">one\nACGT{letter}CGTACGTACGA\n>two\nACGTTCGTACTTACGA\n", "letter", "A", "C", """
workload: {name: atgc, length: 16}
platform: {nodes: 1, cores: 2}
backend: sim
compare: {workload.a: [s.fasta, other.fasta]}
"""),
}


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def check(heddle, what, folder):
    name, text, field, before, after, cells = CASES[what]
    if what == "costs":
        write(folder, "other.csv", text.format(mean=5))
    if what == "from":
        write(folder, "other.yaml", "core_speed: 3Gf\n")
    if what == "sequence":
        write(folder, "other.fasta", text.format(letter="G"))
    write(folder, name, text.format(**{field: before}))
    comparison = Comparison(heddle, folder, cells)
    first = comparison.run("out")
    assert "2 cells; results in" in first.stderr, first.stderr
    stamps = {cell: os.stat(comparison.path("out", cell, "result.json")).st_mtime_ns for cell in comparison.finished("out")}
    assert len(stamps) == 2, stamps

    # Written again with the same bytes, the file is the same.
    write(folder, name, text.format(**{field: before}))
    assert "2 cells, 2 of them there already (same configuration, files and program)" in comparison.run("out").stderr

    write(folder, name, text.format(**{field: after}))
    again = comparison.run("out")
    assert "2 cells, 1 of them there already" in again.stderr, again.stderr
    assert f"1 of the others are run again: {comparison.path(name)} changed" in again.stderr, again.stderr
    for cell, stamp in stamps.items():
        assert os.stat(comparison.path("out", cell, "result.json")).st_mtime_ns == stamp, f"{cell} was run again"
    new = comparison.finished("out") - set(stamps)
    assert len(new) == 1, new
    rows = comparison.rows("out", "runs.csv")
    assert len(rows) == 2 and new <= {row["cell"] for row in rows}, "the table still has the row of the earlier file"
    key = next(key for key in json.loads(comparison.read("out", new.pop(), "result.json"))["determinants"]["files"])
    assert key in ("workload.graph", "platform.file", "platform.from", "workload.kernel_costs", "workload.a"), key

    # With its first bytes the earlier result counts again.
    write(folder, name, text.format(**{field: before}))
    back = comparison.run("out")
    assert "2 of them there already" in back.stderr and back.stdout == first.stdout, back
    print(f"{what}: one byte changed, one of two cells was run again")


def moved(heddle, folder):
    """A comparison that moves to another folder together with its files keeps its cells."""
    os.makedirs(os.path.join(folder, "a"))
    write(os.path.join(folder, "a"), "g.dot", GRAPH.format(weight="1"))
    here = Comparison(heddle, os.path.join(folder, "a"), CASES["graph"][5])
    here.run("out")
    os.rename(os.path.join(folder, "a"), os.path.join(folder, "b"))
    there = Comparison(heddle, os.path.join(folder, "b"), CASES["graph"][5])
    assert "2 of them there already" in there.run("out").stderr


CHANGING = """
workload: {name: dag, graph: g.dot}
platform: {nodes: 2, cores: 1, core_speed: 1Gf}
schedule: {placement: heft, stealing: none}
backend: sim
repeat: 3
compare: {platform.network.latency: [1us, 2us]}
"""


def page_of(comparison, *directories):
    page = comparison.path("page.html")
    subprocess.run([comparison.heddle, "report", *directories, "--out", page], check=True, capture_output=True)
    return Page(page)


def input_changed(heddle, folder):
    """--show names the change and leaves every byte. The page has the runs of the new input, each once."""
    write(folder, "g.dot", GRAPH.format(weight="1"))
    comparison = Comparison(heddle, folder, CHANGING)
    comparison.run("out")
    before = float(comparison.rows("out", "comparison.csv")[0]["median_seconds"])
    write(folder, "g.dot", GRAPH.format(weight="9"))
    tables = {name: comparison.read("out", name) for name in ("comparison.csv", "runs.csv")}
    shown = comparison.run("out", "--show", code=1)
    assert f"6 cells have an earlier result only ({comparison.path('g.dot')} changed); without --show they are run again" in shown.stderr, shown
    assert tables == {name: comparison.read("out", name) for name in tables}
    comparison.run("nowhere", "--show", code=1)
    assert not os.path.exists(comparison.path("nowhere")), "--show has made a directory"

    comparison.run("out")
    after = [row["median_seconds"] for row in comparison.rows("out", "comparison.csv")]
    assert abs(float(after[0]) - before) > 1, (before, after)
    page = page_of(comparison, comparison.path("out"))
    rows = page.rows("comparison-1") + (page.rows("comparison-2") if "comparison-2" in page.tables else [])
    assert [(row["runs"], row["median_seconds"]) for row in rows] == [("3", median) for median in after], (rows, after)
    assert "has 6 results that runs.csv does not name" in page.words, page.words
    once = page_of(comparison, comparison.path("out"), comparison.path("out"), comparison.path(".", "out"))
    assert [row["runs"] for row in once.rows("comparison-1")] == [row["runs"] for row in page.rows("comparison-1")]
    assert once.words.count("is named twice, and was read once") == 2, once.words


SIZES = """
workload: {{name: fib, n: 12}}
platform: {{nodes: 2, cores: 1}}
backend: sim
compare: {{{key}: {values}}}
"""


def list_changed(heddle, folder):
    """The tables and the page have what the file asks for, and nothing of the values that it compared before."""
    comparison = Comparison(heddle, folder, SIZES.format(key="workload.n", values=[10, 11]))
    comparison.run("out")
    before = {name: comparison.read("out", name) for name in ("runs.csv", "comparison.csv")}
    assert "other configurations" not in comparison.run("out", "--show").stderr
    write(folder, "a.yaml", SIZES.format(key="workload.n", values=[12, 13]))
    assert "heddle: 2 results are there of other configurations" in comparison.run("out", "--show", code=1).stderr
    assert "\n  2 results are there of other configurations: values in the experiment" in comparison.run("out").stderr
    for table in ("runs.csv", "timings.csv"):
        assert len(comparison.rows("out", table)) == 2, comparison.rows("out", table)
    assert [row["workload_n"] for row in comparison.rows("out", "runs.csv")] == ["12", "13"]
    page = page_of(comparison, comparison.path("out"))
    assert "2 finished runs of 2 combinations" in page.words and "has 2 results that runs.csv does not name" in page.words, page.words
    write(folder, "a.yaml", SIZES.format(key="workload.n", values=[10, 11]))
    said = comparison.run("out").stderr
    assert "2 of them there already" in said and "other configurations" not in said, said
    assert before == {name: comparison.read("out", name) for name in before}


def value_of_a_file_changed(heddle, folder):
    """A value that the platform takes from a file is part of the configuration, and a change of it is named."""
    write(folder, "base.yaml", "platform: {core_speed: 5Gf}\n")
    comparison = Comparison(heddle, folder, SIZES.format(key="workload.n", values=[10, 11]).replace("{nodes", "{from: base.yaml, nodes"))
    comparison.run("out")
    write(folder, "base.yaml", "platform: {core_speed: 6Gf}\n")
    assert "  2 results are there of other configurations" in comparison.run("out").stderr


def failure_of_the_earlier_file(heddle, folder):
    """The page shows the failures that `compare` names: not one of a value that the file no longer has."""
    comparison = Comparison(heddle, folder, SIZES.format(key="platform.nodes", values=[1, 2]))
    comparison.run("out")
    victim = comparison.rows("out", "runs.csv")[0]["cell"]
    for name in os.listdir(comparison.path("out", victim)):
        os.unlink(comparison.path("out", victim, name))
    os.mkdir(comparison.path("out", victim, "steals.csv"))  # where a file of it would go
    comparison.run("out", code=1)
    assert [row["cell"] for row in comparison.rows("out", "failures.csv")] == [victim]
    page = page_of(comparison, comparison.path("out"))
    assert [row["cell"] for row in page.rows("failures")] == [victim] and "1 run failed" in page.words, page.words

    write(folder, "a.yaml", SIZES.format(key="platform.nodes", values=[2, 4]))
    comparison.run("out")
    assert comparison.rows("out", "failures.csv") == []
    page = page_of(comparison, comparison.path("out"))
    assert "failures" not in page.tables and "No run failed" in page.words, page.words
    assert "has 1 failure that failures.csv does not name" in page.words, page.words

    # An earlier version wrote no such table: then each failure counts.
    os.unlink(comparison.path("out", "failures.csv"))
    assert "1 run failed" in page_of(comparison, comparison.path("out")).words


def directory_that_cannot_be_read(heddle, folder):
    comparison = Comparison(heddle, folder, SIZES.format(key="workload.n", values=[10, 11]))
    os.symlink(comparison.path("out"), comparison.path("out"))
    shown = comparison.run("out", "--show", code=2)
    assert "cannot be read (Too many levels of symbolic links)" in shown.stderr and not shown.stdout, shown


def recorded_later(heddle, folder):
    """A comparison without records gets them where a run can be repeated exactly, and else says that it cannot."""
    comparison = Comparison(heddle, folder, """
workload: {name: fib, n: 12}
platform: {nodes: 1, cores: 1}
repeat: 2
compare: {backend: [sim, inprocess, native]}
""")
    comparison.run("out")
    tables = comparison.read("out", "runs.csv")
    said = comparison.run("out", "--record").stderr
    assert "2 first runs are run again to be recorded" in said, said
    assert "1 first runs are there without a record" in said and "name another --out" in said, said
    recorded = {row["backend"]: row["seed"] for row in comparison.rows("out", "runs.csv")
                if os.path.exists(comparison.path("out", row["cell"], "tasks.csv"))}
    assert recorded == {"sim": "1", "inprocess": "1"}, recorded
    assert comparison.read("out", "runs.csv") == tables, "a record changes no result"
    assert "run again" not in comparison.run("out", "--record").stderr


def shared_first_runs(heddle, folder):
    """The first run of a combination is recorded, also if it is the second one of another combination."""
    comparison = Comparison(heddle, folder, "workload: {name: fib, n: 12}\nbackend: sim\nrepeat: 2\ncompare: {seed: [1, 2]}\n")
    comparison.run("out", "--record")
    rows = comparison.rows("out", "runs.csv")
    recorded = {row["seed"]: os.path.exists(comparison.path("out", row["cell"], "tasks.csv")) for row in rows}
    assert recorded == {"1": True, "2": True, "3": False}, recorded


def main():
    heddle = script_arguments("heddle", "simulator").heddle
    with tempfile.TemporaryDirectory() as folder:
        for what in CASES:
            os.makedirs(os.path.join(folder, what))
            check(heddle, what, os.path.join(folder, what))
        moved(heddle, folder)
        for test in (input_changed, list_changed, value_of_a_file_changed, failure_of_the_earlier_file, directory_that_cannot_be_read, recorded_later,
                     shared_first_runs):
            os.makedirs(os.path.join(folder, test.__name__))
            test(heddle, os.path.join(folder, test.__name__))
            print(f"{test.__name__}: as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
