"""Tests nodes that join and leave on two networks with a gateway, many times: hundreds of seeds in simulation, and thirty
native runs of each program. The answers are right each time.
"""

import os
import tempfile

from member_networks_testing import CARRIERS, CHOLESKY, MAP, UTS, experiment, joined, result_of, write
from script_arguments import script_arguments

SEEDS = 300
NATIVE_RUNS = 30


def main():
    heddle = script_arguments("heddle", "simulator").heddle
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run.yaml")
        for workload, schedule in ((UTS, {}), (CHOLESKY, {"placement": "cyclic"}), (MAP, {})):
            def stated(at, leaves_at, carriers=({}, {})):
                write(path, experiment(workload, at, leaves_at if workload is UTS else None, carriers, **schedule))

            for seed in range(1, SEEDS + 1):
                stated(f"{100 + 10 * seed}us", f"{1000 + 7 * seed}us")
                result_of(heddle, path, "sim", "--set", f"seed={seed}")
            came = 0
            for number in range(NATIVE_RUNS):
                stated(f"{number % 10}ms", f"{5 + number}ms", CARRIERS)
                came += joined(result_of(heddle, path, "native", "--set", f"seed={number + 1}"))
            assert came > 0 or workload is MAP, workload


main()
