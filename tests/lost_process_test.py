"""Tests the loss of a process: one of four is killed in the middle of a run. The others must stop within ten seconds and
name the lost node. The launcher must end with a non-zero exit code. No process and no result may be left behind.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from script_arguments import script_arguments

SECONDS_MAX = 10


def children(parent):
    """Process ids below `parent`, with their environment."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                above = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{entry}/environ", "rb") as file:
                environment = dict(item.split(b"=", 1) for item in file.read().split(b"\0") if b"=" in item)
        except (OSError, ValueError):
            continue
        if above == parent:
            found[int(entry)] = environment
    return found


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    sys.exit(f"{what}: not within {seconds} s")


def network_of(way):
    """What joins machines, where `way` joins two processes."""
    return {"transport": "udp"} if way == "udp" else {}


def local_of(way):
    """`transport.local`: UDP joins processes of one machine if they are joined as machines are."""
    return "tcp" if way == "udp" else way


def processor_seconds(pid):
    """Processor time that a process has used so far; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    except OSError:
        return 0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def start_seconds(heddle):
    """Processor time that a process takes to start: much longer under a sanitizer."""
    before = os.times()
    subprocess.run([heddle, "--version"], stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def lose(heddle, victim, modules, local, directory):
    path = os.path.join(directory, "run.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"workload": {"name": "uts", "tree": "T1XL", "check": "none"}, "backend": "native",
                   "platform": {"nodes": 4, "cores": 1, **network_of(local)}, "schedule": {"modules": modules},
                   "transport": {"local": local_of(local)}}, file)
    results = os.path.join(directory, f"results{victim}")
    shared_before = set(os.listdir("/dev/shm"))
    run = subprocess.Popen([heddle, "launch", "-n", "4", "--", heddle, "run", path, "--out", results],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    processes = wait_for(lambda: (lambda all: all if len(all) == 4 else None)(
        {int(environment[b"HEDDLE_RANK"]): pid for pid, environment in children(run.pid).items()
         if b"HEDDLE_RANK" in environment}), 20, "four processes")
    # In the middle of the run, which would take minutes: all have used more than it takes to start.
    enough = 0.2 + 2 * start_seconds(heddle)
    wait_for(lambda: run.poll() is not None or all(processor_seconds(pid) > enough for pid in processes.values()), 120,
             "the middle of the run")
    if run.poll() is not None:
        sys.exit(f"the run ended by itself: exit {run.returncode}\n{run.stderr.read()}")
    os.kill(processes[victim], signal.SIGKILL)
    start = time.monotonic()
    try:
        output, errors = run.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        run.kill()
        sys.exit(f"node {victim} killed: the others still run after {SECONDS_MAX} s")
    seconds = time.monotonic() - start
    if run.returncode == 0:
        sys.exit(f"node {victim} killed: exit code 0")
    if f"node {victim}" not in errors or "lost" not in errors:
        sys.exit(f"node {victim} killed: no message names it:\n{errors}")
    left = [pid for pid in processes.values() if os.path.exists(f"/proc/{pid}")]
    if left:
        sys.exit(f"node {victim} killed: processes {left} are left")
    files = [file for _, _, names in os.walk(results) for file in names]
    if files:
        sys.exit(f"node {victim} killed: results are left: {files}")
    shared = set(os.listdir("/dev/shm")) - shared_before
    if [name for name in shared if "heddle" in name]:
        sys.exit(f"node {victim} killed: shared memory is left: {shared}")
    print(f"node {victim} killed, {local}: exit {run.returncode} after {seconds:.2f} s: {errors.strip().splitlines()[0]}")


if __name__ == "__main__":
    options = script_arguments("heddle")
    with tempfile.TemporaryDirectory() as directory:
        for node, modules, local in ((0, "separate", "shared_memory"), (2, "separate", "shared_memory"),
                                     (1, "single", "shared_memory"), (0, "separate", "tcp"), (2, "separate", "unix"),
                                     (1, "single", "tcp"), (3, "single", "unix"), (2, "separate", "udp"), (0, "single", "udp")):
            lose(options.heddle, node, modules, local, directory)
