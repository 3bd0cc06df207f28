"""Tests runs within Slurm on four hosts: by srun with PMI-2 and PMIx, by launch in an allocation, by a batch script.
Each finds the right answer on four hosts. Processes that would each run the whole experiment are refused.
"""

import os
import shutil
import signal
import subprocess
import time

from namespaces import check, main, wait_for
from solutions import check_solutions
from slurm import SLURM_PROGRAMS, Slurm

SOLUTIONS = 724  # nqueens 10 (OEIS A000170)


def check_result(cluster, what, code, out, error, hosts=None):
    check_solutions(cluster, what, (code, out, error), SOLUTIONS, hosts or cluster.names)


def srun(cluster, queens):
    for kind in ("pmi2", "pmix"):
        result = cluster.run("srun", f"--mpi={kind}", "-N4", "-n4", cluster.heddle, "run", queens, "--json")
        check_result(cluster, f"srun --mpi={kind}", result.returncode, result.stdout, result.stderr)
    result = cluster.run("srun", "--mpi=pmi2", "-N2", "-n4", cluster.heddle, "run", queens, "--json")
    check_result(cluster, "two processes a host", result.returncode, result.stdout, result.stderr, 2 * cluster.names[:2])


def refused(cluster, queens):
    one = cluster.experiment("one", workload={"name": "nqueens", "n": 8}, platform={"nodes": 1, "cores": 1})
    simulated = cluster.experiment("simulated", workload={"name": "nqueens", "n": 8}, backend="sim")
    cases = [("a one-node file", ["--mpi=pmi2"], one, "4 processes were started", "as many processes as nodes"),
             ("a one-node file", ["--mpi=pmix"], one, "4 processes were started", "as many processes as nodes"),
             ("a simulation", ["--mpi=pmi2"], simulated, "would run the whole experiment", "start one process"),
             ("no PMI", ["--mpi=none"], queens, "would run the whole experiment", "srun --mpi=pmi2"),
             ("a file that is missing", ["--mpi=pmi2"], "missing.yaml", "missing.yaml", "")]
    for what, options, path, *parts in cases:
        start = time.monotonic()
        result = cluster.run("srun", *options, "-N4", "-n4", cluster.heddle, "run", path, "--json")
        check(result.returncode == 2 and not result.stdout, f"{what}: exit code {result.returncode}, prints {result.stdout}")
        check(all(part in result.stderr for part in parts), f"{what}: {result.stderr}")
        check(result.stderr.count("heddle: ") == 1, f"{what}: said once:\n{result.stderr}")
        check(time.monotonic() - start < 15, f"{what}: takes more than 15 s")
    cluster.check_nothing_runs("refused processes")


def fails_on_one_host(cluster, queens):
    """One process of four cannot read its file: the others do not wait for it."""
    host = cluster.hosts[2]
    host.shell(f"mount --bind /dev/null '{queens}'")
    for kind in ("pmi2", "pmix"):
        start = time.monotonic()
        result = cluster.run("srun", f"--mpi={kind}", "-N4", "-n4", cluster.heddle, "run", queens, "--json")
        check(result.returncode == 2 and not result.stdout, f"{kind}, a mistake on h3: {result.returncode} {result.stdout}")
        check("node 2, on h3, cannot take part" in result.stderr and "queens.yaml" in result.stderr,
              f"{kind}, a mistake on h3: {result.stderr}")
        check(time.monotonic() - start < 15, f"{kind}, a mistake on h3: takes more than 15 s")
    host.shell(f"umount '{queens}'")
    cluster.check_nothing_runs("a mistake on one host")


def allocation(cluster, queens):
    for words, hosts in ((("-N4",), cluster.names), (("-N2", "-n4"), 2 * cluster.names[:2])):
        result = cluster.run("salloc", *words, cluster.heddle, "launch", "--", "heddle", "run", queens, "--json")
        check_result(cluster, f"salloc {' '.join(words)} and launch", result.returncode, result.stdout, result.stderr, hosts)


def batch(cluster, slurm, queens):
    check_result(cluster, "sbatch", *slurm.run_batch([cluster.heddle, "launch", "--", "heddle", "run", queens, "--json"]))


def leaves_nothing_running(cluster, slurm, queens):
    """A process of four is killed, the launcher is killed, the job is cancelled."""
    long = cluster.experiment("long", workload={"name": "nqueens", "n": 15}, platform={"cores": 1})
    run = (cluster.heddle, "run", long, "--json")
    starts = {"srun": ("srun", "--mpi=pmi2", "-N4", "-n4", *run), "launch": ("salloc", "-N4", cluster.heddle, "launch", "--", *run)}
    for start, words in starts.items():
        for how in ("node", "start", "job"):
            started = subprocess.Popen(words, env=cluster.environment, cwd=cluster.work, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            runs = lambda: [name for name, command in cluster.heddle_processes() if " run " in command and "launch" not in command]
            wait_for(lambda: len(runs()) == 4, 20, f"{start}: four nodes")
            time.sleep(1)
            if how == "job":
                cluster.run("scancel", slurm.jobs()[0].split()[0])
            elif how == "node":
                os.kill(runs()[-1], signal.SIGKILL)
            else:
                ours = [name for name, command in cluster.heddle_processes() if " launch -- " in command]
                os.kill(ours[0] if start == "launch" else started.pid, signal.SIGKILL)
            begin = time.monotonic()
            error = started.communicate(timeout=60)[1]
            what = f"{start}, {how} ended"
            salloc_alone_lives = start == "launch" and how == "start"
            check(started.returncode != 0 or salloc_alone_lives, f"{what}: exit code 0")
            cluster.check_nothing_runs(what, 15)
            check(time.monotonic() - begin < 20, f"{what}: takes {time.monotonic() - begin:.0f} s")
            if how == "node":
                check("was lost" in error and "h" in error, f"{what}: {error}")
            wait_for(lambda: slurm.idle() == 4, 40, "all hosts idle again")


def mpirun(cluster, queens):
    """Processes that Open MPI's mpirun starts, and that TCP connects. On one host: more need ssh."""
    if not shutil.which("mpirun"):
        print("skipped: mpirun is missing")
        return
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    cluster.environment.update(environment)
    result = cluster.run("mpirun", "-n", "4", cluster.heddle, "run", queens, "--json")
    check_result(cluster, "mpirun", result.returncode, result.stdout, result.stderr, 4 * ["login"])


def test(cluster):
    slurm = Slurm(cluster)
    queens = cluster.experiment("queens", workload={"name": "nqueens", "n": 10}, platform={"cores": 1})
    srun(cluster, queens)
    refused(cluster, queens)
    fails_on_one_host(cluster, queens)
    allocation(cluster, queens)
    batch(cluster, slurm, queens)
    leaves_nothing_running(cluster, slurm, queens)
    mpirun(cluster, queens)


if __name__ == "__main__":
    main(test, hosts=4, programs=SLURM_PROGRAMS)
