"""Tests heddle compare as a user runs it. A comparison that is killed three times at random moments leaves the bytes of
an undisturbed one. Cells that fail are kept and named, shares merge, and Slurm's script does what it says.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from comparisons import SECONDS_MAX, Comparison, killed, processes_that_mention
from script_arguments import script_arguments

CELLS = """
name: test
workload: {name: uts, tree: T1, depth: 6}
platform: {nodes: 4, cores: 2}
backend: sim
repeat: 4
compare:
  platform.nodes: [1, 4, 16]
  schedule.placement: [none, block]
  schedule.stealing.victim: [none, random]
"""
COUNT = 3 * 2 * 2 * 4

def undisturbed(heddle, folder):
    """The tables are complete and in the order of the file, and a second time nothing is run."""
    comparison = Comparison(heddle, folder, CELLS)
    done = comparison.run("calm")
    assert f"12 combinations, {COUNT} cells" in done.stderr, done.stderr
    assert done.stdout.count("*") == 6 + 1, done.stdout  # the best of each group, and the legend
    rows = comparison.rows("calm", "runs.csv")
    order = [(row["platform_nodes"], row["schedule_placement"], row["schedule_stealing_victim"], row["seed"]) for row in rows]
    assert order == [(nodes, placement, victim, str(seed)) for nodes in ("1", "4", "16") for placement in ("none", "block")
                     for victim in ("none", "random") for seed in (1, 2, 3, 4)], order
    summary = comparison.rows("calm", "comparison.csv")
    assert len(summary) == 12 and sum(row["standing"] == "best" for row in summary) == 6
    for row in summary:
        assert 0 < float(row["lower_bound_seconds"]) <= float(row["low_seconds"] or row["median_seconds"]), row
    before = {name: os.stat(comparison.path("calm", name, "result.json")).st_mtime_ns for name in comparison.finished("calm")}
    assert len(before) == COUNT
    again = comparison.run("calm")
    assert f"{COUNT} of them there already" in again.stderr and again.stdout == done.stdout, again
    assert before == {name: os.stat(comparison.path("calm", name, "result.json")).st_mtime_ns for name in before}
    # One result is lost, one is damaged: these two are run again, and all is as before.
    lost, damaged = sorted(before)[:2]
    os.unlink(comparison.path("calm", lost, "result.json"))
    runs = comparison.read("calm", "runs.csv")
    with open(comparison.path("calm", damaged, "result.json"), "r+", encoding="utf-8") as file:
        file.truncate(100)
    assert f"{COUNT - 2} of them there already" in comparison.run("calm").stderr
    assert comparison.read("calm", "runs.csv") == runs
    return comparison


def stopped(comparison):
    """A polite signal: the exit code says which, no process is left, and no cell counts as failed."""
    run = subprocess.Popen(comparison.command("stopped"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(comparison.finished("stopped")) < 3:
        time.sleep(0.001)
    run.send_signal(signal.SIGTERM)
    _, errors = run.communicate(timeout=SECONDS_MAX)
    assert run.returncode == 128 + signal.SIGTERM and "goes on from here" in errors, (run.returncode, errors)
    assert not processes_that_mention(comparison.path("stopped"))
    assert not [1 for _, _, names in os.walk(comparison.path("stopped")) if "failure.json" in names]
    comparison.run("stopped")
    assert comparison.read("stopped", "runs.csv") == comparison.read("calm", "runs.csv")


def hung_up(comparison):
    """Under nohup a comparison outlives its terminal."""
    run = subprocess.Popen(["nohup", *comparison.command("hung")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(comparison.finished("hung")) < 3 and run.poll() is None:
        time.sleep(0.001)
    run.send_signal(signal.SIGHUP)
    _, errors = run.communicate(timeout=SECONDS_MAX)
    assert run.returncode == 0 and len(comparison.finished("hung")) == COUNT, (run.returncode, errors)


def shares(comparison):
    """Shares in directories of their own, merged by copying; nothing is left to run. The last of several in one
    directory has the table."""
    for share in range(3):
        done = comparison.run(f"share{share}", "--shard", f"{share}/3")
        assert "cells of others are missing" in done.stderr and done.stdout == "", done
        assert len(comparison.finished(f"share{share}")) == COUNT // 3
    subprocess.run(["cp", "-r", comparison.path("share0"), comparison.path("merged")], check=True)
    for share in (1, 2):
        subprocess.run(f"cp -r {comparison.path(f'share{share}')}/* {comparison.path('merged')}", shell=True, check=True)
    shown = comparison.run("merged", "--show")
    assert comparison.run("merged").stdout == shown.stdout
    assert comparison.read("merged", "runs.csv") == comparison.read("calm", "runs.csv")
    partly = comparison.run("share0", "--show", code=1)
    assert f"{COUNT * 2 // 3} of {COUNT} cells are missing" in partly.stderr, partly.stderr
    comparison.run("share0", "--shard", "1/3")
    assert comparison.run("share0", "--shard", "2/3").stdout == shown.stdout
    for wrong in ("3/3", "1", "a/b", "1/0", "-1/2", "1/2/3"):
        assert "expected i/n" in comparison.run("share0", f"--shard={wrong}", code=2).stderr


def failures(heddle, folder):
    """A cell that cannot be run is kept and named, the others are finished; it runs again only when asked."""
    comparison = Comparison(heddle, folder, """
name: failing
workload: {name: fib, n: 12}
platform: {nodes: 2, cores: 1}
backend: sim
repeat: 2
compare:
  schedule.deque_slots: [1000, 131072]
""")
    assert "4 cells" in comparison.run("out").stderr
    cells = sorted(comparison.finished("out"))
    victim = comparison.rows("out", "runs.csv")[0]["cell"]
    # Where a file of it would go there is a directory in the way.
    for name in os.listdir(comparison.path("out", victim)):
        os.unlink(comparison.path("out", victim, name))
    os.mkdir(comparison.path("out", victim, "steals.csv"))
    done = comparison.run("out", code=1)
    assert "1 of 4 cells failed" in done.stderr and victim in done.stderr, done.stderr
    assert "schedule.deque_slots=1000 seed=1: results cannot be written to" in done.stderr, done.stderr
    assert "1 failed" in done.stdout, done.stdout
    kept = json.loads(comparison.read("out", victim, "failure.json"))
    assert kept["exit_code"] == 2 and " && heddle run " in kept["command"] and "--seed 1" in kept["command"], kept
    assert [row["cell"] for row in comparison.rows("out", "runs.csv")] != cells and len(comparison.rows("out", "runs.csv")) == 3
    # The command runs anywhere, also if the file was named as from the folder that it is in.
    heddle = os.path.abspath(comparison.heddle)
    subprocess.run([heddle, "compare", "a.yaml", "--out", "out", "--retry-failed"], cwd=comparison.folder, capture_output=True)
    kept = json.loads(comparison.read("out", victim, "failure.json"))
    path = os.path.dirname(heddle) + ":" + os.environ["PATH"]
    again = subprocess.run(kept["command"], shell=True, cwd="/", env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert again.returncode == 0 and again.stdout.startswith("failing: fib on "), again
    os.rmdir(comparison.path("out", victim, "steals.csv"))
    shown = json.loads(comparison.run("out", "--json", code=1).stdout)  # not run again by itself
    assert shown["cells"] == {"total": 4, "finished": 4, "failed": 1}, shown["cells"]
    assert shown["failures"][0]["cell"] == victim and "results cannot be written" in shown["failures"][0]["error"]
    done = comparison.run("out", "--retry-failed")
    assert "failed" not in done.stdout + done.stderr, done
    assert sorted(comparison.finished("out")) == cells
    assert not os.path.exists(comparison.path("out", victim, "failure.json"))


def retried_once(heddle, folder):
    """Processes that share cells retry what had failed when they began, and not what another one has run meanwhile. A Slurm
    script does not retry: what failed is forgotten when it is written."""
    comparison = Comparison(heddle, folder, """
workload: {name: uts, tree: T1, depth: 7}
platform: {nodes: 1, cores: 1}
backend: sim
compare: {variants: {slow: {workload.depth: 10}, failing: {schedule.deque_slots: 64}}}
""")
    comparison.run("out", code=1)
    slow, = comparison.finished("out")
    failing, = (name for name in os.listdir(comparison.path("out")) if os.path.exists(comparison.path("out", name, "failure.json")))
    failure = comparison.path("out", failing, "failure.json")
    written = os.stat(failure).st_mtime_ns
    comparison.run("out", "--claim", "--retry-failed", code=1)
    assert os.stat(failure).st_mtime_ns != written

    os.unlink(comparison.path("out", slow, "result.json"))
    run = subprocess.Popen(comparison.command("out", "--claim", "--retry-failed", "--jobs", "1"), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    end = time.monotonic() + SECONDS_MAX
    while not os.path.exists(comparison.path("out", "claims", slow)):
        assert time.monotonic() < end and run.poll() is None
        time.sleep(0.001)
    other = {**json.loads(comparison.read("out", failing, "failure.json")), "error": "found by another task"}
    with open(failure + ".new", "w", encoding="utf-8") as file:
        json.dump(other, file)
    os.replace(failure + ".new", failure)
    assert run.wait(SECONDS_MAX) == 1 and slow in comparison.finished("out")
    assert json.loads(comparison.read("out", failing, "failure.json"))["error"] == "found by another task"

    written = comparison.run("out", "--slurm", "--retry-failed")
    assert not os.path.exists(failure) and comparison.finished("out") == {slow}, written.stdout
    assert "--retry-failed" not in comparison.read("out", "compare.slurm").decode()


def crash(heddle, folder):
    """A cell whose process is killed fails alone, and the signal is named."""
    comparison = Comparison(heddle, folder, """
name: crashing
workload: {name: uts, tree: T1, check: none}
backend: sim
compare:
  workload.depth: [4, 10]
""")
    run = subprocess.Popen(comparison.command("out", "--jobs", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + SECONDS_MAX
    while not (found := [pid for pid in processes_that_mention("workload.depth=10") if parent_of(pid) == run.pid]):
        assert time.monotonic() < end and run.poll() is None
        time.sleep(0.001)
    os.kill(found[0], signal.SIGSEGV)
    output, errors = run.communicate(timeout=SECONDS_MAX)
    assert run.returncode == 1 and "workload.depth=10 seed=1: ended by signal 11 (Segmentation fault)" in errors, errors
    assert len(comparison.finished("out")) == 1 and "no result; 1 failed" in output, output


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def native(heddle, folder):
    """Native cells: one after the other, on several nodes through the launcher."""
    comparison = Comparison(heddle, folder, """
name: real
workload: {name: nqueens, n: 6}
platform: {cores: 1}
backend: native
compare:
  platform.nodes: [1, 2]
""")
    comparison.run("out", "--jobs", "4")
    rows = comparison.rows("out", "runs.csv")
    assert [(row["backend"], row["platform_nodes"], row["answer_solutions"]) for row in rows] == [
        ("native", "1", "4"), ("native", "2", "4")], rows
    assert "1 of 2 cells are missing" in comparison.run("single", "--processes", "1").stderr
    assert "this key is not compared; did you mean \"platform.nodes\"?" in comparison.run("out", "--by", "platform.node", code=2).stderr


def slurm(comparison):
    """The script's tasks, run one after the other as Slurm would, leave the same tables; --submit calls sbatch."""
    tools = comparison.path("tools")
    os.mkdir(tools)
    with open(os.path.join(tools, "sbatch"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho \"$@\" > \"$0.said\"\necho Submitted batch job 7\n")
    os.chmod(os.path.join(tools, "sbatch"), 0o755)
    environment = {**os.environ, "PATH": tools + ":" + os.environ["PATH"]}
    out = "job of slurm"
    written = comparison.run(out, "--slurm", "--tasks", "5", "--sbatch=--time=1:00:00", "--set", "seed=1", "--by", "platform.nodes")
    script = comparison.path(out, "compare.slurm")
    assert "submit it with: sbatch" in written.stdout and f"{COUNT} cells in 5 tasks" in written.stdout, written.stdout
    text = comparison.read(out, "compare.slurm").decode()
    assert "#SBATCH --array=0-4\n" in text and "#SBATCH --time=1:00:00\n" in text and "exclusive" not in text, text
    assert " --by platform.nodes " in text and written.stdout.endswith(" --by platform.nodes\n"), (text, written.stdout)
    assert not comparison.finished(out) and not os.path.exists(os.path.join(tools, "sbatch.said"))
    submitted = comparison.run(out, "--slurm", "--tasks", "5", "--submit", env=environment)
    assert "Submitted batch job 7" in submitted.stdout, submitted.stdout
    with open(os.path.join(tools, "sbatch.said"), encoding="utf-8") as file:
        assert file.read() == script + "\n"
    for task in range(5):
        subprocess.run(["sh", script], env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}, check=True, capture_output=True,
                       cwd="/", timeout=SECONDS_MAX)
    assert len(comparison.finished(out)) == COUNT
    comparison.run(out, "--show")
    assert comparison.read(out, "runs.csv") == comparison.read("calm", "runs.csv")
    missing = comparison.run(out, "--slurm", "--submit", code=2, env={**os.environ, "PATH": "/nowhere"})
    assert "cannot run sbatch" in missing.stderr, missing.stderr


def main():
    heddle = script_arguments("heddle").heddle
    with tempfile.TemporaryDirectory() as folder:
        sub = lambda name: os.makedirs(os.path.join(folder, name)) or os.path.join(folder, name)
        if "no (built with HEDDLE_SIM=OFF" in subprocess.run([heddle, "doctor"], capture_output=True, text=True).stdout:
            native(heddle, sub("native"))
            return 0
        comparison = undisturbed(heddle, sub("cells"))
        for seed in (1, 2):
            killed(comparison, seed, COUNT)
        stopped(comparison)
        hung_up(comparison)
        shares(comparison)
        slurm(comparison)
        failures(heddle, sub("failures"))
        retried_once(heddle, sub("retried"))
        crash(heddle, sub("crash"))
        native(heddle, sub("native"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
