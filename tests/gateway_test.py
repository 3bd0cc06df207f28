"""Runs programs on three nodes in a line, where the outer two have no network in common and the middle one is their
gateway. Every backend gives the right answers, and the gateway has passed messages on. A network whose member does
not exist is refused with its line.
"""

import json
import os
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

TREE_NODES = 257042  # T1 cut at depth 8: the UTS program's count
MAP = {"name": "map_viewer", "width": 2400, "height": 2400, "factor": 4}
NETWORKS = [{"name": "left", "members": "0-1"}, {"name": "right", "members": "1-2"}]


def experiment(workload, stealing="random", **platform):
    return {"workload": workload, "platform": {"nodes": 3, "cores": 1, "networks": NETWORKS, **platform},
            "schedule": {"stealing": {"victim": stealing}}}


def check_bound(answer):
    """The plan lets each gateway take a whole fragment. The messages are shorter, and the run than the plan."""
    network = {"bandwidth": "1Gbps", "latency": "1us"}
    for flops in ("1Mf", "3Mf"):
        result = answer({"workload": {"name": "dag", "graph": f"fork_join:width=2,stages=1,flops={flops},bytes=1kB"},
                         "platform": {"nodes": 3, "cores": 1, "core_speed": "1Gf", "node_speeds": [1, 0.01, 1], "overheads": "none",
                                      "network": {"contention": "none"}, "networks": [{**joined, **network} for joined in NETWORKS]},
                         "schedule": {"placement": "portfolio", "stealing": {"victim": "none"}}}, "sim")
        assert result["makespan_seconds"] < result["promised_seconds"], result
        assert result["lower_bound_seconds"] <= result["makespan_seconds"], result


def main():
    arguments = script_arguments("heddle", "simulator")
    heddle = arguments.heddle
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run.yaml")

        def run(content, backend):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file)
            command = [heddle, "run", path, "--backend", backend, "--json"]
            if backend == "native":
                command = [heddle, "launch", "-n", "3", "--", *command]
            return subprocess.run(command, capture_output=True, text=True, timeout=120)

        def answer(content, backend):
            done = run(content, backend)
            assert done.returncode == 0, f"{backend}: {done.stderr}"
            result = json.loads(done.stdout)
            assert result["ok"], result
            return result

        for backend in ("inprocess", "sim", "native"):
            uts = {"name": "uts", "tree": "T1", "depth": 8 if backend != "inprocess" else 5}
            result = answer(experiment(uts), backend)
            if backend != "inprocess":
                assert result["answer"]["nodes"] == TREE_NODES, result["answer"]
            nqueens = answer(experiment({"name": "nqueens", "n": 8}), backend)
            assert nqueens["answer"]["solutions"] == 92, nqueens["answer"]
            # Tiles are larger than a fragment, and than a window.
            answer({**experiment({"name": "cholesky", "tiles": 4, "tile_size": 64},
                                 gateways={"fragment": "4KiB", "window": "16KiB"}),
                    "schedule": {"placement": "cyclic", "stealing": "none"}}, backend)

            answer(experiment({"name": "dataflow_cholesky"}), backend)
            for carrier in ("endpoints", "dispatcher"):
                shown = answer(experiment({**MAP, "carrier": carrier}), backend)
                assert shown["answer"]["tiles"] == 20, shown["answer"]

        check_bound(answer)

        wrong = experiment({"name": "fib", "n": 10})
        wrong["platform"]["networks"] = [NETWORKS[0], {"name": "right", "members": "1-3"}]
        for backend in ("inprocess", "sim", "native"):
            done = run(wrong, backend)
            assert done.returncode == 2 and "node 3" in done.stderr and path in done.stderr, done.stderr
        wrong["platform"]["networks"] = [{**NETWORKS[0], "adress": "x"}]
        done = run(wrong, "sim")
        assert done.returncode == 2 and 'unknown key "adress"' in done.stderr, done.stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
