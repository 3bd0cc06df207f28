"""Tests two cells of the HyFi paper on two nodes of two processors. LU must take the time of Table 2. Overlapping must
gain as much as in Table 3, with fewer sweeps. tests/papers_hyfi_slow_test.py has all cells, docs/papers/hyfi.md says
where they come from.
"""

import json
import os
import subprocess

from script_arguments import script_arguments


def seconds(arguments, name, nodes, cores, *settings):
    command = [arguments.heddle, "run", os.path.join(arguments.source, "configs", "papers", "hyfi", f"{name}.yaml"), "--json"]
    for setting in (f"platform.nodes={nodes}", f"platform.cores={cores}", *settings):
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1700)
    result = json.loads(done.stdout)
    assert result["check"]["verdict"] == "right", done.stdout
    return result["makespan_seconds"]


def main():
    arguments = script_arguments("heddle", "simulator")
    lu = seconds(arguments, "lu", 2, 2)
    print(f"LU on 2 x 2: {lu:.1f} s, published 58.7 s")
    assert abs(lu / 58.7 - 1) < 0.15
    one, four = (seconds(arguments, "overlap", 2, 2, "workload.sweeps=100", f"workload.pools={pools}") for pools in (1, 4))
    improvement = 100 * (1 - four / one)
    print(f"overlap on 2 x 2: {improvement:.1f}%, published 8.3%")
    assert abs(improvement - 8.3) < 3


main()
