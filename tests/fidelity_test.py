"""Tests scripts/fidelity with a heddle that only says what it was asked: what it calls, and what its table is made of."""

import json
import os
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

HEDDLE = """#!{python}
import json, os, sys
folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "called"), "a", encoding="utf-8") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[1] == "validate":
    with open(os.path.join(folder, "found.json"), encoding="utf-8") as file:
        print(file.read())
    sys.exit(5)
"""


def row(ratio, failed):
    return {"values": {"workload.n": "30", "platform.nodes": "1", "platform.cores": "2"}, "native": {"runs": 8, "median_seconds": 0.1},
            "simulated": {"runs": 3, "median_seconds": 0.1 * ratio}, "failed": failed, "ratio": {"value": ratio}, "within_15_percent": "within",
            "error_by_state": {"working": ratio - 1.01, "idle": 0.01}}


def main():
    arguments = script_arguments()
    script = os.path.join(arguments.source, "scripts", "fidelity")
    with tempfile.TemporaryDirectory() as folder:
        heddle, out = os.path.join(folder, "heddle"), os.path.join(folder, "out")
        with open(heddle, "w", encoding="utf-8") as file:
            file.write(HEDDLE.replace("{python}", sys.executable))
        os.chmod(heddle, 0o755)

        def run(*words):
            done = subprocess.run([sys.executable, script, heddle, "--out", out, "--only", "fib", *words], capture_output=True, text=True, timeout=60, check=False)
            path = os.path.join(folder, "called")
            if not os.path.exists(path):
                return done, []
            with open(path, encoding="utf-8") as file:
                called = file.read().splitlines()
            os.remove(path)
            return done, called

        def find(*rows):
            with open(os.path.join(folder, "found.json"), "w", encoding="utf-8") as file:
                json.dump({"within": sum(not one["failed"] for one in rows), "lines": rows}, file)

        # What is there is shown without a measurement; without a platform there is nothing to show.
        find(row(1.1, 0), row(0.9, 1))
        done, called = run("--show")
        assert done.returncode == 1 and called == [] and not os.path.exists(out) and "--platform" in done.stderr, (done, called)

        # The table is that of what validate says now, not of a results.csv of another platform.
        os.makedirs(os.path.join(out, "fib"))
        with open(os.path.join(out, "fib", "results.csv"), "w", encoding="utf-8") as file:
            file.write("ratio\n7\n")
        done, called = run("--show", "--platform", "b.yaml")
        assert done.returncode == 0 and len(called) == 1, (done, called)
        assert "--json" in called[0] and "--show" in called[0] and "platform.from=b.yaml" in called[0], called
        assert "| fib | 30 | 1 x 2 | 100.0 ms | 110.0 ms | +10.0% | within | working +9% |" in done.stdout, done.stdout
        # A configuration that failed is not shown to be within 15%.
        assert "2 configurations; error: median 10.0%" in done.stdout and "shown to be within 15%: 1" in done.stdout, done.stdout

        done, called = run("--platform", "b.yaml")
        assert done.returncode == 0 and len(called) == 1 and "--show" not in called[0], (done, called)
        done, called = run()
        assert [words.split()[0] for words in called] == ["calibrate", "validate"], called


if __name__ == "__main__":
    sys.exit(main())
