"""Tests nodes that join and leave a run on several hosts, a millisecond from each other. Those that join go to the hosts
with free slots, do work and are in the result. One leaves by a signal. The answer is right. A node that is killed
ends the run.
"""

import json
import os
import signal
import subprocess
import time

from namespaces import SSH_PROGRAMS, check, main, wait_for

SOLUTIONS = 14772512  # nqueens 16 (OEIS A000170)
SECONDS_MAX = 240


def start(cluster, queens):
    words = [cluster.heddle, "launch", "--hosts", ",".join(cluster.names), "-n", "2", "--capacity", "4", "--name", "search",
             "--", "heddle", "run", queens, "--json"]
    run = subprocess.Popen(words, env=cluster.environment, cwd=cluster.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(nodes(cluster)) == 2, 20, "two nodes")
    time.sleep(1)
    return run


def nodes(cluster):
    """The process of each node."""
    found = {}
    for process, command in cluster.heddle_processes():
        if " run " not in command or " launch " in command:
            continue
        with open(f"/proc/{process}/environ", "rb") as file:
            entries = file.read().split(b"\0")
        found.update({int(entry.split(b"=")[1]): process for entry in entries if entry.startswith(b"HEDDLE_RANK=")})
    return found


def joined_and_left(cluster, queens):
    run = start(cluster, queens)
    asked = cluster.run(cluster.heddle, "launch", "--join", "search", "-n", "2")
    check(asked.returncode == 0 and "node 2 was started on h3, node 3 was started on h4" in asked.stdout,
          f"join: exit code {asked.returncode}\n{asked.stdout}{asked.stderr}")
    wait_for(lambda: len(nodes(cluster)) == 4, 20, "four nodes")
    time.sleep(1)
    os.kill(nodes(cluster)[1], signal.SIGUSR1)
    beyond = cluster.run(cluster.heddle, "launch", "--join", "search")
    check(beyond.returncode != 0 and "capacity" in beyond.stderr, f"join beyond the capacity: {beyond.stdout}{beyond.stderr}")
    output, errors = run.communicate(timeout=SECONDS_MAX)
    if not check(run.returncode == 0, f"the run: exit code {run.returncode}\n{errors}"):
        return
    found = json.loads(output)
    check(found["ok"] and found["answer"]["solutions"] == SOLUTIONS, f"the answer is {found['answer']}")
    check(found["hosts"] == cluster.names, f"the hosts are {found['hosts']}")
    print(found["members"])
    for node in (2, 3):
        member = next((member for member in found["members"] if member["node"] == node), None)
        check(member and member["tasks"] > 0, f"node {node} joined and did no work: {found['members']}")
    check(any(member["node"] == 1 and member["left_seconds"] is not None for member in found["members"]),
          f"node 1 did not leave: {found['members']}")
    cluster.check_nothing_runs("members")


def killed(cluster, queens):
    run = start(cluster, queens)
    cluster.run(cluster.heddle, "launch", "--join", "search")
    wait_for(lambda: len(nodes(cluster)) == 3, 20, "three nodes")
    time.sleep(1)
    os.kill(nodes(cluster)[2], signal.SIGKILL)
    errors = run.communicate(timeout=SECONDS_MAX)[1]
    check(run.returncode != 0 and "node 2" in errors, f"a node that had joined was killed: {run.returncode}\n{errors}")
    cluster.check_nothing_runs("a node that had joined was killed", 15)


def test(cluster):
    cluster.start_ssh()
    cluster.set_delay(0.001)
    queens = cluster.experiment("queens", workload={"name": "nqueens", "n": 16}, platform={"cores": 1})
    joined_and_left(cluster, queens)
    killed(cluster, queens)


if __name__ == "__main__":
    main(test, hosts=4, programs=SSH_PROGRAMS, delays=True)
