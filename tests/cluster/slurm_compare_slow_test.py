"""Tests comparisons by Slurm's job arrays: 60 simulated cells, and 12 native ones of 1, 2 and 3 processes. Meanwhile a
host fails and a task is cancelled. Submitted again, the arrays run the missing cells, and no finished cell runs
twice. The tables of the simulated cells are those of a local run, byte for byte.
"""

import json
import os
import signal
import subprocess

from namespaces import check, main, wait_for
from slurm import SLURM_PROGRAMS, Slurm

SIMULATED = """name: simulated
workload: {name: uts, tree: T1, depth: 7}
platform: {cores: 2}
backend: sim
repeat: 4
compare:
  platform.nodes: [1, 2, 4]
  schedule.stealing.victim: [none, random, local_first, hierarchical, lifeline]
"""
NATIVE = """name: native
workload: {name: nqueens, n: 14}
platform: {cores: 1}
backend: native
repeat: 4
compare: {platform.nodes: [1, 2, 3]}
"""


def results_of(folder):
    """Each finished cell, with what changes if it runs again."""
    found = {}
    for cell in os.listdir(folder):
        path = os.path.join(folder, cell, "result.json")
        if os.path.exists(path):
            status = os.stat(path)
            found[cell] = (status.st_ino, status.st_mtime_ns)
    return found


def check_kept(what, before, folder):
    now = results_of(folder)
    check(all(now.get(cell) == told for cell, told in before.items()), f"{what}: a finished cell ran again")


def fail(host):
    """All processes of the host die, as if it had lost its power."""
    network = os.readlink(f"/proc/{host.process}/ns/net")
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/ns/net") == network and int(name) != host.process:
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            pass


def submit(cluster, file, folder, *words):
    result = cluster.run(cluster.heddle, "compare", file, "--out", folder, "--slurm", "--submit", *words)
    check(result.returncode == 0, f"{file}: {result.stdout}{result.stderr}")
    return [line.split()[-1] for line in result.stdout.splitlines() if line.startswith("Submitted batch job")]


def fail_during(cluster, jobs, task, folder, finished):
    """When so many cells have finished, h1 fails and a task is cancelled. What has finished by then."""
    wait_for(lambda: len(results_of(folder)) >= finished, 120, f"{finished} results")
    fail(cluster.hosts[0])
    subprocess.run(["scancel", f"{jobs[-1]}_{task}"], check=False)
    return results_of(folder)


def simulated(cluster, slurm):
    cluster.write("work/simulated.yaml", SIMULATED)
    local = cluster.run(cluster.heddle, "compare", "simulated.yaml", "--out", "local")
    check(local.returncode == 0, f"the local run: {local.stderr}")
    folder = os.path.join(cluster.work, "simulated")
    jobs = submit(cluster, "simulated.yaml", "simulated", "--tasks", "8", "--jobs", "1")
    check(len(jobs) == 1, f"simulated cells: the jobs {jobs}")
    before = fail_during(cluster, jobs, 1, folder, 5)
    print(f"{len(before)} of 60 cells had finished when h1 failed and task 1 was cancelled")
    check(len(before) < 60, "all cells had finished before the failures")
    check(slurm.wait_for_jobs(180), f"still there: {slurm.jobs()}")
    after = results_of(folder)
    print(f"{len(after)} of 60 cells have finished")
    slurm.start_daemon(cluster.hosts[0])
    submit(cluster, "simulated.yaml", "simulated", "--tasks", "8", "--jobs", "1")
    check(slurm.wait_for_jobs(180), f"still there: {slurm.jobs()}")
    check(len(results_of(folder)) == 60, f"{len(results_of(folder))} of 60 cells have finished")
    check_kept("after the failures", before, folder)
    check_kept("submitted again", after, folder)
    shown = cluster.run(cluster.heddle, "compare", "simulated.yaml", "--out", "simulated", "--show")
    check(shown.returncode == 0 and shown.stdout == local.stdout, f"the tables differ:\n{shown.stdout}{shown.stderr}{local.stdout}")
    for table in ("runs.csv", "comparison.csv"):
        texts = []
        for name in ("local", "simulated"):
            with open(os.path.join(cluster.work, name, table), "rb") as file:
                texts.append(file.read())
        check(texts[0] == texts[1], f"{table} differs from that of a local run")
    check(not os.listdir(os.path.join(folder, "claims")), f"claims are left: {os.listdir(os.path.join(folder, 'claims'))}")


def native(cluster, slurm):
    cluster.write("work/native.yaml", NATIVE)
    jobs = submit(cluster, "native.yaml", "native", "--tasks", "2")
    check(len(jobs) == 3, f"native cells of 1, 2 and 3 nodes: the jobs {jobs}")
    folder = os.path.join(cluster.work, "native")
    before = fail_during(cluster, jobs, 0, folder, 3)
    print(f"{len(before)} of 12 native cells had finished when h1 failed and task 0 of the last array was cancelled")
    check(len(before) < 12, "all native cells had finished before the failures")
    check(slurm.wait_for_jobs(240), f"still there: {slurm.jobs()}")
    after = results_of(folder)
    print(f"{len(after)} of 12 native cells have finished")
    slurm.start_daemon(cluster.hosts[0])
    submit(cluster, "native.yaml", "native", "--tasks", "2")
    check(slurm.wait_for_jobs(240), f"still there: {slurm.jobs()}")
    check_kept("native cells, after the failures", before, folder)
    check_kept("native cells, submitted again", after, folder)
    shown = cluster.run(cluster.heddle, "compare", "native.yaml", "--out", "native", "--show")
    logs = "".join(open(os.path.join(cluster.work, "native", name), encoding="utf-8").read()
                   for name in os.listdir(os.path.join(cluster.work, "native")) if name.startswith("slurm-"))
    check(shown.returncode == 0, f"native cells: {shown.stdout}{shown.stderr}{logs}")
    sizes = []
    for cell in results_of(folder):
        with open(os.path.join(folder, cell, "timing.json"), encoding="utf-8") as file:
            hosts = json.load(file)["hosts"]
        check(len(set(hosts)) == len(hosts), f"a cell of {len(hosts)} nodes ran on {hosts}")
        sizes.append(len(hosts))
    check(sorted(sizes) == 4 * [1] + 4 * [2] + 4 * [3], f"the cells ran on {sorted(sizes)} hosts")


def test(cluster):
    slurm = Slurm(cluster)
    native(cluster, slurm)
    simulated(cluster, slurm)


if __name__ == "__main__":
    main(test, hosts=4, programs=SLURM_PROGRAMS)
