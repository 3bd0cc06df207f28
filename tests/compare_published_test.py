"""Tests heddle compare of several files, and of files with published speedups, seconds and improvements. The tables show
measured values beside published ones, over the right baseline and cell. Mistakes in such a section are reported.
"""

import json
import os
import subprocess
import tempfile

from script_arguments import script_arguments

# Independent tasks of one cost on a machine without overheads: the speedup is the number of cores.
CELLS = """
name: {name}
workload: {{name: bag, tasks: 64, task_cost: 1Gf, spread: 0}}
platform: {{nodes: 1, cores: 1, overheads: none}}
schedule: {{placement: block, stealing: none}}
backend: sim
compare:
  platform.cores: [1, 2, 4]
published:
  source: A table
  what: a bag of tasks
  {published}
"""


def run(heddle, folder, *files, words=(), code=0):
    done = subprocess.run([heddle, "compare", *files, "--out", os.path.join(folder, "out"), *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done
    return done


def write_with(folder, name, *lines):
    path = os.path.join(folder, f"{name}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CELLS.format(name=name, published="\n  ".join(lines)))
    return path


def write(folder, name, baseline="{platform.cores: 1}", speedups="{platform.cores: 4, speedup: 5}"):
    return write_with(folder, name, f"baseline: {baseline}", f"speedups: [{speedups}]")


def speedups(heddle, folder):
    first, second = write(folder, "first"), write(folder, "second", baseline="{platform.cores: 2}")
    done = run(heddle, folder, first, second)
    *rows, one, two = done.stdout[done.stdout.index("published in"):].splitlines()[1:]
    assert [row.split()[-1] for row in rows] == ["-", "-", "-20%", "-", "-", "-60%"], done.stdout
    assert done.stdout.index("published in") > done.stdout.rindex("against the best"), done.stdout
    assert [one, two] == ["a bag of tasks: speedup over cores 1", "a bag of tasks: speedup over cores 2"], done.stdout
    for name in "first", "second":
        assert os.path.exists(os.path.join(folder, "out", name, "comparison.csv"))
    lines = [json.loads(line) for line in run(heddle, folder, first, second, words=["--show", "--json"]).stdout.splitlines()]
    found = [[row["speedup"] for row in line["published"]] for line in lines]
    expected = [[1, 2, 4], [0.5, 1, 2]]
    assert all(abs(a - b) < 1e-6 for line, other in zip(found, expected) for a, b in zip(line, other)), found
    assert [row["published"] for row in lines[0]["published"]] == [None, None, 5]
    # What --resolve prints is read again.
    text = subprocess.run([heddle, "run", first, "--resolve"], capture_output=True, text=True, check=True).stdout
    assert "published:" in text, text
    with open(os.path.join(folder, "again.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    assert subprocess.run([heddle, "run", file.name, "--resolve"], capture_output=True, text=True, check=True).stdout == text


def baseline_beside_the_cells(heddle, folder):
    """A compared key that the baseline does not state has the file's own value there, and the table says which."""
    file = write(folder, "beside", speedups="{platform.cores: 4, workload.tasks: 64, speedup: 5}")
    with open(file, encoding="utf-8") as read:
        text = read.read()
    with open(file, "w", encoding="utf-8") as changed:
        changed.write(text.replace("tasks: 64,", "tasks: 16,", 1).replace("platform.cores: [1, 2, 4]", "platform.cores: [1, 4]\n  workload.tasks: [32, 64]"))
    done = run(heddle, folder, file)
    assert done.stdout.endswith("\na bag of tasks: speedup over cores 1, tasks 16\n"), done.stdout
    rows = json.loads(run(heddle, folder, file, words=["--show", "--json"]).stdout)["published"]
    assert [row["over"] for row in rows] == ["cores 1, tasks 16"] * 4, rows
    assert all(abs(row["speedup"] - expected) < 1e-6 for row, expected in zip(rows, (0.5, 0.25, 2, 1))), rows
    # A variant is no key of the file.
    with open(file, "w", encoding="utf-8") as changed:
        changed.write(text.replace(", workload.tasks: 64", "").replace("platform.cores: [1, 2, 4]", "platform.cores: [4]\n  variants: {small: {workload.tasks: 8}}"))
    assert run(heddle, folder, file).stdout.endswith("speedup over cores 1, variant unset\n")


# 64 tasks of 1 Gf on cores of 10 Gf/s: 6.4 s on one core, 3.2 s on two, 1.6 s on four.
def seconds_and_improvements(heddle, folder):
    file = write_with(folder, "times", "seconds: [{platform.cores: 1, seconds: 8}, {platform.cores: 4, seconds: 1.6}]",
                      "improvements: [{platform.cores: 2, over: {platform.cores: 1}, percent: 40}, {platform.cores: 1, over: {platform.cores: 4}, percent: -300}]")
    done = run(heddle, folder, file)
    seconds, improvements = done.stdout[done.stdout.index("a bag of tasks") :].split("\n\n")
    assert [line.split()[-3:] for line in seconds.splitlines()] == [["6.4", "8", "-20.0%"], ["1.6", "1.6", "+0.0%"]], seconds
    lines = improvements.splitlines()
    assert lines[0].split() == ["what", "published", "in", "cell", "improvement", "published", "off", "by"], improvements
    assert "cores 2 over cores 1" in lines[1] and lines[1].split()[-4:] == ["50.0%", "40.0%", "+10.0", "points"], improvements
    assert "cores 1 over cores 4" in lines[2] and lines[2].split()[-4:-2] == ["-300.0%", "-300.0%"], improvements
    rows = json.loads(run(heddle, folder, file, words=["--show", "--json"]).stdout)["published"]
    cell = {"what": "a bag of tasks", "source": "A table"}
    expected = [{**cell, "cell": "cores 1", "seconds": 6.4, "published": 8, "difference_percent": -20},
                {**cell, "cell": "cores 4", "seconds": 1.6, "published": 1.6, "difference_percent": 0},
                {**cell, "cell": "cores 2", "over": "cores 1", "improvement_percent": 50, "published": 40, "difference_points": 10},
                {**cell, "cell": "cores 1", "over": "cores 4", "improvement_percent": -300, "published": -300, "difference_points": 0}]
    assert [list(row) for row in rows] == [list(row) for row in expected], rows
    for row, wanted in zip(rows, expected):
        assert all(row[key] == value if isinstance(value, str) else abs(row[key] - value) < 1e-4 for key, value in wanted.items()), (row, wanted)
    # All three in one file: a table each. What does not compete has no speedup of its own.
    both = write_with(folder, "both", "baseline: {platform.cores: 1}", "seconds: [{platform.cores: 4, seconds: 2}]")
    rows = json.loads(run(heddle, folder, both, words=["--json"]).stdout)["published"]
    assert ["speedup" in row for row in rows] == [True, True, True, False], rows
    # Cells that have not run have no numbers.
    shown = subprocess.run([heddle, "compare", file, "--out", os.path.join(folder, "none"), "--show", "--json"], capture_output=True, text=True, timeout=120, check=False)
    for row in json.loads(shown.stdout)["published"]:
        assert row.get("seconds", row.get("improvement_percent")) is None, row


def mistakes_of_times(heddle, folder):
    for words, line in (("no baseline is stated", "seconds: [{platform.cores: 1, seconds: 8}]\n  speedups: [{platform.cores: 4, speedup: 5}]"),
                        ("published.seconds: a line without `seconds`", "seconds: [{platform.cores: 1}]"),
                        ("published.seconds: expected a number of seconds above 0, found `8s`", "seconds: [{platform.cores: 1, seconds: 8s}]"),
                        ("published.seconds: expected a list", "seconds: 8"), ("published.seconds: expected keys with values", "seconds: [8]"),
                        ("published.seconds: a line that is about 0 of the cells", "seconds: [{platform.cores: 3, seconds: 8}]"),
                        ("published.seconds: platform.nodes is not compared", "seconds: [{platform.nodes: 1, seconds: 8}]"),
                        ("a line without `percent`", "improvements: [{platform.cores: 2, over: {platform.cores: 1}}]"),
                        ("published.seconds: a second line about one cell", "seconds: [{platform.cores: 1, seconds: 8}, {platform.cores: 1, seconds: 9}]"),
                        ("improvements: a second line", "improvements: [{platform.cores: 2, over: {platform.cores: 1}, percent: 5}, {platform.cores: 2, over: {platform.cores: 1}, percent: 5}]"),
                        ("a line without `over`", "improvements: [{platform.cores: 2, percent: 5}]"),
                        ("expected a percentage below 100", "improvements: [{platform.cores: 2, over: {platform.cores: 1}, percent: 100}]"),
                        ("expected keys with values", "improvements: [{platform.cores: 2, over: 1, percent: 5}]"),
                        ("a line that is about 0 of the cells", "improvements: [{platform.cores: 2, over: {platform.cores: 3}, percent: 5}]"),
                        ("`over` is its own cell", "improvements: [{platform.cores: 2, over: {platform.cores: 2}, percent: 5}]"),
                        ("schedule.placement is not compared", "improvements: [{platform.cores: 2, over: {schedule.placement: none}, percent: 5}]"),
                        ("unknown key \"times\"", "times: []")):
        done = run(heddle, folder, write_with(folder, "wrong", line), code=2)
        assert words in done.stderr and "wrong.yaml:" in done.stderr, (words, done.stderr)


def mistakes(heddle, folder):
    for words, more in (("is about 3 of the cells", {"speedups": "{speedup: 5}"}), ("is about 0 of the cells", {"speedups": "{platform.cores: 3, speedup: 5}"}),
                        ("platform.nodes is not compared", {"speedups": "{platform.nodes: 1, speedup: 5}"}),
                        ("published.speedups: a second line about one cell", {"speedups": "{platform.cores: 4, speedup: 5}, {platform.cores: 4, speedup: 6}"}),
                        ("a line without `speedup`", {"speedups": "{platform.cores: 1}"}), ("expected a speedup above 0", {"speedups": "{platform.cores: 1, speedup: -5}"}),
                        ("unknown key \"core\"", {"baseline": "{platform.core: 1}"}), ("expected keys with values", {"baseline": "7"})):
        done = run(heddle, folder, write(folder, "wrong", **more), code=2)
        assert words in done.stderr and "wrong.yaml:" in done.stderr, (words, done.stderr)
    same = write(folder, "first")
    assert "two comparisons have the name first" in run(heddle, folder, same, same, code=2).stderr


def main():
    arguments = script_arguments("heddle", "simulator")
    with tempfile.TemporaryDirectory() as folder:
        speedups(arguments.heddle, folder)
        baseline_beside_the_cells(arguments.heddle, folder)
        seconds_and_improvements(arguments.heddle, folder)
        mistakes(arguments.heddle, folder)
        mistakes_of_times(arguments.heddle, folder)


main()
