"""Runs every command of docs/clusters.md on a cluster of namespaces, with ssh and Slurm. Each does what the page shows."""

import os
import re
import subprocess

from namespaces import SECONDS_MAX, SSH_PROGRAMS, check, main
from slurm import SLURM_PROGRAMS, Slurm

from docs_test import agrees  # namespaces adds the folder of docs_test to the path


def commands_in(text):
    """(command, expected output, exit code) for every command of the blocks `console cluster`."""
    found = []
    for block in re.findall(r"^```console cluster\n(.*?)^```$", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append([line[2:], [], 0])
            elif line.startswith("# exit "):
                found[-1][2] = int(line.split()[2])
            else:
                found[-1][1].append(line)
    return found


def test(cluster):
    cluster.start_ssh()
    Slurm(cluster)
    cluster.write("work/first.yaml", "name: first\nworkload: {name: nqueens, n: 8}\nplatform: {cores: 1}\nbackend: native\n")
    cluster.write("work/speedup.yaml", "name: speedup\nworkload: {name: nqueens, n: 9}\nplatform: {cores: 1}\nbackend: native\n"
                  "repeat: 2\ncompare: {platform.nodes: [1, 2]}\n")
    environment = {**cluster.environment, "PATH": os.path.dirname(cluster.heddle) + ":" + cluster.environment["PATH"]}
    with open(os.path.join(cluster.source, "docs", "clusters.md"), encoding="utf-8") as file:
        commands = commands_in(file.read())
    check(len(commands) >= 8, f"only {len(commands)} commands were found")
    for command, expected, code in commands:
        result = subprocess.run(["sh", "-c", command], cwd=cluster.work, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS_MAX)
        check(result.returncode == code, f"{command}: exit code {result.returncode}, not {code}\n{result.stdout}")
        check(not expected or agrees(expected, result.stdout), f"{command}: prints\n{result.stdout}")
    cluster.check_nothing_runs("the page")


if __name__ == "__main__":
    main(test, hosts=2, programs=(*SSH_PROGRAMS, *SLURM_PROGRAMS))
