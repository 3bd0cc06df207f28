"""Tests heddle launch --hosts by ssh: four hosts solve a problem together. A fault on one host ends the run within 15
seconds. The message names the host and says what to do. ssh_waits_slow_test.py has the faults that take these
seconds.
"""

import json
import os

from failing import fails
from namespaces import SSH_PROGRAMS, check, main


def four_hosts_solve(cluster):
    queens = cluster.experiment("queens", workload={"name": "nqueens", "n": 9}, platform={"cores": 1})
    result = cluster.launch(",".join(cluster.names), "heddle", "run", queens, "--json")
    if not check(result.returncode == 0, f"nqueens on four hosts: exit code {result.returncode}\n{result.stderr}"):
        return
    found = json.loads(result.stdout)
    check(found["ok"] and found["answer"]["solutions"] == 352, f"nqueens 9 has 352 solutions (OEIS A000170), not {found['answer']}")
    check(found.get("hosts") == cluster.names, f"the result names the hosts {found.get('hosts')}")
    cluster.check_nothing_runs("nqueens on four hosts")


def unknown_host(cluster):
    fails(cluster, "an unknown host", "h1,nowhere", "could not start anything on nowhere", "ssh", "true")


def password(cluster):
    host = cluster.hosts[1]
    cluster.restart_sshd(host, "PasswordAuthentication yes\nPubkeyAuthentication no\n")
    fails(cluster, "a host that wants a password", "h1,h2", "could not start anything on h2", "without a question")
    cluster.restart_sshd(host)


def missing_binary(cluster):
    host = cluster.hosts[2]
    folder = os.path.dirname(cluster.heddle)
    host.shell(f"mount -t tmpfs none '{folder}'")
    fails(cluster, "a host without the binary", "h1,h3", f"{cluster.heddle} cannot be run on h3", "install")
    host.shell(f"umount '{folder}'")


def missing_folder(cluster):
    host = cluster.hosts[2]
    host.shell(f"mount -t tmpfs none '{cluster.directory}'")
    fails(cluster, "a host without the working directory", "h1,h3", "h3", cluster.directory)
    host.shell(f"umount '{cluster.directory}'")


def missing_library(cluster):
    """The loader looks for a library that is covered by an empty file."""
    host = cluster.hosts[2]
    library = cluster.run("sh", "-c", f"ldd '{cluster.heddle}' | sed -n 's/.*=> \\(.*libsodium[^ ]*\\) .*/\\1/p'").stdout.strip()
    empty = cluster.write("empty", "")
    host.shell(f"mount --bind '{empty}' '{library}'")
    fails(cluster, "a host without a library", "h1,h3", f"{cluster.heddle} cannot be run on h3", "libsodium")
    host.shell(f"umount '{library}'")


def other_build(cluster):
    """The same program with another build id."""
    host = cluster.hosts[3]
    other = cluster.other_build()
    host.shell(f"mount --bind '{other}' '{cluster.heddle}'")
    fails(cluster, "a host with another build", "h1,h4", "h4", "another build", "install")
    host.shell(f"umount '{cluster.heddle}'")


def test(cluster):
    cluster.start_ssh()
    four_hosts_solve(cluster)
    for case in (unknown_host, password, missing_binary, missing_folder, missing_library, other_build):
        case(cluster)


if __name__ == "__main__":
    main(test, hosts=4, programs=SSH_PROGRAMS)
