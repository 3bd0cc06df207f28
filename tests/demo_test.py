"""Tests that scripts/demo shows one row for each program, natively and in simulation. It fails if a run fails, an answer
is wrong, or the two disagree. A stand-in replaces heddle here; demo_slow_test.py uses the real binary.
"""

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

# Answers as heddle does. Its behaviour comes from the environment, so that one script plays every part.
STAND_IN = """#!/usr/bin/env python3
import json, os, sys
part, words = os.environ["PART"], sys.argv[1:]
if words[0] == "report":
    assert os.path.basename(words[1]) == "results" and words[2] == "--out", words
    if part == "no page":
        sys.exit("no page")
    with open(words[3], "w") as page:
        sys.exit(0)
launched = words[:1] == ["launch"]
if launched:
    assert words[1:4] == ["-n", "2", "--"] and words[4] == sys.argv[0], words
    words = words[5:]
assert words[0] == "run" and "--json" in words and "--out" in words, words
program = os.path.basename(words[1])[:-5]
assert os.path.exists(words[1]), words
backend = words[words.index("--backend") + 1]
special = program == "uts" and launched
if part == "fails" and special:
    sys.exit("node 1 was lost")
if part == "speaks" and special:
    print("hello")
print(json.dumps({"backend": backend, "ok": not (part == "wrong" and special),
                  "answer": {"value": 93 if part == "disagrees" and special else 92}, "makespan_seconds": 0.0123, "tasks": 123456,
                  "steals": {"within_node": 7, "between_nodes": 0 if backend == "native" and not launched else 5}}))
"""


def check_durations(source):
    """Three digits, in the unit of which the printed number is at least 1."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("demo", os.path.join(source, "scripts", "demo"))
    demo = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo", loader))
    loader.exec_module(demo)
    for seconds, words in ((0.0123, "12.3 ms"), (0.9997e-3, "1 ms"), (0.9999, "1 s"), (0.9994, "999 ms"), (1.5e-6, "1.5 us"), (999.7, "1000 s"), (12345, "12345 s"),
                           (2e-10, "0.2 ns"), (0, "0 ns")):
        assert demo.duration(seconds) == words, (seconds, demo.duration(seconds))


def main():
    source = sys.argv[sys.argv.index("--source") + 1]
    check_durations(source)
    with tempfile.TemporaryDirectory() as scratch:
        heddle = os.path.join(scratch, "heddle")
        with open(heddle, "w", encoding="utf-8") as file:
            file.write(STAND_IN)
        os.chmod(heddle, 0o755)

        def demo(part):
            result = subprocess.run([os.path.join(source, "scripts", "demo"), heddle], env={**os.environ, "PART": part},
                                    capture_output=True, text=True)
            print(f"--- {part}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
            return result

        good = demo("right")
        assert good.returncode == 0
        lines = good.stdout.split("\n")
        rows = [line for line in lines if "  native, " in line or "  simulated, " in line]
        assert len(rows) == 12 and all("value 92" in row and "12.3 ms" in row and "123,456" in row for row in rows), rows
        assert [line.split()[0] for line in rows if not line.startswith(" ")] == ["fib", "nqueens", "uts"]
        assert lines[-2].startswith("All of it as a page") and os.path.exists(os.path.join(scratch, "demo", "page.html")), lines[-3:]
        assert demo("no page").returncode != 0
        assert sum("simulated, 1000 x 4" in row for row in rows) == 3
        assert demo("fails").returncode != 0 and "node 1 was lost" in demo("fails").stderr
        assert demo("speaks").returncode != 0
        assert demo("wrong").returncode != 0 and "wrong" in demo("wrong").stderr
        assert demo("disagrees").returncode != 0 and "disagree" in demo("disagrees").stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
