"""Tests several networks natively, between processes: four in a line of two TCP addresses and shared memory. They run
three programs right, with each kind of modules. A process behind gateways that is killed ends the run with an error.
Impossible networks are refused with their line.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

from lost_process_test import children, wait_for
from script_arguments import script_arguments

LINE = [{"name": "left", "members": "0-1", "transport": "tcp", "interface": "127.0.0.1"},
        {"name": "right", "members": "1-2", "transport": "tcp", "interface": "127.0.0.2"},
        {"name": "inside", "members": "2-3", "transport": "shared_memory"}]
TREE_NODES = 257042  # T1 cut at depth 8: the UTS program's count
LOSS_SECONDS_MAX = 15


def experiment(workload, networks, schedule=None):
    return {"workload": workload, "backend": "native", "platform": {"nodes": 4, "cores": 1, "networks": networks},
            "schedule": schedule or {}}


def main():
    heddle = script_arguments("heddle").heddle
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run.yaml")

        def command(content, *options):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(content, file)
            return [heddle, "launch", "-n", "4", "--", heddle, "run", path, *options]

        def run(content):
            return subprocess.run(command(content, "--json"), capture_output=True, text=True, timeout=120)

        def answer(content):
            done = run(content)
            assert done.returncode == 0, done.stderr
            result = json.loads(done.stdout)
            assert result["ok"], result
            return result["answer"]

        by_udp = [LINE[0], {**LINE[1], "transport": "udp", "interface": "127.0.0.2"}, {**LINE[2], "transport": "unix"}]
        for networks in (LINE, by_udp):
            for modules in ("separate", "single"):
                schedule = {"modules": modules}
                assert answer(experiment({"name": "uts", "tree": "T1", "depth": 8}, networks,
                                         schedule))["nodes"] == TREE_NODES
                assert answer(experiment({"name": "nqueens", "n": 10}, networks, schedule))["solutions"] == 724
                # Tiles are larger than a fragment. The answer is checked by its residual.
                answer(experiment({"name": "cholesky", "tiles": 6, "tile_size": 128}, networks,
                                  {**schedule, "placement": "cyclic"}))

        lose_the_last(command(experiment({"name": "uts", "tree": "T1XL", "check": "none"}, LINE)))

        def refused(network, *words):
            done = run(experiment({"name": "fib", "n": 10}, [network, *LINE[1:]]))
            assert done.returncode != 0 and path in done.stderr, done.stderr
            for word in words:
                assert word in done.stderr, (word, done.stderr)

        refused({**LINE[0], "interface": "192.0.2.1"}, "192.0.2.1")
        refused({**LINE[0], "transport": "tpc"}, "platform.networks.transport", "known: tcp, udp")
        refused({**LINE[0], "ports": "70000"}, "70000")
    return 0


def lose_the_last(command):
    """Node 3 is killed. Nodes 0 and 1 are connected to others only."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as launcher:
        def node(rank):
            return [pid for pid, environment in children(launcher.pid).items()
                    if environment.get(b"HEDDLE_RANK") == str(rank).encode()]
        processes = wait_for(lambda: sum((node(rank) for rank in range(4)), []) if node(3) else [], 20, "the start")
        try:
            launcher.wait(timeout=1)  # all have met by then
        except subprocess.TimeoutExpired:
            os.kill(node(3)[0], signal.SIGKILL)
        _, errors = launcher.communicate(timeout=LOSS_SECONDS_MAX)
    assert launcher.returncode != 0 and "node 3" in errors, errors
    assert not any(os.path.exists(f"/proc/{pid}") for pid in processes), "a process is left"


if __name__ == "__main__":
    sys.exit(main())
