"""Tests that no run of a shipped configuration is shorter than its lower bound. Runs of one workload on one machine have
one bound, whatever their schedules are. Simulates each combination once.
"""

import glob
import json
import math
import os
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

SECONDS_MAX = 1800


def printed(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return json.loads(done.stdout)


def check_run(heddle, file):
    result = printed(heddle, "run", file, "--backend", "sim", "--repeat", "1", "--json")
    bound = result["lower_bound_seconds"]
    assert bound is not None and 0 < bound <= result["makespan_seconds"], (file, bound, result["makespan_seconds"])
    return 1


def check_comparison(heddle, file, out):
    compared = printed(heddle, "compare", file, "--repeat", "1", "--backend", "sim", "--json", "--out", out)
    bounds = {}
    for group in compared["groups"]:
        for line in group["lines"]:
            values = {**group["values"], **line["values"]}
            if values.get("backend") == "native":
                assert line["lower_bound_seconds"] is None, (file, line)
                continue
            bound, median = line["lower_bound_seconds"], line["makespan_seconds"]["median"]
            if bound is None and line["counted"]["time_seconds_working"] == 0:
                continue  # a run without work has no bound
            assert bound is not None and 0 < bound <= median, (file, values, bound, median)
            # Keys of the schedule change neither the work nor the machine; variants may. The sum of the tasks' work is rounded in
            # the order in which workers did them, which matters as much as lower_bound_seconds allows (1e-9).
            same = tuple(sorted((key, value) for key, value in values.items() if not key.startswith("schedule.")))
            assert math.isclose(bounds.setdefault(same, bound), bound, rel_tol=1e-9), (file, values, bound, bounds[same])
    return sum(len(group["lines"]) for group in compared["groups"])


def main():
    arguments = script_arguments("heddle")
    configs = os.path.join(arguments.source, "configs")
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(glob.glob(os.path.join(configs, "**", "*.yaml"), recursive=True)):
            name = os.path.relpath(file, configs)
            with open(file, encoding="utf-8") as text:
                is_comparison = "\ncompare:" in text.read()
            count = check_comparison(arguments.heddle, file, os.path.join(folder, name)) if is_comparison else check_run(arguments.heddle, file)
            print(f"{name}: {count} bounds hold", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
