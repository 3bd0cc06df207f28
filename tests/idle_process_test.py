"""Tests that processes without work use no processor. Of three processes two have nothing to do, and their processor
time is read while the third works. Every way to connect processes of one machine is tried, with separate modules and
with a single one.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from lost_process_test import children, local_of, network_of, processor_seconds, wait_for
from script_arguments import SKIPPED, script_arguments

SECONDS = 1.0
SHARE_MAX = 0.05  # a thread that looks all the time has 1 if no other program wants the core


def check(heddle, local, modules, directory):
    path = os.path.join(directory, "run.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"workload": {"name": "uts", "tree": "T1XL", "check": "none"}, "backend": "native",
                   "platform": {"nodes": 3, "cores": 1, **network_of(local)}, "transport": {"local": local_of(local)},
                   "schedule": {"modules": modules, "stealing": {"victim": "none"}}}, file)
    run = subprocess.Popen([heddle, "launch", "-n", "3", "--", heddle, "run", path],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        processes = wait_for(lambda: (lambda all: all if len(all) == 3 else None)(
            {int(environment[b"HEDDLE_RANK"]): pid for pid, environment in children(run.pid).items()
             if b"HEDDLE_RANK" in environment}), 20, "three processes")
        wait_for(lambda: processor_seconds(processes[0]) > 0.5, 60, "work on node 0")
        before = {rank: processor_seconds(pid) for rank, pid in processes.items()}
        time.sleep(SECONDS)
        used = {rank: processor_seconds(pid) - before[rank] for rank, pid in processes.items()}
        if run.poll() is not None:
            sys.exit(f"the run ended by itself: exit {run.returncode}\n{run.stderr.read()}")
    finally:
        run.terminate()
        run.communicate()
    what = f"{local}, {modules}: processor seconds in {SECONDS} s: {used}"
    if max(used[1], used[2]) > SHARE_MAX * SECONDS:
        sys.exit(f"{what}; a node without work used more than {SHARE_MAX}")
    if used[0] == 0:
        sys.exit(f"{what}; node 0 did not work")
    print(what)


if __name__ == "__main__":
    options = script_arguments("heddle")
    if os.environ.get("HEDDLE_SANITIZE") == "thread":
        print("skipped: ThreadSanitizer has a thread of its own, which is not idle")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as directory_of_test:
        for way in ("shared_memory", "unix", "tcp", "udp"):
            for kind in ("separate", "single"):
                check(options.heddle, way, kind, directory_of_test)
