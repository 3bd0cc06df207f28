"""Tests native runs whose nodes join and leave. The answers are right each time, and a process that is killed ends the
run with an error. `heddle launch --join` reports what it did.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from outside_a_job import ENVIRONMENT
from script_arguments import script_arguments

SECONDS_MAX = 300
RUNS = 20
SHORT, SHORT_ANSWER = "{name: uts, tree: T1}", "4130071"
LONG, LONG_ANSWER = "{name: nqueens, n: 16}", "14772512"  # OEIS A000170
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def experiment(directory, name, workload, events):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"workload: {workload}\nbackend: native\n"
                   f"platform: {{cores: 1, nodes: 4, nodes_at_start: 2, events: [{events}]}}\n")
    return path


def start(heddle, *words):
    return subprocess.Popen([heddle, "launch", *words], env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def end(process):
    output, errors = process.communicate(timeout=SECONDS_MAX)
    return process.returncode, output, errors


def process_of_node(launcher, node):
    """The process that the launcher started as that node."""
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/status", encoding="utf-8") as file:
                if f"PPid:\t{launcher}\n" not in file.read():
                    continue
            with open(f"/proc/{entry}/environ", "rb") as file:
                if f"HEDDLE_RANK={node}".encode() in file.read().split(b"\0"):
                    return int(entry)
        except (OSError, ValueError):
            continue
    return None


def at_times(heddle, directory):
    """Two nodes join and one leaves, at the times of events."""
    events = ("{at: 5ms, node: 2, member: true}, {at: 10ms, node: 3, member: true}, "
              "{at: 40ms, node: 1, member: false}")
    file = experiment(directory, "events.yaml", SHORT, events)
    for number in range(RUNS):
        code, output, errors = end(start(heddle, "-n", "2", "--capacity", "4", "--", "heddle", "run", file,
                                         "--set", f"seed={number + 1}"))
        check(code == 0 and SHORT_ANSWER in output and "WRONG" not in output,
              f"run {number}: exit code {code}\n{output}{errors}")


def by_users(heddle, directory):
    file = experiment(directory, "plain.yaml", LONG, "")
    name = f"test-{os.getpid()}"
    run = start(heddle, "-n", "2", "--capacity", "3", "--name", name, "--", "heddle", "run", file)
    time.sleep(0.5)
    code, output, errors = end(start(heddle, "--join", name))
    check(code == 0 and "node 2 was started here" in output, f"join: exit code {code}\n{output}{errors}")
    code, output, errors = end(start(heddle, "--join", name))
    check(code != 0 and "capacity" in errors, f"join beyond the capacity: exit code {code}\n{output}{errors}")
    code, output, errors = end(start(heddle, "--join", "nothing-" + name))
    check(code != 0 and name in errors, f"join of an unknown run: exit code {code}\n{output}{errors}")
    code, output, errors = end(run)
    check(code == 0 and LONG_ANSWER in output, f"the run that was joined: exit code {code}\n{output}{errors}")


def by_signal(heddle, directory):
    file = experiment(directory, "signal.yaml", LONG, "")
    for sent, good in ((signal.SIGUSR1, True), (signal.SIGKILL, False)):
        run = start(heddle, "-n", "2", "--capacity", "4", "--", "heddle", "run", file)
        time.sleep(0.5)
        process = process_of_node(run.pid, 1)
        check(process is not None, "node 1 was not found")
        if process is not None:
            os.kill(process, sent)
        code, output, errors = end(run)
        check((code == 0 and LONG_ANSWER in output) if good else (code != 0 and "node 1" in errors),
              f"{sent.name} to node 1: exit code {code}\n{output}{errors}")


def main():
    arguments = script_arguments()
    with tempfile.TemporaryDirectory() as directory:
        by_users(arguments.heddle, directory)
        by_signal(arguments.heddle, directory)
        at_times(arguments.heddle, directory)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
