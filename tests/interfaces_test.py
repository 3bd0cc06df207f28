"""Tests the addresses and ports of native runs: transport.interface, transport.ports, transport.meeting_time and the
options of `heddle launch`. It uses IPv4 and IPv6, TCP and UDP. If root allows, it makes a network namespace with
interfaces of its own, and sees there that sockets have the address that was named.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time

from lost_process_test import children, wait_for
from script_arguments import script_arguments

SECONDS_MAX = 120
INSIDE = "HEDDLE_TEST_INTERFACES"
LISTENS = "0A"
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


class Runs:
    def __init__(self, heddle, directory):
        self.heddle = heddle
        self.path = os.path.join(directory, "run.yaml")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("workload: {name: nqueens, n: 8}\nbackend: native\nplatform: {cores: 1}\ntransport: {local: tcp}\n")

    def words(self, sets, launch=(), nodes=2):
        command = [self.heddle, "launch", "-n", str(nodes), *launch, "--", self.heddle, "run", self.path]
        return command + [word for one in sets for word in ("--set", one)]

    def run(self, sets, launch=(), nodes=2):
        return subprocess.run(self.words(sets, launch, nodes), capture_output=True, text=True, timeout=SECONDS_MAX)

    def works(self, sets, launch=(), nodes=2):
        done = self.run(sets, launch, nodes)
        check(done.returncode == 0 and "solutions 92" in done.stdout, f"{sets} {launch}: {done.stdout}{done.stderr}")

    def refuses(self, parts, sets, launch=()):
        done = self.run(sets, launch)
        check(done.returncode != 0, f"{sets} {launch} is no error")
        for part in parts:
            check(part in done.stderr, f'{sets} {launch}: "{part}" is not in\n{done.stderr}')


def free_ports(count):
    """So many neighbouring ports that are free now: the first."""
    for first in range(20000 + os.getpid() % 5000, 32000, count):
        held = []
        try:
            for port in range(first, first + count):
                held.append(socket.socket())
                held[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in held:
                one.close()
    sys.exit("no free ports")


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def takes_addresses(runs):
    for transport in ("tcp", "udp"):
        by = f"platform.transport={transport}"
        runs.works([by, "transport.interface=lo"])
        runs.works([by, "transport.interface=127.0.0.0/8"], nodes=3)
        if has_ipv6():
            runs.works([by, "transport.interface=::1"], ["--address", "[::1]"])
            runs.works([by, "transport.interface=::1/128"], ["--address", "::1"])
    runs.refuses(['no interface "wrong0"', "lo (127.0.0.1)", "transport.interface"], ["transport.interface=wrong0"])
    runs.refuses(["no address of this machine is in 203.0.113.0/24", "lo (127.0.0.1)"], ["transport.interface=203.0.113.0/24"])
    runs.refuses(["203.0.113.1 is no address of this machine"], ["transport.interface=203.0.113.1"])
    runs.refuses(["is no subnet", "10.1.0.0/16"], ["transport.interface=127.0.0.0/33"])
    runs.refuses(["no address of this machine is in 203.0.113.0/24"], [], ["--address", "203.0.113.0/24"])


def takes_ports(runs):
    first = free_ports(6)
    runs.works([f"transport.ports={first}-{first + 1}"])
    runs.works([f"transport.ports={first}-{first + 1}"])  # at once again
    runs.works(["platform.transport=udp", f"transport.ports={first}-{first + 1}"], ["--ports", f"{first + 2}-{first + 5}"])
    runs.refuses([f"no port of {first} is free", "state more ports"], [f"transport.ports={first}"])
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", first))
        taken.listen()
        runs.refuses([f"no port of {first} is free"], [], ["--ports", str(first)])
        runs.works([f"transport.ports={first}-{first + 2}"])
    for wrong in ("5-4", "0-7", "x", "1-65536", "1-2-3"):
        runs.refuses(["no range of ports"], [f"transport.ports={wrong}"])


def waits_as_long_as_stated(runs):
    start = time.monotonic()
    one_is_late = "[ $HEDDLE_RANK = 0 ] || sleep 30; exec \"$@\""
    command = [runs.heddle, "launch", "-n", "2", "--meeting-time", "1", "--", "sh", "-c", one_is_late, "sh", runs.heddle, "run",
               runs.path, "--set", "transport.meeting_time=1s"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
    check("node 1 did not come within 1 s" in done.stderr, f"a late node: {done.stderr}")
    check(time.monotonic() - start < 9, "a meeting time of 1 s took longer than the default")


def sockets_of(pid, listening):
    """The local addresses of a process's TCP sockets over IPv4, as numbers."""
    own = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # the process may close one meanwhile
            own.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    found = set()
    with open(f"/proc/{pid}/net/tcp", encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in own and (fields[3] == LISTENS) == listening:
                found.add(socket.inet_ntoa(bytes.fromhex(fields[1].split(":")[0])[::-1]))
    return found


def uses_what_it_names(runs):
    """In the namespace: first0 has 10.81.0.1, and second0 10.82.0.1 and fd82::1."""
    for interface in ("second0", "10.82.0.0/16", "10.82.0.1"):
        run = subprocess.Popen(runs.words(["workload.n=17", f"transport.interface={interface}"]), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        try:
            nodes = wait_for(lambda: (lambda all: all if len(all) == 2 else None)(
                [pid for pid, environment in children(run.pid).items() if b"HEDDLE_RANK" in environment]), 20, "two processes")
            # A node listens at the address, and its connection to the other node is there.
            seen = wait_for(lambda: all("10.82.0.1" in sockets_of(pid, False) for pid in nodes) and
                            [sockets_of(pid, True) for pid in nodes], 30, f"{interface}: connections at 10.82.0.1")
            check(all(one == {"10.82.0.1"} for one in seen), f"{interface}: nodes listen at {seen}")
        finally:
            run.terminate()
            run.communicate()
    runs.works(["transport.interface=fd82::/64"])
    runs.works(["transport.interface=fd82::/64", "platform.transport=udp"], ["--address", "fd82::1"])
    runs.works([], ["--address", "second0"])
    runs.refuses(["first0 (10.81.0.1)", "second0 (fd82::1)"], ["transport.interface=third0"])


def in_namespace(arguments):
    """Runs this script in a namespace with two interfaces. False: there can be none."""
    setup = ("ip link set lo up && for i in first second; do ip link add ${i}0 type bridge && ip link set ${i}0 up || exit 99; done; "
             "ip addr add 10.81.0.1/16 dev first0 && ip addr add 10.82.0.1/16 dev second0 && "
             "ip addr add fd82::1/64 dev second0 nodad || exit 99; exec \"$@\"")
    if subprocess.run(["unshare", "--net", "sh", "-c", setup, "sh", "true"], capture_output=True).returncode:
        return False
    done = subprocess.run(["unshare", "--net", "sh", "-c", setup, "sh", sys.executable, "-B", __file__, "--source", arguments.source,
                           "--build", arguments.build, "--heddle", arguments.heddle], env={**os.environ, INSIDE: "1"})
    if done.returncode:
        failures.append("in a namespace")
    return True


def main():
    arguments = script_arguments("heddle")
    with tempfile.TemporaryDirectory() as directory:
        runs = Runs(arguments.heddle, directory)
        if INSIDE in os.environ:
            uses_what_it_names(runs)
        else:
            takes_addresses(runs)
            takes_ports(runs)
            waits_as_long_as_stated(runs)
            if not in_namespace(arguments):
                print("no network namespace can be made here: interfaces of its own are not tested")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
