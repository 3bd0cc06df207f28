"""For tests: several hosts on this machine, made of network, host-name and mount namespaces on a bridge, each with an
sshd. A test calls `main(test, hosts=4)`, and `test` gets a `Cluster`. The hosts are h1, h2, ...; the process itself
runs on the host `login`. With `delays=True` a delay line replaces the bridge, and `Cluster.set_delay` says how far
the hosts are from each other.

Everything happens in a process namespace of its own. When its first process ends, however it ends, the kernel ends all
others and removes mounts and networks. Nothing of the machine is changed.
"""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from script_arguments import script_arguments

SKIP = 77
SECONDS_MAX = 120
INSIDE = "HEDDLE_TEST_CLUSTER"
UNSHARE = ["unshare", "--net", "--uts", "--mount", "--pid", "--ipc", "--fork", "--kill-child=KILL", "--mount-proc",
           "--propagation", "private"]
NETWORK = "10.77.0."
LOGIN = NETWORK + "254"
BRIDGE = "bridge0"
SSH_PROGRAMS = ("sshd", "ssh", "ssh-keygen")

SSHD_CONFIG = """Port 22
HostKey /run/host_key
AuthorizedKeysFile /run/user_key.pub
PidFile none
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
PermitRootLogin yes
MaxStartups 200
MaxSessions 200
LogLevel ERROR
"""
SSH_CONFIG = """Host *
    IdentityFile /run/user_key
    GlobalKnownHostsFile /run/known_hosts
    UserKnownHostsFile none
    StrictHostKeyChecking yes
"""

failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
    return condition


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def why_not(programs):
    """Why this machine cannot have such a cluster, or None."""
    for program in programs:
        if not shutil.which(program, path=search_path()):
            return f"{program} is missing (scripts/packages.sh cluster installs it)"
    probe = "ip link add heddle0 type bridge && mount -t tmpfs none /run"
    result = subprocess.run([*UNSHARE, "sh", "-c", probe], capture_output=True, text=True)
    return f"namespaces cannot be made here: {result.stderr.strip()}" if result.returncode else None


def search_path():
    return os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)


def system(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


class Host:
    """A host of the cluster: its processes share names, addresses and mounts."""

    def __init__(self, number, delays):
        self.name = f"h{number}"
        self.address = f"{NETWORK}{number}"
        self.sshd = None
        holder = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "--propagation", "private", "sleep", "infinity"])
        self.process = holder.pid
        own = os.readlink("/proc/self/ns/mnt")
        wait_for(lambda: os.readlink(f"/proc/{self.process}/ns/mnt") != own, 10, "a namespace")
        interface = f"to-{self.name}"
        if delays:
            system("ip", "link", "set", interface, "netns", str(self.process), "name", "eth0")
        else:
            system("ip", "link", "add", interface, "type", "veth", "peer", "name", "eth0", "netns", str(self.process))
            system("ip", "link", "set", interface, "master", BRIDGE, "up")
        self.shell(f"hostname {self.name}; ip link set lo up; ip addr add {self.address}/24 dev eth0; ip link set eth0 up")

    def words(self, *command):
        return ["nsenter", "-t", str(self.process), "--net", "--uts", "--mount", "--", *command]

    def shell(self, script):
        subprocess.run(self.words("sh", "-ec", script), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def start_sshd(self, config):
        """Ends the sshd that runs. `config` is the path of its configuration."""
        if self.sshd:
            self.sshd.kill()
            self.sshd.wait()
        sshd = shutil.which("sshd", path=search_path())
        self.sshd = subprocess.Popen(self.words(sshd, "-D", "-e", "-f", config), stdin=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)


class Cluster:
    def __init__(self, arguments, hosts, delays, directory):
        self.heddle = os.path.abspath(arguments.heddle)
        self.source = os.path.abspath(arguments.source)
        self.directory = directory
        self.work = os.path.join(directory, "work")  # where heddle runs
        os.mkdir(self.work)
        system("mount", "-t", "tmpfs", "none", "/run")
        os.mkdir("/run/sshd")
        names = [f"{NETWORK}{number} h{number}" for number in range(1, hosts + 1)] + [f"{LOGIN} login"]
        self.write_over("/etc/hosts", "127.0.0.1 localhost\n" + "\n".join(names) + "\n")
        self.write_over("/etc/resolv.conf", "")
        system("hostname", "login")
        system("ip", "link", "set", "lo", "up")
        if delays:
            self.delay_line = self.start_delay_line([BRIDGE] + [f"to-h{number}" for number in range(1, hosts + 1)])
        else:
            system("ip", "link", "add", BRIDGE, "type", "bridge")
        system("ip", "addr", "add", f"{LOGIN}/24", "dev", BRIDGE)
        system("ip", "link", "set", BRIDGE, "up")
        self.hosts = [Host(number, delays) for number in range(1, hosts + 1)]
        self.names = [host.name for host in self.hosts]
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith(("SLURM", "OMPI_", "PMI", "HEDDLE_", "SSH_"))}
        self.environment["PATH"] = search_path()

    def write_over(self, path, text):
        """`path` has this text for the processes of the cluster."""
        if not os.path.exists(path):
            return
        copy = self.write("over-" + path.strip("/").replace("/", "-"), text)
        system("mount", "--bind", copy, path)

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    # --- delays

    def start_delay_line(self, devices):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "delay_line.py")
        line = subprocess.Popen([sys.executable, "-B", program, *devices], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if line.stdout.readline() != "ready\n":
            raise RuntimeError("the delay line did not start")
        return line

    def set_delay(self, seconds):
        """One way, between any two hosts."""
        self.delay_line.stdin.write(f"{seconds}\n")
        self.delay_line.stdin.flush()
        if self.delay_line.stdout.readline() != "set\n":
            raise RuntimeError("the delay line has ended")

    # --- ssh

    def start_ssh(self):
        for key in ("host_key", "user_key"):
            system("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"/run/{key}")
        with open("/run/host_key.pub", encoding="utf-8") as file:
            key = " ".join(file.read().split()[:2])
        self.write("/run/known_hosts", "".join(f"{host.name},{host.address} {key}\n" for host in self.hosts))
        self.write("/run/ssh_config", SSH_CONFIG)
        use_config = "mount -t tmpfs none /etc/ssh; cp /run/ssh_config /etc/ssh"
        system("sh", "-ec", use_config)
        for host in self.hosts:
            host.shell(use_config)
            self.restart_sshd(host)

    def restart_sshd(self, host, further=""):
        """With `further` lines before those of all hosts. The first line for a setting counts."""
        config = self.write(f"/run/sshd_config.{host.name}", further + SSHD_CONFIG)
        host.start_sshd(config)
        wait_for(lambda: subprocess.run(["bash", "-c", f": < /dev/tcp/{host.address}/22"], stderr=subprocess.DEVNULL).returncode
                 == 0, 10, f"sshd on {host.name}")

    # --- heddle

    def experiment(self, name, **settings):
        return self.write(f"work/{name}.yaml", json.dumps({"backend": "native", **settings}))

    def other_build(self):
        """The path of the same program with another build id."""
        with open(self.heddle, "rb") as file:
            program = bytearray(file.read())
        note = program.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
        program[note + 16] ^= 0xFF
        other = os.path.join(self.directory, "heddle-other")
        with open(other, "wb") as file:
            file.write(program)
        os.chmod(other, 0o755)
        return other

    def run(self, *words, seconds_max=SECONDS_MAX, **options):
        return subprocess.run(words, env=self.environment, cwd=self.work, capture_output=True, text=True,
                              timeout=seconds_max, stdin=subprocess.DEVNULL, **options)

    def launch(self, hosts, *command, options=()):
        return self.run(self.heddle, "launch", "--hosts", hosts, *options, "--", *command)

    def heddle_processes(self):
        """Numbers and command lines of this binary's processes, anywhere in the cluster."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                program = os.readlink(f"/proc/{name}/exe")
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    words = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if os.path.basename(program).startswith("heddle"):
                found.append((int(name), " ".join(words)))
        return found

    def check_nothing_runs(self, what, seconds=5):
        deadline = time.monotonic() + seconds
        while self.heddle_processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        check(not self.heddle_processes(), f"{what}: still running: {self.heddle_processes()}")


def inside(test, arguments, hosts, delays):
    cluster = Cluster(arguments, hosts, delays, os.environ.pop(INSIDE))
    try:
        test(cluster)
    finally:
        if "HEDDLE_TEST_KEEP" in os.environ:
            subprocess.run(["cp", "-r", cluster.directory, os.environ["HEDDLE_TEST_KEEP"]])
        for failure in failures:
            print("FAILED:", failure)
    return 1 if failures else 0


def main(test, hosts, programs=(), delays=False):
    arguments = script_arguments("heddle")
    if INSIDE in os.environ:
        sys.exit(inside(test, arguments, hosts, delays))
    reason = why_not(["ip", "nsenter", "unshare", *programs])
    if not reason and delays and not os.path.exists("/dev/net/tun"):
        reason = "/dev/net/tun is missing, of which the delay line is made"
    if reason:
        print(f"skipped: {reason}")
        sys.exit(SKIP)
    # Below /tmp itself, because a socket's path is short.
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        code = subprocess.run([*UNSHARE, sys.executable, "-B", *sys.argv], env={**os.environ, INSIDE: directory},
                              stdin=subprocess.DEVNULL, preexec_fn=die_with_parent).returncode
    sys.exit(code)
