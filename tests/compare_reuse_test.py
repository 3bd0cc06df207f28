"""Tests that heddle compare runs exactly the cells again whose files changed. One byte changes, of a task graph, a
platform file (also by `from`), a cost table or a sequence. All other cells are reused, and the output counts both.
"""

import json
import os
import sys
import tempfile

from comparisons import Comparison
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


def main():
    heddle = script_arguments("heddle").heddle
    with tempfile.TemporaryDirectory() as folder:
        for what in CASES:
            os.makedirs(os.path.join(folder, what))
            check(heddle, what, os.path.join(folder, what))
        moved(heddle, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
