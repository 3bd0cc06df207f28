"""Tests that claims of heddle compare are true. A bound is one of work and machine, and no run falls below it. Identical
repeats are no sample. A comparison notices faults in its file, its cells and its directory.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from comparisons import SECONDS_MAX, Comparison
from script_arguments import script_arguments

UNEQUAL = """
workload: {name: bag, tasks: 2, task_cost: 10Gf}
platform: {nodes: 2, cores: 1, core_speed: 10Gf, node_speeds: [1, 0.1], overheads: none}
backend: sim
compare:
  schedule.placement: [none, block, cyclic]
  schedule.stealing.victim: [none, random]
"""

POLICIES = """
workload: {name: uts, tree: T1, depth: 5}
platform: {nodes: 4, cores: 2}
backend: sim
repeat: 3
compare: {schedule.stealing.victim: [none, random, hierarchical, lifeline]}
"""

IDENTICAL = """
workload: {name: dag, graph: 'stencil_1d:width=1,steps=5,flops=1Gf'}
platform: {nodes: 2, cores: 1}
schedule: {stealing: none}
backend: sim
repeat: 5
compare: {schedule.placement: [heft, cyclic]}
"""


def sub(folder, name):
    path = os.path.join(folder, name)
    os.makedirs(path)
    return path


def lines_of(comparison, out, *words):
    return [line for group in json.loads(comparison.run(out, "--json", *words).stdout)["groups"] for line in group["lines"]]


def bounds(heddle, folder):
    """Two tasks of 1 s at full speed, on cores of speeds 1 and 0.1: together they compute 11 Gf/s, so 20 Gf take 20/11 s at least."""
    for line in lines_of(Comparison(heddle, sub(folder, "unequal"), UNEQUAL), "out"):
        assert abs(line["lower_bound_seconds"] - 20 / 11) < 1e-6, line
        assert line["lower_bound_seconds"] <= line["makespan_seconds"]["median"], line
    lines = lines_of(Comparison(heddle, sub(folder, "policies"), POLICIES), "out")
    assert len({line["lower_bound_seconds"] for line in lines}) == 1, [line["lower_bound_seconds"] for line in lines]
    for line in lines:
        makespan = line["makespan_seconds"]  # without an interval if all repeats are identical
        assert 0 < line["lower_bound_seconds"] <= (makespan["low"] or makespan["median"]), line


def identical(heddle, folder):
    """Seeds have no influence on a chain that is placed and not stolen: one value, and neither an interval nor a p-value."""
    comparison = Comparison(heddle, sub(folder, "identical"), IDENTICAL)
    lines = lines_of(comparison, "out")
    assert [line["standing"] for line in lines] == ["best", "longer"], lines
    for line in lines:
        assert line["identical"] and line["runs"] == 5 and line["p_value"] is None, line
        assert line["makespan_seconds"]["low"] is None and line["makespan_seconds"]["high"] is None, line
    shown = comparison.run("out", "--show").stdout
    assert shown.count("all 5 repeats identical") == 2 and "(p " not in shown, shown
    rows = comparison.rows("out", "comparison.csv")
    assert [row["identical"] for row in rows] == ["true", "true"] and rows[0]["low_seconds"] == "" == rows[0]["p_value"], rows
    assert float(rows[1]["tasks"]) == 5 and float(rows[1]["messages"]) > 0 and "time_seconds_working" in rows[0], rows


def tidy(heddle, folder):
    """Numbers in base units, and columns that a data frame takes as attributes."""
    comparison = Comparison(heddle, sub(folder, "tidy"), """
workload: {name: fib, n: 8, unit_cost: 20f}
platform: {nodes: 4, cores: 2, network: {topology: torus, shape: [2, 2], bandwidth: 100Gbps, latency: 2.5us}}
backend: sim
compare: {seed: [1, 2]}
""")
    comparison.run("out")
    row = comparison.rows("out", "runs.csv")[0]
    assert all(name.isidentifier() for name in row), [name for name in row if not name.isidentifier()]
    assert float(row["platform_network_bandwidth"]) == 12.5e9 and float(row["platform_network_latency"]) == 2.5e-6, row
    assert float(row["platform_core_speed"]) == 10e9 and float(row["workload_unit_cost"]) == 20, row
    assert json.loads(row["platform_network_shape"]) == [2, 2] and row["answer_value"] == "21", row
    assert 0 < float(row["time_seconds_working"]) <= float(row["makespan_seconds"]) * 8, row
    versions = json.loads(comparison.read("out", row["cell"], "result.json"))["versions"]
    assert versions["metis"].count(".") == 2 and versions["scotch"].count(".") == 2 and versions["openblas"] == "", versions


def refused(heddle, folder):
    """Mistakes in the file: exit code 2 at once, with the line."""
    base = "workload: {name: fib, n: 5}\nplatform: {nodes: 1}\nbackend: sim\n"
    for number, (text, said) in enumerate((
            ("name: ../../evil\ncompare: {seed: [1, 2]}\n", "a.yaml:4: name: this cannot be the name of a directory"),
            ("name: a/b\ncompare: {seed: [1, 2]}\n", "a.yaml:4: name: "),
            ("name: '..'\ncompare: {seed: [1, 2]}\n", "a.yaml:4: name: "),
            ('name: "\\e[31m"\ncompare: {seed: [1, 2]}\n', "a.yaml:4: name: "),
            ("compare: {platform.nodes: [1, 1]}\n", "a.yaml:4: compare: platform.nodes: `1` is there twice"),
            ("compare: {platform.nodes: [1, +1]}\n", "a.yaml:4: compare: platform.nodes: `+1` is there twice"),
            ("compare: {workload.unit_cost: [1kf, 1000f]}\n", "a.yaml:4: compare: workload.unit_cost: `1000f` is there twice"),
            ("repeat: 1000000\ncompare: {workload.n: [2, 3, 4, 5]}\n", "more than 100000 cells"))):
        comparison = Comparison(heddle, sub(folder, f"refused{number}"), base + text)
        began = time.monotonic()
        done = subprocess.run([heddle, "compare", comparison.file], capture_output=True, text=True, cwd=comparison.folder,
                              timeout=SECONDS_MAX)
        assert done.returncode == 2 and said in done.stderr, (text, done)
        assert time.monotonic() - began < 60 and not os.path.exists(comparison.path("comparisons"))
    for words in (["compare", comparison.file, "--out", ""], ["run", comparison.file, "--out="], ["run", comparison.file, "--seed", ""],
                  ["run", comparison.file, "--repeat", ""], ["run", comparison.file, "--backend", ""],
                  ["run", comparison.file, "--trace", ""], ["schedule", "fft:points=4", "--scheduler", "", "--procs", "2"]):
        done = subprocess.run([heddle, *words], capture_output=True, text=True, timeout=SECONDS_MAX)
        assert done.returncode == 2 and "the value is empty; state a value, or leave the option out" in done.stderr, (words, done)


def refused_at_once(heddle, folder):
    """What would go wrong in each cell is said before the first, and leaves nothing."""
    def said(words, name, text, out="out", **more):
        comparison = Comparison(heddle, sub(folder, name), text)
        with open(comparison.path("a.fa"), "w", encoding="utf-8") as file:
            file.write(">a\nACGT\n")
        done = subprocess.run([heddle, *(words or ("compare", comparison.file)), "--out", comparison.path(out)], capture_output=True,
                              text=True, timeout=SECONDS_MAX, **(more or {"stdin": subprocess.DEVNULL}))
        assert done.returncode in (0, 2) and (done.returncode == 0) == os.path.exists(comparison.path(out)), done
        return done.stderr

    again = "each run is a process that reads the experiment again, which only a regular file allows; write it to a file"
    for verb in ("compare", "validate"):
        assert f"/dev/stdin: {again}" in said((verb, "/dev/stdin"), f"{verb}_pipe", "", input=POLICIES)
        path = os.path.join(sub(folder, f"{verb}_redirected"), "b.yaml")
        with open(path, "w+", encoding="utf-8") as file:
            file.write(POLICIES)
            file.seek(0)
            assert f"/dev/stdin: {again}" in said((verb, "/dev/stdin"), f"{verb}_file", "", stdin=file)
        os.mkfifo(fifo := os.path.join(folder, f"{verb}.yaml"))
        assert f"{fifo}: {again}" in said((verb, fifo), f"{verb}_fifo", "")

    align = "workload: {name: atgc, a: a.fa, b: a.fa%s}\nbackend: sim\ncompare:\n  %s\n"
    shared = said((), "shared", align % (", output: o.txt", "workload.block_rows: [4, 8]"))
    assert "a.yaml:1: workload.output is " in shared and "o.txt for more than one cell; leave workload.output out" in shared, shared
    seeds = said((), "seeds", align % ("", "workload.output: [a.txt, b.txt]") + "repeat: 2\n")
    assert "a.txt for more than one cell" in seeds, seeds
    inside = said((), "inside", align % (", output: out/o.txt", "workload.block_rows: [4]"))
    assert "o.txt, in the directory of results" in inside, inside
    inside = said(("validate", os.path.join(folder, "inside", "a.yaml")), "elsewhere", "", out="../inside/out/below/..")
    assert "o.txt, in the directory of results" in inside, inside
    assert "2 cells; results" in said((), "own", align % ("", "workload.output: [a.txt, b.txt]"))
    assert all(os.path.exists(os.path.join(folder, "own", name)) for name in ("a.txt", "b.txt"))
    assert "1 cells; results" in said((), "single", align % (", output: o.txt", "workload.block_rows: [4]"))
    assert "2 cells; results" in said((), "device", align % (", output: /dev/null", "workload.block_rows: [4, 8]"))

    processes = Comparison(heddle, sub(folder, "processes"), POLICIES)
    done = processes.run("out", "--claim", "--processes", "2", code=2)
    assert "--processes 2: no cell needs so many; these need 1\n" in done.stderr and not os.path.exists(processes.path("out")), done


def directories(heddle, folder):
    """A directory in the place of a result is named, a lost timing costs no row, and results that vanish are noticed."""
    comparison = Comparison(heddle, sub(folder, "directories"), POLICIES)
    comparison.run("out")
    cell, other = sorted(comparison.finished("out"))[:2]
    os.unlink(comparison.path("out", other, "timing.json"))
    comparison.run("out")
    assert len(comparison.rows("out", "runs.csv")) == 12 == len(comparison.rows("out", "timings.csv"))
    os.unlink(comparison.path("out", cell, "result.json"))
    os.mkdir(comparison.path("out", cell, "result.json"))
    done = comparison.run("out", code=2)
    assert f"{cell}/result.json is a directory, and a file belongs there; remove it" in done.stderr, done.stderr

    slow = Comparison(heddle, sub(folder, "vanish"), POLICIES.replace("depth: 5", "depth: 7"))
    run = subprocess.Popen(slow.command("out", "--jobs", "1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + SECONDS_MAX
    while len(slow.finished("out")) < 2:
        assert time.monotonic() < end and run.poll() is None
        time.sleep(0.001)
    # The earlier of the two: its result was read before the other cell began.
    gone = min(slow.finished("out"), key=lambda cell: os.stat(slow.path("out", cell, "result.json")).st_mtime_ns)
    shutil.rmtree(slow.path("out", gone))
    _, errors = run.communicate(timeout=SECONDS_MAX)
    assert run.returncode == 1 and "vanished while this ran" in errors and "of 12 cells are missing" in errors, errors


def main():
    heddle = script_arguments("heddle").heddle
    if "no (built with HEDDLE_SIM=OFF" in subprocess.run([heddle, "doctor"], capture_output=True, text=True).stdout:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for check in (bounds, identical, tidy, refused, refused_at_once, directories):
            check(heddle, folder)
            print(f"{check.__name__}: as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
