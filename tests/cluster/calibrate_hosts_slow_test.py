"""Tests heddle calibrate --hosts: the network that it finds between two hosts has the delay that lies between them. Half
of the way is `network.latency`, because a message passes two links. Values of the machine itself do not change, and both
hosts are compared.
"""

import re

from namespaces import SSH_PROGRAMS, check, main

DELAYS = (0.002, 0.02)


def calibrated(cluster, *words):
    """The file that calibrate writes, or None."""
    result = cluster.run(cluster.heddle, "calibrate", "--quick", "--repetitions", "3", "--force", *words, "--out", "here.yaml",
                         seconds_max=600)
    if not check(result.returncode == 0, f"calibrate {words}: exit code {result.returncode}\n{result.stdout}{result.stderr}"):
        return None
    with open(f"{cluster.work}/here.yaml", encoding="utf-8") as file:
        return file.read()


def test(cluster):
    cluster.start_ssh()
    for delay in DELAYS:
        cluster.set_delay(delay)
        text = calibrated(cluster, "--hosts", "h1,h2")
        if text is None:
            continue
        found = re.search(r"network:.*?latency: ([0-9.e+-]+) *(ps|ns|us|ms|s)\b", text, re.S)
        if check(found is not None, f"no latency of a network in\n{text}"):
            latency = float(found[1]) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[found[2]]
            check(delay / 2 <= latency < delay / 2 + 0.001, f"hosts that are {delay} s from each other, and a link of {latency} s")
        hosts = re.findall(r"- \{host: \"(h[12])\", core: ([0-9.]+), memory: ([0-9.]+), slow: (?:true|false)\}", text)
        check([name for name, _, _ in hosts] == ["h1", "h2"], f"the hosts that were compared: {hosts}")
    result = cluster.run(cluster.heddle, "calibrate", "--quick", "--force", "--hosts", "h1,nowhere", "--out", "none.yaml")
    check(result.returncode != 0 and "nowhere" in result.stderr, f"an unknown host: exit code {result.returncode}\n{result.stderr}")
    cluster.check_nothing_runs("calibrate")


if __name__ == "__main__":
    main(test, hosts=2, programs=SSH_PROGRAMS, delays=True)
