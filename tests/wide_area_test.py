"""Tests cluster-aware random stealing (van Nieuwpoort, Kielmann, Bal, PPoPP 2001) on three clusters of 8 nodes x 4
cores, joined by 1 Gb/s and 10 ms (configs/wide_area.yaml). It must be close to the ideal time, and ahead of stealing
from near to far. Few tasks may cross the lines between clusters.

The ideal is the time of a run on one core without overheads, divided among all cores, and one latency between clusters. The number of
tree nodes is that of the UTS benchmark's own program. With tasks of 80 ns the run is over before a task can cross a line.
"""

import json
import os
import subprocess
import sys
from statistics import mean

from script_arguments import script_arguments

CORES, NODES, LATENCY = 96, 8, 0.010  # of all clusters, of each, between two
TREE_NODES = 1031269  # T1 cut at depth 9


def main():
    arguments = script_arguments("heddle", "simulator")
    config = os.path.join(arguments.source, "configs", "wide_area.yaml")

    def run(*settings):
        sets = [word for setting in settings for word in ("--set", setting)]
        done = subprocess.run([arguments.heddle, "run", config, "--json", *sets], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    if run_without_simulation(arguments):
        return 77
    for unit_cost, amount in (("800f", "one"), ("800kf", "one"), ("800kf", "half")):
        sets = (f"workload.unit_cost={unit_cost}", f"schedule.stealing.amount={amount}")
        alone = run(*sets, "platform.nodes=1", "platform.cores=1", "platform.overheads=none")
        assert alone["answer"]["nodes"] == TREE_NODES, alone["answer"]
        ideal = alone["makespan_seconds"] / CORES + LATENCY
        ratios, shares, others = [], [], []
        for seed in (1, 2, 3):
            result = run(*sets, f"seed={seed}")
            steals = result["steals"]
            far = sum(tasks for thief, victim, tasks in steals["matrix"] if thief // NODES != victim // NODES)
            assert far == steals["between_groups"], (far, steals["between_groups"])
            shares.append(far / (steals["within_node"] + steals["between_nodes"]))
            ratios.append(result["makespan_seconds"] / ideal)
            others.append(run(*sets, f"seed={seed}", "schedule.stealing.victim=hierarchical")["makespan_seconds"] / ideal)
        print(f"{unit_cost}, {amount}: {ratios} of the ideal, hierarchical {others}; {shares} of all stolen tasks cross a line")
        assert mean(ratios) <= 1.15, "satin is far from the ideal"
        assert mean(ratios) < mean(others), "stealing from near to far is faster"
        assert max(shares) <= 0.15, "many tasks cross a line between clusters"
    return 0


def run_without_simulation(arguments):
    doctor = subprocess.run([arguments.heddle, "doctor", "--json"], capture_output=True, text=True, check=True)
    return not json.loads(doctor.stdout)["simulation"]


if __name__ == "__main__":
    sys.exit(main())
