"""Tests that no run of a shipped configuration is shorter than its lower bound. Simulates each combination once, but for those
that another test simulates and checks in the same way.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

import lower_bounds
from script_arguments import script_arguments

SECONDS_MAX = 1800
# What a path begins with, and the test that checks all such files.
ELSEWHERE = {
    "papers/earth/": "papers_earth_slow_test.py",
    "papers/hyfi/": "papers_hyfi_slow_test.py",
    "papers/kaapi/figure7.yaml": "papers_kaapi_slow_test.py",
}


def printed(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return json.loads(done.stdout)


def check_file(heddle, file, out):
    with open(file, encoding="utf-8") as text:
        is_comparison = "\ncompare:" in text.read()
    if is_comparison:
        return lower_bounds.check(file, printed(heddle, "compare", file, "--repeat", "1", "--backend", "sim", "--json", "--out", out))
    return lower_bounds.check_run(file, printed(heddle, "run", file, "--backend", "sim", "--repeat", "1", "--json"))


def main():
    arguments = script_arguments("heddle")
    configs = os.path.join(arguments.source, "configs")
    for test in ELSEWHERE.values():
        with open(os.path.join(arguments.source, "tests", test), encoding="utf-8") as text:
            assert "lower_bounds.check(" in text.read(), test
    checked = elsewhere = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(glob.glob(os.path.join(configs, "**", "*.yaml"), recursive=True)):
            name = os.path.relpath(file, configs)
            if name.startswith(tuple(ELSEWHERE)):
                elsewhere += 1
                continue
            count = check_file(arguments.heddle, file, os.path.join(folder, name))
            checked += 1
            print(f"{name}: {count} bounds hold", flush=True)
    print(f"{checked} files, and {elsewhere} that other tests check")
    assert checked > 0 and elsewhere > 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
