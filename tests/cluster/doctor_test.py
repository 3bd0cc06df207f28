"""Tests heddle doctor --hosts. It reports what would make a run fail: a host without the binary or with a password,
closed ports, another build. It also reports what hosts and their network are like, and oddities such as an unusual
MTU.
"""

import json
import os
import shutil

from namespaces import SSH_PROGRAMS, check, main


def doctor(cluster, hosts, code, *options):
    result = cluster.run(cluster.heddle, "doctor", "--hosts", hosts, *options)
    check(result.returncode == code, f"doctor --hosts {hosts}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    cluster.check_nothing_runs("doctor")
    return result.stdout


def healthy(cluster):
    found = json.loads(doctor(cluster, "h1,h2,h3", 0, "--json"))
    check([node["name"] for node in found["nodes"]] == ["h1", "h2", "h3"], f"the nodes are {found['nodes']}")
    check(len(found["pairs"]) == 6, f"the pairs are {found['pairs']}")
    for node in found["nodes"]:
        check(node["cores"] >= 1 and node["kernel"] == os.uname().release and node["memory_bytes"] > 1 << 20, f"a node is {node}")
    for pair in found["pairs"]:
        check(0 < pair["latency_seconds"] < 1 and pair["bandwidth"] > 1e6 and pair["mtu"] == 1500, f"a pair is {pair}")
        check(abs(pair["clock_offset_seconds"]) < 1, f"one machine has one clock: {pair}")
    check(not any(oddity["prevents_runs"] for oddity in found["oddities"]), f"odd: {found['oddities']}")
    text = doctor(cluster, "h1,h2", 0)
    check("latency" in text and "bandwidth" in text and "quota" in text and "h2" in text, f"prints\n{text}")


def says(cluster, what, hosts, code, *parts):
    text = doctor(cluster, hosts, code)
    for part in parts:
        check(part in text, f'{what}: "{part}" is not in\n{text}')


def odd(cluster):
    h1, h2, h3, h4 = cluster.hosts
    h2.shell("ip link set eth0 mtu 1400")
    says(cluster, "an MTU", "h1,h2,h3,h4", 0, "h2 to h1 has an MTU of 1400", "set one MTU")
    h2.shell("ip link set eth0 mtu 1500")
    says(cluster, "an unknown host", "h1,nowhere", 1, "nowhere does not answer", "resolve hostname", "without a question")
    folder = os.path.dirname(cluster.heddle)
    h3.shell(f"mount -t tmpfs none '{folder}'")
    says(cluster, "a missing binary", "h1,h3", 1, "h3 does not answer", "No such file", "same build")
    h3.shell(f"umount '{folder}'")
    other = cluster.other_build()
    h4.shell(f"mount --bind '{other}' '{cluster.heddle}'")
    says(cluster, "another build", "h1,h4", 1, "h4 has another build", "install the same build")
    h4.shell(f"umount '{cluster.heddle}'")
    if shutil.which("nft"):
        h2.shell("nft add table ip t; nft add chain ip t in '{ type filter hook input priority 0; }'; "
                 "nft add rule ip t in ip saddr 10.77.0.1 tcp sport != 22 drop")
        says(cluster, "closed ports", "h1,h2", 1, "h1 to h2: cannot connect", "firewall")


def test(cluster):
    cluster.start_ssh()
    healthy(cluster)
    odd(cluster)


if __name__ == "__main__":
    main(test, hosts=4, programs=SSH_PROGRAMS)
