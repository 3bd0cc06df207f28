"""For tests: runs the configurations of configs/papers/smp by `heddle compare`."""

import csv
import os
import re
import subprocess
import tempfile

VERSIONS = {(1, 1): "one thread", (1, 2): "two threads", (2, 1): "MPI only"}


def rows_of(arguments, name, settings=(), sizes=None):
    """The lines of runs.csv, each of which has a right answer. `sizes`: (key, values), in place of the file's values of that key."""
    with open(os.path.join(arguments.source, "configs", "papers", "smp", name + ".yaml"), encoding="utf-8") as file:
        text = file.read()
    if sizes:
        key, values = sizes
        text, found = re.subn(rf"^  {re.escape(key)}: \[.*\]$", f"  {key}: {values}", text, flags=re.MULTILINE)
        assert found == 1, (name, key)
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, name + ".yaml")
        with open(file, "w", encoding="utf-8") as copy:
            copy.write(text)
        command = [arguments.heddle, "compare", file, "--out", os.path.join(directory, "out")]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
        assert done.returncode == 0, done.stdout + done.stderr
        with open(os.path.join(directory, "out", "runs.csv"), encoding="utf-8") as table:
            rows = list(csv.DictReader(table))
    assert rows and all(row["ok"] == "true" and row["check"] == "right" if "check" in row else row["ok"] == "true" for row in rows), rows
    assert all(float(row["answer_wrong"]) == 0 for row in rows), rows
    return rows


def seconds(arguments, name, size, settings=(), sizes=None, time="answer_call_time", of=()):
    """{value of the column `size`: {version: seconds}}; with columns `of` keys are tuples of their values and the size."""
    cells = {}
    for row in rows_of(arguments, name, settings, sizes):
        version = VERSIONS[int(row.get("platform_processes") or 1), int(row["platform_cores"])]
        key = int(row[size]) if not of else (*(int(row[column]) for column in of), int(row[size]))
        cells.setdefault(key, {})[version] = float(row[time])
    for key, times in sorted(cells.items()):
        assert len(times) == 3, (key, times)
        print(f"{name} {key}:", ", ".join(f"{version} {1e3 * value:.3f} ms" for version, value in times.items()),
              f"; {speedup(times):.2f} {lead(times):.2f}")
    return cells


def speedup(times):
    """Of two threads over one."""
    return times["one thread"] / times["two threads"]


def lead(times):
    """How many times as long MPI only takes as two threads."""
    return times["MPI only"] / times["two threads"]


def near(value, expected, percent, what):
    assert abs(value / expected - 1) <= percent / 100, f"{what}: {value:.3f}, and not {expected} within {percent}%"
