"""Tests two native processes in two clusters (platform.clusters) under the policy satin. All tasks that move between
them answer requests for which no worker waits. The count of the tree's nodes is the UTS program's. Clusters that hold
another number of nodes are refused.
"""

import json
import os
import subprocess
import sys

from script_arguments import script_arguments

TREE_NODES = 257042  # T1 cut at depth 8


def main():
    arguments = script_arguments("heddle")
    config = os.path.join(arguments.source, "configs", "uts.yaml")

    def launch(clusters, seed):
        sets = ["workload.depth=8", "platform.nodes=2", "platform.cores=1", "schedule.stealing.victim=satin",
                f"platform.clusters={clusters}", f"seed={seed}"]
        command = [arguments.heddle, "launch", "-n", "2", "--", arguments.heddle, "run", config, "--backend", "native", "--json"]
        return subprocess.run(command + [word for one in sets for word in ("--set", one)], capture_output=True, text=True)

    stolen = 0
    for seed in range(1, 11):
        done = launch("[1, 1]", seed)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["ok"] and result["answer"]["nodes"] == TREE_NODES, result["answer"]
        steals = result["steals"]
        assert steals["between_groups"] == steals["between_nodes"], steals
        stolen += steals["between_groups"]
    assert stolen > 0, "no task moved between the clusters in ten runs"
    print(f"ten runs, {stolen} tasks moved between the clusters")

    refused = launch("[1, 2]", 1)
    assert refused.returncode == 2 and "platform.clusters holds 3 nodes, but the run has 2" in refused.stderr, refused
    return 0


if __name__ == "__main__":
    sys.exit(main())
