"""heddle compare of several files, and of files with published speedups: the table beside them, over the right baseline; and
what is wrong in such a section is said.
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
  baseline: {baseline}
  speedups:
    - {speedups}
"""


def run(heddle, folder, *files, words=(), code=0):
    done = subprocess.run([heddle, "compare", *files, "--out", os.path.join(folder, "out"), *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done
    return done


def write(folder, name, baseline="{platform.cores: 1}", speedups="{platform.cores: 4, speedup: 5}"):
    path = os.path.join(folder, f"{name}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CELLS.format(name=name, baseline=baseline, speedups=speedups))
    return path


def speedups(heddle, folder):
    first, second = write(folder, "first"), write(folder, "second", baseline="{platform.cores: 2}")
    done = run(heddle, folder, first, second)
    rows = done.stdout[done.stdout.index("published in"):].splitlines()[1:]
    assert [row.split()[-1] for row in rows] == ["-", "-", "-20%", "-", "-", "-60%"], done.stdout
    assert done.stdout.index("published in") > done.stdout.rindex("against the best"), done.stdout
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


def mistakes(heddle, folder):
    for words, more in (("is about 3 of the cells", {"speedups": "{speedup: 5}"}), ("is about 0 of the cells", {"speedups": "{platform.cores: 3, speedup: 5}"}),
                        ("platform.nodes is not compared", {"speedups": "{platform.nodes: 1, speedup: 5}"}),
                        ("a line without `speedup`", {"speedups": "{platform.cores: 1}"}), ("expected a speedup above 0", {"speedups": "{platform.cores: 1, speedup: -5}"}),
                        ("unknown key \"core\"", {"baseline": "{platform.core: 1}"}), ("expected keys with values", {"baseline": "7"})):
        done = run(heddle, folder, write(folder, "wrong", **more), code=2)
        assert words in done.stderr and "wrong.yaml:" in done.stderr, (words, done.stderr)
    same = write(folder, "first")
    assert "two comparisons have the name first" in run(heddle, folder, same, same, code=2).stderr


def main():
    arguments = script_arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        speedups(arguments.heddle, folder)
        mistakes(arguments.heddle, folder)


main()
