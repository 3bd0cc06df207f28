"""Runs a problem on four hosts, 0, 1 and 20 ms from each other, started in every way. These are ssh, srun with PMI-2 and
PMIx, launch in an allocation, a batch script, and mpirun. The result is right and names the four hosts.
"""

import json
import shutil

from namespaces import SSH_PROGRAMS, check, main
from slurm import SLURM_PROGRAMS, Slurm
from solutions import check_solutions

SOLUTIONS = 73712  # nqueens 13 (OEIS A000170)
DELAYS = (0, 0.001, 0.02)


def check_distance(cluster, delay):
    result = cluster.run(cluster.heddle, "doctor", "--hosts", "h1,h2", "--json")
    if not check(result.returncode == 0, f"doctor, {delay} s: exit code {result.returncode}\n{result.stdout}{result.stderr}"):
        return
    for pair in json.loads(result.stdout)["pairs"]:
        latency = pair["latency_seconds"]
        check(delay <= latency < delay + 0.01, f"hosts that are {delay} s from each other, and doctor says {latency}")


def test(cluster):
    cluster.start_ssh()
    slurm = Slurm(cluster)
    cluster.environment.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    queens = cluster.experiment("queens", workload={"name": "nqueens", "n": 13}, platform={"cores": 1})
    run = [cluster.heddle, "run", queens, "--json"]
    launch = [cluster.heddle, "launch"]
    names = ",".join(cluster.names)
    starts = {"ssh": [*launch, "--hosts", names, "--", *run],
              "srun --mpi=pmi2": ["srun", "--mpi=pmi2", "-N4", "-n4", *run],
              "srun --mpi=pmix": ["srun", "--mpi=pmix", "-N4", "-n4", *run],
              "salloc and launch": ["salloc", "-N4", *launch, "--", *run]}
    if shutil.which("mpirun"):
        starts["mpirun"] = ["mpirun", "--mca", "plm", "rsh", "--host", names, "-n", "4", *run]
    else:
        print("skipped: mpirun is missing")
    for delay in DELAYS:
        cluster.set_delay(delay)
        check_distance(cluster, delay)
        for start, words in starts.items():
            result = cluster.run(*words)
            ended = result.returncode, result.stdout, result.stderr
            check_solutions(cluster, f"{start}, {delay} s", ended, SOLUTIONS, cluster.names)
        ended = slurm.run_batch([*launch, "--", *run])
        check_solutions(cluster, f"sbatch, {delay} s", ended, SOLUTIONS, cluster.names)


if __name__ == "__main__":
    main(test, hosts=4, programs=(*SSH_PROGRAMS, *SLURM_PROGRAMS), delays=True)
