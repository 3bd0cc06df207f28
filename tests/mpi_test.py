"""Tests native runs over MPI. Programs on 2 and 4 ranks find what they find on one node. Rank 0 reports mistakes once.
If a rank is killed, all end. A build without MPI says so. Skipped if there is no mpirun.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from script_arguments import script_arguments

PROGRAMS = [{"name": "fib", "n": 20}, {"name": "nqueens", "n": 8}, {"name": "uts", "tree": "T1", "depth": 6},
            {"name": "cholesky", "tiles": 4, "tile_size": 32}]
SECONDS_MAX = 120
SKIP = 77

# More ranks than cores, and as root: Open MPI wants to be told. Others have no such doubts.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def experiment(directory, program, **platform):
    path = os.path.join(directory, program["name"] + ".yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"workload": program, "backend": "native", "platform": {"cores": 1, **platform}}, file)
    return path


def run(*words):
    return subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=SECONDS_MAX)


def mpirun(ranks, *words):
    return run("mpirun", "-n", str(ranks), *words)


def answer(result, what):
    check(result.returncode == 0, f"{what}: exit code {result.returncode}\n{result.stderr}")
    try:
        return json.loads(result.stdout)["answer"]
    except ValueError:
        check(False, f"{what}: not one JSON object:\n{result.stdout}")
        return None


def without_mpi(heddle, directory):
    result = run(heddle, "run", experiment(directory, PROGRAMS[0], transport="mpi"))
    check(result.returncode == 2, f"exit code {result.returncode}")
    check("built without MPI" in result.stderr and "install" in result.stderr, result.stderr)


def same_answers(heddle, directory):
    for program in PROGRAMS:
        name = program["name"]
        path = experiment(directory, program, transport="mpi")
        alone = answer(run(heddle, "run", path, "--json"), f"{name} alone")
        for ranks in (2, 4):
            there = answer(mpirun(ranks, heddle, "run", path, "--json"), f"{name} on {ranks}")
            check(there == alone, f"{name} on {ranks}: {there}, not {alone}")
            print(f"{name} on {ranks}: {there}")


def one_network(heddle, directory):
    """MPI carries one of three networks, between two that it does not: frames and messages pass it."""
    networks = [{"name": "left", "members": "0-1", "transport": "tcp", "interface": "127.0.0.2"},
                {"name": "middle", "members": "1-2", "transport": "mpi"},
                {"name": "right", "members": "2-3", "transport": "shared_memory"}]
    path = os.path.join(directory, "networks.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"workload": {"name": "uts", "tree": "T1", "depth": 8}, "backend": "native",
                   "platform": {"nodes": 4, "cores": 1, "networks": networks}}, file)
    result = mpirun(4, heddle, "run", path, "--json")
    there = answer(result, "one network by MPI")
    check(there and there["nodes"] == 257042, f"one network by MPI: {there}")  # the UTS program's count
    check(not there or json.loads(result.stdout)["versions"].get("mpi"), f"the result names no MPI:\n{result.stdout}")
    result = run(heddle, "launch", "-n", "4", "--", heddle, "run", path)
    check(result.returncode == 2 and "mpirun -n 4" in result.stderr, f"launch:\n{result.stderr}")
    result = mpirun(4, heddle, "run", path, "--set", "platform.transport=mpi")
    check(result.returncode == 2 and "carries all networks" in result.stderr, f"all by MPI:\n{result.stderr}")
    for setting, words in (("transport.protection=encryption", "sends messages as they are"),
                           ("schedule.modules=single", "over TCP and UDP only")):
        result = mpirun(4, heddle, "run", path, "--set", setting)
        check(result.returncode == 2 and words in result.stderr and '"middle"' in result.stderr and path in result.stderr,
              f"{setting}, with one network by MPI:\n{result.stderr}")


def only_network(heddle, directory):
    """No process listens for others, so none has an address at the meeting."""
    networks = json.dumps([{"name": "a", "members": "0-1", "transport": "mpi"}])
    path = experiment(directory, PROGRAMS[1], nodes=2)
    there = answer(mpirun(2, heddle, "run", path, "--json", "--set", f"platform.networks={networks}"), "the only network by MPI")
    check(there and there["solutions"] == 92, f"the only network by MPI: {there}")


def several_runs(heddle, directory):
    """Results are rank 0's alone; one run after another; mpirun is started by heddle itself."""
    path = experiment(directory, PROGRAMS[1], transport="mpi", nodes=2)
    out = os.path.join(directory, "results")
    result = run(heddle, "run", path, "--repeat", "3", "--out", out)
    check(result.returncode == 0, f"three runs: {result.stderr}")
    check(result.stdout.count("median") == 1, f"three runs, one table:\n{result.stdout}")
    with open(os.path.join(out, "runs.csv"), encoding="utf-8") as file:
        check(len(file.readlines()) == 4, "three runs: runs.csv has other lines")


def mistakes(heddle, directory):
    path = experiment(directory, PROGRAMS[0], transport="mpi", nodes=3)
    result = mpirun(2, heddle, "run", path)
    check(result.returncode != 0, "3 nodes on 2 ranks: exit code 0")
    check(result.stderr.count("3 nodes need 3 MPI ranks, and there are 2") == 1, f"3 nodes on 2 ranks:\n{result.stderr}")
    result = mpirun(2, heddle, "run", path, "--set", "platform.nods=2")
    check(result.returncode == 2 and result.stderr.count('unknown key "nods"') == 1, f"unknown key:\n{result.stderr}")
    result = run(heddle, "launch", "-n", "2", "--", "heddle", "run", path)
    check(result.returncode == 2 and "mpirun -n 2" in result.stderr, f"launch:\n{result.stderr}")


def ranks_of(path):
    """Process ids of the ranks that run an experiment."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().decode().split("\0")
            with open(f"/proc/{entry}/environ", "rb") as file:
                environment = dict(item.split(b"=", 1) for item in file.read().split(b"\0") if b"=" in item)
        except OSError:
            continue
        if path in words and words[0].endswith("heddle") and b"OMPI_COMM_WORLD_RANK" in environment:
            found[int(environment[b"OMPI_COMM_WORLD_RANK"])] = int(entry)
    return found


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def lost_rank(heddle, directory):
    path = experiment(directory, {"name": "uts", "tree": "T1XL", "check": "none"}, transport="mpi", nodes=3)
    running = subprocess.Popen(["mpirun", "-n", "3", heddle, "run", path], env=ENVIRONMENT, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + 60
        while len(ranks := ranks_of(path)) < 3:
            if time.monotonic() > end:
                return check(running.poll() is None, "no three ranks")  # of another launcher: not to be found
            time.sleep(0.1)
        time.sleep(1)  # in the middle of the run, which would take minutes
        os.kill(ranks[2], signal.SIGKILL)
        _, errors = running.communicate(timeout=30)
        check(running.returncode != 0, f"rank 2 killed: exit code 0\n{errors}")
        end = time.monotonic() + 10
        while any(map(runs, ranks.values())) and time.monotonic() < end:
            time.sleep(0.1)
        check(not any(map(runs, ranks.values())), "rank 2 killed: processes are left")
    finally:
        running.kill()


if __name__ == "__main__":
    options = script_arguments("heddle")
    with tempfile.TemporaryDirectory() as directory:
        if not json.loads(run(options.heddle, "doctor", "--json").stdout)["mpi"]:
            without_mpi(options.heddle, directory)
        elif shutil.which("mpirun"):
            for test in (same_answers, one_network, only_network, several_runs, mistakes, lost_rank):
                test(options.heddle, directory)
        else:
            print("skipped: there is no mpirun")
            sys.exit(SKIP)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)
