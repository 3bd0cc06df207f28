"""Tests nodes that join and leave on two networks with a gateway, many times: hundreds of seeds in simulation, and thirty
native runs of each program. The answers are right each time.
"""

import os
import tempfile

from member_networks_testing import BY_UDP, CARRIERS, CHOLESKY, LONG, MAP, UTS, experiment, joined, result_of, write
from script_arguments import script_arguments

SEEDS = 300
NATIVE_RUNS = 30


def main():
    heddle = script_arguments("heddle", "simulator").heddle
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run.yaml")
        def stated(workload, schedule, at, leaves_at, carriers=({}, {})):
            leaves_at = leaves_at if workload["name"] == "uts" else None
            write(path, experiment(workload, at, leaves_at, carriers, **schedule))

        for workload, schedule in ((UTS, {}), (CHOLESKY, {"placement": "cyclic"}), (MAP, {})):
            for seed in range(1, SEEDS + 1):
                stated(workload, schedule, f"{100 + 10 * seed}us", f"{1000 + 7 * seed}us")
                result_of(heddle, path, "sim", "--set", f"seed={seed}")
        for workload, schedule in LONG:
            came = 0
            for number in range(NATIVE_RUNS):
                modules = ("separate", "single")[number % 2]
                stated(workload, {**schedule, "modules": modules}, f"{number % 10}ms", f"{5 + 5 * number}ms",
                       BY_UDP if number % 3 == 0 else CARRIERS)
                came += joined(result_of(heddle, path, "native", "--set", f"seed={number + 1}"))
            assert came > 0, workload


main()
