"""Tests what heddle compare can vary and how it shows it: pairs (weak scaling), named variants, a matrix, and speedup
and efficiency over a baseline.
"""

import json
import subprocess
import os
import sys
import tempfile

from comparisons import Comparison
from script_arguments import script_arguments

# 8 tasks of 1 s a core, placed in blocks, nothing stolen and nothing charged: weak scaling is perfect, 8 s on any number of nodes.
WEAK = """
workload: {name: bag, tasks: 8, task_cost: 10Gf, spread: 0}
platform: {nodes: 1, cores: 1, core_speed: 10Gf, overheads: none}
schedule: {placement: block, stealing: none}
backend: sim
compare:
  zip: {platform.nodes: [1, 2, 4], workload.tasks: [8, 16, 32]}
  baseline: {platform.nodes: 1}
"""

# The same 8 tasks on more nodes: 8, 4 and 2 s.
STRONG = WEAK.replace("  zip: {platform.nodes: [1, 2, 4], workload.tasks: [8, 16, 32]}\n", "  platform.nodes: [1, 2, 4]\n")

VARIANTS = """
workload: {name: uts, tree: T1, depth: 5}
platform: {nodes: 4, cores: 2}
backend: sim
repeat: 6
compare:
  variants:
    still: {schedule.stealing.victim: none}
    tuned: {schedule.stealing.victim: hierarchical, schedule.stealing.amount: half}
  platform.nodes: [2, 4]
  baseline: {variant: still}
"""

MATRIX = """
workload: {name: bag, tasks: 64, spread: 1}
platform: {nodes: 4, cores: 1}
backend: sim
repeat: 2
compare:
  platform.nodes: [2, 4]
  schedule.placement: [none, block]
  schedule.stealing.victim: [none, random, lifeline]
  pivot: {rows: schedule.placement, columns: schedule.stealing.victim}
"""

# Where nothing is stolen, the seed changes nothing.
WEAK_MATRIX = WEAK + "  seed: [1, 2]\n  pivot: {rows: seed, columns: platform.nodes, shows: efficiency}\n"

# One core computes 8 s. At half of its speed from 4 s on it computes 4 s + 4 s / 0.5.
LISTS = """
workload: {name: bag, tasks: 8, task_cost: 10Gf, spread: 0}
platform: {nodes: 2, cores: 1, core_speed: 10Gf, overheads: none}
schedule: {placement: none, stealing: none}
backend: sim
compare:
  variants:
    steady: {platform.events: []}
    slowed: {platform.events: [{at: 4s, node: 0, speed: 0.5}]}
    joined: {platform.networks: [{name: a, members: "0-1"}]}
"""
LIST_AXIS = LISTS[:LISTS.index("  variants")] + "  platform.events: [[], [{at: 4s, node: 0, speed: 0.5}]]\n"
# 2n^3 flops, at the speed of the kind of work; 1 Gf/s would be that of other work.
KERNELS = """
workload: {name: matmul, n: 64}
platform: {nodes: 1, cores: 1, core_speed: 1Gf, overheads: none}
backend: sim
compare:
  variants:
    slow: {platform.kernels: [{kernel: matmul.term, speed: 4Gf}]}
    fast: {platform.kernels: [{kernel: matmul.term, speed: 8Gf}]}
    large: {workload.n: 128, platform.kernels: [{kernel: matmul.term, speed: 2Gf}]}
  baseline: {variant: slow}
"""


def compared(heddle, folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(path)
    return Comparison(heddle, path, text)


def lines_of(comparison):
    return [line for group in json.loads(comparison.run("out", "--json").stdout)["groups"] for line in group["lines"]]


def near(value, wanted):
    return abs(value - wanted) < 1e-3 * wanted


def pairs(heddle, folder):
    weak = compared(heddle, folder, "weak", WEAK)
    lines = lines_of(weak)
    assert [line["values"] for line in lines] == [{"platform.nodes": nodes, "workload.tasks": tasks}
                                                  for nodes, tasks in (("1", "8"), ("2", "16"), ("4", "32"))], lines
    for line in lines:
        assert near(line["makespan_seconds"]["median"], 8) and near(line["speedup"]["value"], 1), line
        assert near(line["efficiency"]["value"], 1), line
    lines = lines_of(compared(heddle, folder, "strong", STRONG))
    for line, speedup in zip(lines, (1, 2, 4)):
        assert near(line["speedup"]["value"], speedup) and near(line["efficiency"]["value"], 1), line
    assert "speedup" in weak.run("out", "--show").stdout
    assert near(float(weak.rows("out", "comparison.csv")[2]["efficiency"]), 1)


def lists(heddle, folder):
    """Mappings in the list that is a value come to the cells."""
    found = {line["values"]["variant"]: line["makespan_seconds"]["median"] for line in lines_of(compared(heddle, folder, "lists", LISTS))}
    assert near(found["steady"], 8) and near(found["slowed"], 12) and near(found["joined"], 8), found
    medians = [line["makespan_seconds"]["median"] for line in lines_of(compared(heddle, folder, "list_axis", LIST_AXIS))]
    assert near(medians[0], 8) and near(medians[1], 12), medians


def kernels(heddle, folder):
    """Efficiency is of the work that the program declares, whatever its kind's speed is."""
    comparison = compared(heddle, folder, "kernels", KERNELS)
    slow, fast, large = lines_of(comparison)
    assert near(fast["speedup"]["value"], 2) and near(fast["efficiency"]["value"], 2), fast
    assert near(large["speedup"]["value"], 1 / 16) and near(large["efficiency"]["value"], 1 / 2), large
    flops = [float(row["declared_flops"]) for row in comparison.rows("out", "runs.csv")]
    assert all(near(one, 2 * n**3) for one, n in zip(flops, (64, 64, 128))), flops


def variants(heddle, folder):
    comparison = compared(heddle, folder, "variants", VARIANTS)
    lines = lines_of(comparison)
    assert len(lines) == 4, lines
    for line in lines:
        assert (line["speedup"]["low"] is None) == (line["speedup"]["high"] is None), line
    groups = json.loads(comparison.run("out", "--json").stdout)["groups"]
    still, tuned = groups[0], groups[1]
    assert still["values"] == {"variant": "still"} and tuned["values"] == {"variant": "tuned"}, groups
    for before, after in zip(still["lines"], tuned["lines"]):
        assert before["speedup"]["value"] == 1, before
        ratio = before["makespan_seconds"]["median"] / after["makespan_seconds"]["median"]
        speedup = after["speedup"]
        assert near(speedup["value"], ratio), (before, after)
        if not after["identical"]:  # repeats that are all alike have no interval
            assert speedup["low"] <= speedup["value"] <= speedup["high"], (before, after)
    assert "2 of 24" not in comparison.run("out").stderr
    row = comparison.rows("out", "comparison.csv")[3]  # on four nodes seeds differ
    assert row["variant"] == "tuned" and row["platform_nodes"] == "4" and row["speedup_low"], row


def matrix(heddle, folder):
    comparison = compared(heddle, folder, "matrix", MATRIX)
    text = comparison.run("out").stdout
    blocks = text.split("\n\n")
    assert blocks[0].startswith("median makespan of "), text
    assert len(blocks) == 1 + 2 + 1 and blocks[1].startswith("platform.nodes 2\nplacement \\ victim"), text
    assert [line.split()[0] for line in blocks[1].splitlines()[2:]] == ["none", "block"], text
    assert blocks[1].count("*") == 1 == blocks[2].count("*"), text
    assert len(comparison.rows("out", "comparison.csv")) == 12
    assert "against the best" in comparison.run("out", "--show", "--by", "platform.nodes").stdout


def weak_matrix(heddle, folder):
    """The tasks follow from the nodes: one matrix, with the tasks beside the nodes."""
    blocks = compared(heddle, folder, "weak_matrix", WEAK_MATRIX).run("out").stdout.split("\n\n")
    assert len(blocks) == 3, blocks
    cells = [line.split() for line in blocks[1].splitlines()]
    assert cells == ["seed \\ nodes (tasks) 1 (8) 2 (16) 4 (32)".split(), "1 1.00* 1.00~ 1.00~".split(), "2 1.00~ 1.00~ 1.00~".split()], cells


def refused(heddle, folder):
    base = "workload: {name: fib, n: 5}\nbackend: sim\n"
    for number, (section, said) in enumerate((
            ("  zip: {platform.nodes: [1, 2], workload.n: [5]}", "a.yaml:4: compare.zip: workload.n has 1 values, and platform.nodes has 2"),
            ("  zip: [1]", "a.yaml:4: compare.zip: expected keys with values, found `1`"),
            ("  zip: {platform.node: [1, 2]}", "a.yaml:4: compare: unknown key \"platform.node\"; did you mean \"platform.nodes\"?"),
            ("  seed: [1, 2]\n  zip: {seed: [1, 2]}", "a.yaml:5: compare: seed varies in two places"),
            ("  workload.n: [10, 14]\n  variants: {a: {}, b: {workload.n: 12}}", "a.yaml:5: compare: workload.n varies in two places"),
            ("  variants: {a: {}, b: {workload.n: 12}}\n  zip: {workload.n: [10, 14]}", "a.yaml:4: compare: workload.n varies in two places"),
            ("  variants: {a: 1}", "a.yaml:4: compare.variants.a: expected keys with values, found `1`"),
            ("  variants: {a: {workload.m: 1}}", "a.yaml:4: compare: unknown key \"workload.m\""),
            ("  seed: [1, 2]\n  baseline: {seeds: 1}", "a.yaml:5: compare.baseline: seeds is not compared; did you mean \"seed\"?"),
            ("  seed: [1, 2]\n  baseline: {seed: 3}", "a.yaml:5: compare.baseline: seed is never 3"),
            ("  repeat: [1, 2]", "a.yaml:4: compare: repeat changes no run"),
            ("  name: [p, q]", "a.yaml:4: compare: name changes no run"),
            ("  seed: [1, 2]\n  pivot: {rows: seed}", "a.yaml:5: compare.pivot: rows and columns are both needed"),
            ("  seed: [1, 2]\n  pivot: {rows: seed, columns: seed}", "a.yaml:5: compare.pivot: rows and columns are one key"),
            ("  seed: [1, 2]\n  pivot: {rows: seed, column: seed}", "a.yaml:5: unknown key \"column\" in compare.pivot"),
            ("  seed: [1]\n  workload.n: [1]\n  pivot: {rows: seed, columns: workload.n, shows: speedup}",
             "a.yaml:6: compare.pivot.shows is speedup, and there is no baseline"),
            ("  pivot: {rows: seed, columns: workload.n}", "a.yaml:4: compare.pivot.rows: seed is not compared"))):
        comparison = compared(heddle, folder, f"refused{number}", base + "compare:\n" + section + "\n")
        done = subprocess.run([heddle, "compare", comparison.file, "--out", comparison.path("out")], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, (section, done)


def main():
    heddle = script_arguments("heddle").heddle
    if "no (built with HEDDLE_SIM=OFF" in subprocess.run([heddle, "doctor"], capture_output=True, text=True).stdout:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for check in (pairs, lists, kernels, variants, matrix, weak_matrix, refused):
            check(heddle, folder)
            print(f"{check.__name__}: as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
