"""For tests: programs on two networks with a gateway, while nodes join and leave. Four nodes begin, and the third of them is
the gateway. One more joins on each network. The same file runs in simulation and natively.
"""

import json
import subprocess

from outside_a_job import ENVIRONMENT

TREE_NODES = {8: 257042, 10: 4130071}  # T1 cut at that depth: the UTS program's counts
UTS = {"name": "uts", "tree": "T1", "depth": 8}
# Tiles are larger than a fragment. The answer is checked by its residual.
CHOLESKY = {"name": "cholesky", "tiles": 8, "tile_size": 96}
MAP = {"name": "map_viewer", "width": 9600, "height": 2400, "factor": 8, "requests": 3}
# The same, long enough for processes that start meanwhile.
LONG = [({**UTS, "depth": 10}, {}), ({**CHOLESKY, "tiles": 16, "tile_size": 128}, {"placement": "cyclic"}),
        ({**MAP, "height": 4800}, {})]
BY_UDP = [{"transport": "unix"}, {"transport": "udp", "interface": "127.0.0.3"}]
CARRIERS = [{"transport": "tcp", "interface": "127.0.0.2"}, {"transport": "shared_memory"}]


def experiment(workload, at, leaves_at=None, carriers=({}, {}), **schedule):
    events = [{"at": at, "node": node, "member": True} for node in (4, 5)]
    if leaves_at:
        events.append({"at": leaves_at, "node": 1, "member": False})
    networks = [{"name": "left", "members": "0-2,4", **carriers[0]},
                {"name": "right", "members": "2-3,5", "latency": "2us", **carriers[1]}]
    return {"workload": workload, "schedule": schedule,
            "platform": {"nodes": 6, "nodes_at_start": 4, "cores": 1, "networks": networks, "events": events}}


def write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)


def run(heddle, path, backend, *options):
    command = [heddle, "run", path, "--backend", backend, *options]
    if backend == "native":
        command = [heddle, "launch", "-n", "4", "--capacity", "6", "--", *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)


def result_of(heddle, path, backend, *options):
    """The result, whose answer the program has checked."""
    done = run(heddle, path, backend, "--json", *options)
    assert done.returncode == 0, f"{backend} {options}: exit code {done.returncode}\n{done.stderr}"
    result = json.loads(done.stdout)
    assert result["ok"], result
    if result["workload"] == "uts":
        assert result["answer"]["nodes"] == TREE_NODES[result["answer"]["depth"]], result["answer"]
    return result


def joined(result):
    """How many nodes joined and ran tasks."""
    return sum(1 for member in result.get("members", []) if member["node"] >= 4 and member.get("tasks", 0) > 0)
