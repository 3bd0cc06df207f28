"""Tests heddle launch --hosts by ssh if a host drops packets or never starts its process. The run ends within 15
seconds, with a message that names node and host and says what to do.
"""

from failing import fails
from namespaces import SSH_PROGRAMS, main


def filter_packets(host, *rules):
    """These rules of the chains `in` and `out`, and no others."""
    script = "nft flush ruleset; nft add table ip t; "
    for chain, hook in (("in", "input"), ("out", "output")):
        script += f"nft add chain ip t {chain} '{{ type filter hook {hook} priority 0; }}'; "
    host.shell(script + "; ".join(f"nft add rule ip t {rule}" for rule in rules))


def closed_ports(cluster):
    """h2 lets ssh in and nothing else, and sends nothing to ports but those of ssh: its packets are dropped."""
    host = cluster.hosts[1]
    filter_packets(host, "in tcp dport 22 accept", "in drop", "out tcp sport 22 accept", "out drop")
    fails(cluster, "a host with closed ports", "h1,h2", "node 1", "h2", "port")
    filter_packets(host, "in ip saddr 10.77.0.1 drop")
    fails(cluster, "closed ports between two hosts", "h1,h2", "node 1", "10.77.0.", "port")
    filter_packets(host)


def never_starts(cluster):
    host = cluster.hosts[1]
    cluster.restart_sshd(host, "ForceCommand sleep 1000\n")
    fails(cluster, "a host on which nothing starts", "h1,h2", "h2", "did not start")
    cluster.restart_sshd(host)
    fails(cluster, "a process that meets no other", "h1,h2", "node 1",
          command=("sh", "-c", f"[ $HEDDLE_RANK = 0 ] || exec sleep 1000; exec '{cluster.heddle}' run fib.yaml"))


def unreachable(cluster):
    """ssh's packets to h4 are dropped."""
    host = cluster.hosts[3]
    filter_packets(host, "in drop")
    fails(cluster, "a host that does not answer", "h1,h4", "could not start anything on h4")
    filter_packets(host)


def test(cluster):
    cluster.start_ssh()
    for case in (closed_ports, never_starts, unreachable):
        case(cluster)


if __name__ == "__main__":
    main(test, hosts=4, programs=(*SSH_PROGRAMS, "nft"))
