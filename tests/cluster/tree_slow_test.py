"""Tests heddle launch --hosts by a tree of starters: some hosts start further ones, by ssh or by srun. The run is right.
The launcher, a starter in the middle or a node is killed, and nothing is left running on any host.
"""

import os
import signal
import subprocess
import time

from failing import fails
from namespaces import SSH_PROGRAMS, check, main, wait_for
from slurm import SLURM_PROGRAMS, Slurm
from solutions import check_solutions

SOLUTIONS = 724  # nqueens 10 (OEIS A000170)


def processes(cluster, word):
    return [name for name, command in cluster.heddle_processes() if f" {word}" in command + " "]


def host_of(process):
    """The host name that a process sees."""
    return subprocess.run(["nsenter", "-t", str(process), "--uts", "hostname"], capture_output=True, text=True, check=True).stdout.strip()


def on_host(cluster, word, host):
    return next(process for process in processes(cluster, word) if host_of(process) == host)


def runs_are_right(cluster, branches):
    queens = cluster.experiment("queens", workload={"name": "nqueens", "n": 10}, platform={"cores": 1})
    names = ",".join(cluster.names)
    run = ("heddle", "run", queens, "--json")
    for count in branches:
        result = cluster.launch(names, *run, options=("--branches", str(count)))
        check_solutions(cluster, f"{count} branches, by ssh", (result.returncode, result.stdout, result.stderr), SOLUTIONS,
                        cluster.names)
        result = cluster.run("salloc", f"-N{len(cluster.names)}", cluster.heddle, "launch", "--branches", str(count), "--", *run)
        check_solutions(cluster, f"{count} branches, by srun", (result.returncode, result.stdout, result.stderr), SOLUTIONS,
                        cluster.names)


def leaves_nothing_running(cluster, branches):
    long = cluster.experiment("long", workload={"name": "nqueens", "n": 16}, platform={"cores": 1})
    names = ",".join(cluster.names)
    victims = {"the launcher": lambda launcher: launcher.pid,
               "the starter on h2": lambda _: on_host(cluster, "launch-part", "h2"),
               "the starter on h1": lambda _: on_host(cluster, "launch-part", "h1"),
               "the node on h4": lambda _: on_host(cluster, "run", "h4")}
    for count in branches:
        for what, victim in victims.items():
            words = [cluster.heddle, "launch", "--hosts", names, "--branches", str(count), "--", cluster.heddle, "run", long]
            launcher = subprocess.Popen(words, env=cluster.environment, cwd=cluster.work, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            wait_for(lambda: len(processes(cluster, "run")) >= len(cluster.names) + 1, 60, "a node on each host")
            time.sleep(1)
            begin = time.monotonic()
            os.kill(victim(launcher), signal.SIGKILL)
            errors = launcher.communicate(timeout=60)[1]
            case = f"{count} branches, {what} is killed"
            cluster.check_nothing_runs(case, 15)
            print(f"{case}: {time.monotonic() - begin:.1f} s, exit code {launcher.returncode}\n{errors}")
            check(launcher.returncode != 0, f"{case}: exit code 0")
            check(time.monotonic() - begin < 15, f"{case}: takes {time.monotonic() - begin:.0f} s")
            if what == "the node on h4":
                check("node 3" in errors and "h4" in errors, f"{case}: {errors}")


def far_failures(cluster):
    """What goes wrong between two hosts is told where the launcher runs."""
    fails(cluster, "an unknown host", "h1,h2,nowhere", "could not start anything on nowhere from h2", "--branches",
          options=("--branches", "1"))
    host = cluster.hosts[2]
    folder = os.path.dirname(cluster.heddle)
    host.shell(f"mount -t tmpfs none '{folder}'")
    fails(cluster, "a host without the binary", "h1,h2,h3", f"{cluster.heddle} cannot be run on h3", options=("--branches", "1"))
    host.shell(f"umount '{folder}'")


def test(cluster):
    cluster.start_ssh()
    Slurm(cluster)
    runs_are_right(cluster, (1, 2))
    far_failures(cluster)
    leaves_nothing_running(cluster, (1, 2))


if __name__ == "__main__":
    main(test, hosts=4, programs=(*SSH_PROGRAMS, *SLURM_PROGRAMS))
