"""Tests that a run's process, also one that a launcher starts, has asked the C library for huge pages, except where the
user has set otherwise. Other programs that a launcher starts have not.
"""

import json
import os
import subprocess
import sys
import tempfile

from lost_process_test import children, wait_for
from script_arguments import SKIPPED, script_arguments

MODES = "/sys/kernel/mm/transparent_hugepage/enabled"
TUNABLES = b"GLIBC_TUNABLES"


def environment_of(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return dict(entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry)


def tunables(command, given, is_run, expected):
    """Starts the command, and waits until the process for which `is_run(environment)` has `expected`."""
    environment = {key: value for key, value in os.environ.items() if key != "GLIBC_TUNABLES"}
    run = subprocess.Popen(command, env={**environment, **given}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def seen():
            processes = {run.pid: environment_of(run.pid), **children(run.pid)}
            return [one.get(TUNABLES) for one in processes.values() if is_run(one)] == [expected]
        wait_for(seen, 20, f"{command[:3]} with {given} to have {expected}")
    finally:
        run.terminate()
        run.wait()


def main():
    options = script_arguments("heddle")
    with open(MODES, encoding="ascii") as file:
        if "[madvise]" not in file.read():
            print("skipped: the system does not give huge pages on request")
            sys.exit(SKIPPED)
    if os.environ.get("HEDDLE_SANITIZE"):
        print("skipped: a sanitizer has a heap of its own")
        sys.exit(SKIPPED)
    heddle = options.heddle
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"workload": {"name": "uts", "tree": "T1XL", "check": "none"}, "backend": "native",
                       "platform": {"nodes": 1, "cores": 1}}, file)
        asks = b"glibc.malloc.hugetlb=1"
        tunables([heddle, "run", path], {}, lambda one: True, asks)
        tunables([heddle, "run", path], {"GLIBC_TUNABLES": asks.decode()[:-1] + "0"}, lambda one: True, asks[:-1] + b"0")
        tunables([heddle, "launch", "-n", "1", "--", heddle, "run", path], {}, lambda one: b"HEDDLE_RANK" in one, asks)
        # Other programs are left alone.
        launched = [heddle, "launch", "-n", "1", "--", "sleep", "100"]
        tunables(launched, {}, lambda one: b"HEDDLE_RANK" in one, None)
        other = "glibc.malloc.perturb=0"
        tunables(launched, {"GLIBC_TUNABLES": other}, lambda one: b"HEDDLE_RANK" in one, other.encode())
    print("runs ask for huge pages, except where the user has set otherwise")


if __name__ == "__main__":
    main()
