"""Tests nodes that join and leave on two networks with a gateway. Three programs, each one file, run in simulation and
natively: the answers are right, the nodes that joined worked, and simulations repeat to the byte. A gateway that joins late
or leaves is refused with its line, and so are nodes that join by MPI.
"""

import json
import os
import re
import signal
import subprocess
import tempfile

from lost_process_test import children, wait_for
from member_networks_testing import (BY_UDP, CARRIERS, CHOLESKY, ENVIRONMENT, LONG, MAP, UTS, experiment, joined, result_of, run,
                                     write)
from script_arguments import script_arguments

PROGRAMS = [(UTS, {}), (CHOLESKY, {"placement": "cyclic"}), (MAP, {})]


def simulated(heddle, path):
    """The nodes join at 30% of what four nodes take alone."""
    for workload, schedule in PROGRAMS:
        write(path, {**experiment(workload, "1s", **schedule)})
        alone = result_of(heddle, path, "sim")
        assert joined(alone) == 0, alone["members"]
        for seed in range(1, 5):
            at = 0.3 * alone["makespan_seconds"]
            leaves_at = f"{1.5 * at}s" if workload is UTS else None
            write(path, experiment(workload, f"{at}s", leaves_at, **schedule))
            result = result_of(heddle, path, "sim", "--set", f"seed={seed}")
            assert result["makespan_seconds"] < alone["makespan_seconds"], (workload, seed)
            assert joined(result) == 2, (workload, seed, result["members"])
            if leaves_at:
                assert result["members"][0]["left_seconds"] >= 1.5 * at, result["members"]
        assert same(heddle, path), workload


def same(heddle, path):
    """Whether two runs give the same but for the time that they took here."""
    def without_times():
        result = result_of(heddle, path, "sim")
        for of_the_host in ("wall_seconds", "peak_memory_bytes", "placement_seconds"):
            result.pop(of_the_host, None)
        return json.dumps(result)

    return without_times() == without_times()


def native(heddle, path):
    for carriers, modules in ((CARRIERS, "separate"), (CARRIERS, "single"), (BY_UDP, "separate")):
        came = 0
        for workload, schedule in LONG:
            leaves_at = "100ms" if workload["name"] == "uts" else None
            write(path, experiment(workload, "1ms", leaves_at, carriers=carriers, **schedule, modules=modules))
            came += joined(result_of(heddle, path, "native"))
        assert came > 0, f"no node has joined ({carriers}, {modules}): the test shows nothing"


def a_gateway_gets_the_signal(heddle, path):
    write(path, experiment({"name": "nqueens", "n": 14}, "1ms", carriers=CARRIERS))
    command = [heddle, "launch", "-n", "4", "--capacity", "6", "--", heddle, "run", path, "--backend", "native"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=ENVIRONMENT) as launcher:
        def gateway():
            return [pid for pid, environment in children(launcher.pid).items()
                    if environment.get(b"HEDDLE_RANK") == b"2" and listens(pid)]

        os.kill(wait_for(gateway, 20, "the gateway")[0], signal.SIGUSR1)
        output, errors = launcher.communicate(timeout=120)
    assert launcher.returncode == 0 and "365596" in output, output + errors
    assert "node 2 is a gateway" in errors, errors
    assert "node 2 left" not in output, output


def listens(process):
    """Whether it has a handler for SIGUSR1; else the signal would end it."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8") as file:
            caught = next(line for line in file if line.startswith("SigCgt")).split()[1]
    except (OSError, StopIteration):
        return False
    return int(caught, 16) >> (signal.SIGUSR1 - 1) & 1 == 1


def refused(heddle, path):
    def expect(content, backend, line_with, *words):
        write(path, content)
        done = run(heddle, path, backend)
        with open(path, encoding="utf-8") as file:
            line = 1 + next(number for number, text in enumerate(file) if line_with in text)
        assert done.returncode == 2, done.stderr
        for word in (f"{path}:", *words):
            assert word in done.stderr, (word, done.stderr)
        places = [int(found) for found in re.findall(re.escape(path) + r":(\d+)", done.stderr)]
        assert any(abs(line - place) <= 3 for place in places), (line, done.stderr)

    leaves = experiment(UTS, "1ms")
    leaves["platform"]["events"].append({"at": "2ms", "node": 2, "member": False})
    late = experiment(UTS, "1ms")
    late["platform"]["networks"][0]["members"] = "0-1,4"
    late["platform"]["networks"][1]["members"] = "2-5"
    for backend in ("sim", "native"):
        expect(leaves, backend, '"2ms"', "would have to pass node 2", "takes part from the beginning to the end")
        expect(late, backend, '"1ms"', "would have to pass node 4", "let another node that stays")
    by_mpi = experiment(UTS, "1ms", carriers=({"transport": "mpi"}, {}))
    expect(by_mpi, "native", '"mpi"', "MPI carries a network")


def main():
    heddle = script_arguments("heddle", "simulator").heddle
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "run.yaml")
        refused(heddle, path)
        simulated(heddle, path)
        native(heddle, path)
        a_gateway_gets_the_signal(heddle, path)


main()
