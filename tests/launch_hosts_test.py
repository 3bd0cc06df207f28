"""Tests heddle launch --hosts. The hosts are this machine behind a remote shell that the test makes. The command line of
that shell is ssh's: options, a host, a command.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from script_arguments import script_arguments

SECONDS_MAX = 120
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "OMPI_", "PMI", "HEDDLE_"))}
failures = []

# Notes each host, the host that calls it, and the command; has no host "nowhere", and no program on the host "bare".
REMOTE_SHELL = """#!/bin/sh
echo "$1 ${HOST:-launcher} $2" >> "$(dirname "$0")/calls"
case $1 in
    nowhere) echo "no such host" >&2; exit 255;;
    bare) exec sh -c "exec /no/such/heddle";;
esac
exec env -i PATH="$PATH" HOST="$1" sh -c "$2"
"""


def check(condition, what):
    if not condition:
        failures.append(what)


def processes_with(text):
    """Those that have it on their command line or in their environment."""
    found = []
    for name in os.listdir("/proc"):
        for part in ("cmdline", "environ"):
            try:
                with open(f"/proc/{name}/{part}", "rb") as file:
                    if text.encode() in file.read():
                        found.append(name)
            except OSError:
                pass
    return found


class Hosts:
    def __init__(self, heddle, directory):
        self.heddle = heddle
        self.directory = directory
        self.shell = os.path.join(directory, "remote_shell")
        with open(self.shell, "w", encoding="utf-8") as file:
            file.write(REMOTE_SHELL)
        os.chmod(self.shell, 0o755)

    def words(self, hosts, *command, address=("--address", "127.0.0.1"), shell=True):
        return [self.heddle, "launch", *hosts, *address, *(["--ssh", self.shell] if shell else []), "--", *command]

    def launch(self, hosts, *command, **options):
        return subprocess.run(self.words(hosts, *command, **options), env=ENVIRONMENT, cwd=self.directory, capture_output=True,
                              text=True, timeout=SECONDS_MAX, stdin=subprocess.DEVNULL)

    def forget_calls(self):
        path = os.path.join(self.directory, "calls")
        if os.path.exists(path):
            os.remove(path)

    def calls(self):
        """Each host that was started, and what has started it."""
        with open(os.path.join(self.directory, "calls"), encoding="utf-8") as file:
            return {line.split()[0]: line.split()[1] for line in file}

    def fib(self):
        path = os.path.join(self.directory, "fib.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("workload: {name: fib, n: 18}\nbackend: native\nplatform: {cores: 1}\n")
        return [self.heddle, "run", "fib.yaml"]


def runs_on_hosts(hosts):
    hosts.forget_calls()
    result = hosts.launch(["--hosts", "one,two:2"], *hosts.fib())
    check(result.returncode == 0, f"a run on two hosts: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    check("fib on 3 x 1 native" in result.stdout and "value 2584" in result.stdout, f"a run on two hosts prints\n{result.stdout}")
    check(hosts.calls() == {"one": "launcher", "two": "launcher"}, f"the remote shell was called {hosts.calls()}")


def starts_hosts_in_a_tree(hosts):
    """The launcher starts two hosts, and each of these two others at most."""
    names = ["a", "b", "c", "d", "e", "f", "g"]
    hosts.forget_calls()
    result = hosts.launch(["--hosts", ",".join(names) + ":2", "--branches", "2"], *hosts.fib())
    check(result.returncode == 0 and "fib on 8 x 1 native" in result.stdout and "value 2584" in result.stdout,
          f"a run by a tree: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    starters = hosts.calls()
    check(sorted(starters) == names, f"each host is started once: {starters}")
    count = {starter: list(starters.values()).count(starter) for starter in starters.values()}
    check(count["launcher"] == 2 and max(count.values()) == 2, f"how many each has started: {count}")
    check("launch-part" not in result.stderr, f"notes are passed on:\n{result.stderr}")


def failures_come_up_the_tree(hosts):
    """One host starts the next. What goes wrong on the last is told at the first."""
    chain = ["--hosts", "one,two,three,four", "--branches", "1"]
    start = time.monotonic()
    result = hosts.launch(chain, "sh", "-c", "[ $HEDDLE_RANK = 3 ] && exit 5; exec sleep 1000")
    check(result.returncode == 5, f"the exit code of node 3 is 5, and of launch {result.returncode}")
    check("node 3 on four" in result.stderr, f"launch does not say where node 3 was:\n{result.stderr}")
    result = hosts.launch(["--hosts", "one,two,nowhere", "--branches", "1"], *hosts.fib())
    check(result.returncode != 0 and "could not start anything on nowhere from" in result.stderr
          and "--branches" in result.stderr, f"a host that the second one cannot start: {result.stderr}")
    check(time.monotonic() - start < 30, f"two failures take {time.monotonic() - start:.0f} s")
    meeting = '[ $HEDDLE_RANK = 2 ] && exit 0; exec "$@"'
    result = hosts.launch(chain, "sh", "-c", meeting, "sh", *hosts.fib())
    check("the process of node 2 has ended" in result.stderr, f"the launcher did not learn that node 2 has ended: {result.stderr}")
    for words, part in ((["--hosts", "one", "--branches", "0"], "--branches 0"), (["-n", "2", "--branches", "2"], "several hosts")):
        result = hosts.launch(words, "true", shell=False)
        check(result.returncode == 2 and part in result.stderr, f"{words}: {result.returncode} {result.stderr}")


def a_start_that_fails_takes_no_slot(hosts):
    """The remote shell is missing for a while, as where its folder is not mounted."""
    name = f"slots{os.getpid()}"
    hosts.forget_calls()
    words = hosts.words(["--hosts", "one,two", "-n", "1", "--capacity", "2", "--name", name], "sh", "-c", "exec sleep 1000")
    with subprocess.Popen(words, env=ENVIRONMENT, cwd=hosts.directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True) as launcher:
        try:
            check(name in launcher.stderr.readline(), "the launch does not say how to join it")
            deadline = time.monotonic() + 30
            while not os.path.exists(os.path.join(hosts.directory, "calls")) and time.monotonic() < deadline:
                time.sleep(0.05)
            join = lambda: subprocess.run([hosts.heddle, "launch", "--join", name], env=ENVIRONMENT, capture_output=True,
                                          text=True, timeout=SECONDS_MAX)
            os.rename(hosts.shell, hosts.shell + ".away")
            result = join()
            check(result.returncode == 2 and "cannot run" in result.stderr, f"without a remote shell: {result}")
            os.rename(hosts.shell + ".away", hosts.shell)
            result = join()
            check(result.returncode == 0 and "node 1 was started on two" in result.stdout, f"after a start that failed: {result}")
        finally:
            launcher.terminate()


def no_host_meets_at_a_wildcard(hosts):
    script = ["sh", "-c", "echo $HEDDLE_RENDEZVOUS"]
    result = hosts.launch(["--hosts", "localhost"], *script, address=("--address", "0.0.0.0"))
    check(result.returncode == 0 and result.stdout.startswith("127.0.0.1:"), f"--address 0.0.0.0: {result.stdout}{result.stderr}")
    result = hosts.launch(["--hosts", "no-such-host.invalid"], *script, address=("--address", "0.0.0.0"))
    check(result.returncode == 2 and "at which address" in result.stderr, f"--address 0.0.0.0, unknown hosts: {result.stderr}")


def notes_are_told_from_output(hosts):
    """A host tells by lines of standard error which of its nodes have ended. Node 0 writes there too."""
    begun = '[ $HEDDLE_RANK = 0 ] && { printf "a line without an end" >&2; sleep 0.3; exit 0; }; exec "$@"'
    start = time.monotonic()
    result = hosts.launch(["--hosts", "one:2", "--meeting-time", "60"], "sh", "-c", begun, "sh", *hosts.fib())
    check("the process of node 0 has ended" in result.stderr and "a line without an end" in result.stderr,
          f"a note after an unfinished line: {result.stderr}")
    check("launch-part" not in result.stderr and time.monotonic() - start < 30, f"the note is passed on: {result.stderr}")
    forged = '[ $HEDDLE_RANK = 0 ] && { echo "heddle launch-part: ended 1" >&2; sleep 0.3; }; exec "$@"'
    result = hosts.launch(["--hosts", "one:2"], "sh", "-c", forged, "sh", *hosts.fib())
    check(result.returncode == 0 and " heddle launch-part: ended 1" in result.stderr,
          f"a line of node 0 that looks like a note: exit code {result.returncode}\n{result.stderr}")


def fills_hosts_in_order(hosts):
    path = os.path.join(hosts.directory, "hostfile")
    with open(path, "w", encoding="utf-8") as file:
        file.write("one slots=2\ntwo slots=2\nthree slots=2\n")
    script = 'echo "$HOST $HEDDLE_RANK of $HEDDLE_NODES, $HEDDLE_LOCAL_RANK of $HEDDLE_LOCAL_COUNT"; pwd >&2'
    result = hosts.launch(["--hostfile", path, "-n", "3"], "sh", "-c", script)
    lines = sorted((result.stdout + result.stderr).split("\n"))
    for line in ("one 0 of 3, 0 of 2", "[node 1] one 1 of 3, 1 of 2", "[node 2] two 2 of 3, 0 of 1",
                 f"[node 2] {os.path.realpath(hosts.directory)}"):
        check(line in lines, f'"{line}" is not among {lines}')
    check(result.stdout == "one 0 of 3, 0 of 2\n", f"node 0 alone writes to standard output: {result.stdout}")


def says_what_failed(hosts):
    start = time.monotonic()
    result = hosts.launch(["--hosts", "one,nowhere"], *hosts.fib())
    check(result.returncode != 0, "a host that does not exist is no error")
    check("no such host" in result.stderr and "could not start anything on nowhere" in result.stderr, result.stderr)
    result = hosts.launch(["--hosts", "bare,one"], *hosts.fib())
    check(result.returncode != 0 and f"{hosts.heddle} cannot be run on bare" in result.stderr, result.stderr)
    result = hosts.launch(["--hosts", "one,two"], "sh", "-c", "exit $((HEDDLE_RANK * 5))")
    check(result.returncode == 5, f"the exit code of node 1 is 5, and of launch {result.returncode}")
    check(time.monotonic() - start < 45, "three failures take more than 15 s each")
    for words, part in ((["--hosts", "one:2", "-n", "3"], "3 nodes, and the hosts take 2"),
                        (["--hosts", "one,-oProxyCommand=x"], "begins with a dash"),
                        (["--hosts", "one", "--hostfile", "x"], "hosts are stated twice"),
                        (["--hostfile", "/no/such/file"], "/no/such/file"),
                        (["-n", "2"], "--ssh goes with several hosts")):
        result = hosts.launch(words, "true")
        check(result.returncode == 2 and part in result.stderr, f'{words}: {result.returncode}, "{part}" not in\n{result.stderr}')
    result = hosts.launch(["--hosts", "true", "--ssh", " "], "true", shell=False)
    check(result.returncode == 2 and "--ssh names no command" in result.stderr, f"the host would be the command: {result}")
    result = hosts.launch(["--hosts", "no-such-host.invalid"], "true", address=())
    check(result.returncode == 2 and "--address" in result.stderr, f"an unknown address: {result.stderr}")


def leaves_nothing_running(hosts, how, names, branches):
    mark = f"HEDDLE_TEST_MARK_{os.getpid()}_{how}_{branches}"
    script = f"MARK={mark}; trap '' HUP; : > {mark}.$HEDDLE_RANK; while :; do sleep 0.1; done"
    words = hosts.words(["--hosts", ",".join(names), "--branches", str(branches)], "sh", "-c", script)
    launcher = subprocess.Popen(words, env=ENVIRONMENT, cwd=hosts.directory,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    started = lambda: all(os.path.exists(os.path.join(hosts.directory, f"{mark}.{rank}")) for rank in range(len(names)))
    while not started() and time.monotonic() < deadline:
        time.sleep(0.05)
    check(started(), f"{how}: the nodes did not start")
    launcher.send_signal(how)
    code = launcher.wait(timeout=SECONDS_MAX)
    if how != signal.SIGKILL:
        check(code == 128 + how, f"{how}: launch ended with {code}")
    launcher.stderr.close()
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    check(not processes_with(mark), f"{how}: processes were left running: {processes_with(mark)}")


def keeps_the_key_secret(hosts):
    """The processes read it from a file in memory; it is in no command line and no environment."""
    script = "cat $HEDDLE_KEY_FILE; exec cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'"
    result = hosts.launch(["--hosts", "one,two"], "sh", "-c", script)
    key, _, everything = result.stdout.partition("\n")
    check(len(key) == 64, f"the key is {key}")
    check("launch-part" in everything, "the processes of the launch were not seen")
    check(key not in everything, "the key is in a command line or an environment")
    with open(os.path.join(hosts.directory, "calls"), encoding="utf-8") as file:
        check(key not in file.read(), "the key is on a command line of the remote shell")


def main():
    arguments = script_arguments()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # launch ignores it where this test does
    with tempfile.TemporaryDirectory() as directory:
        hosts = Hosts(os.path.abspath(arguments.heddle), directory)
        runs_on_hosts(hosts)
        fills_hosts_in_order(hosts)
        says_what_failed(hosts)
        keeps_the_key_secret(hosts)
        starts_hosts_in_a_tree(hosts)
        a_start_that_fails_takes_no_slot(hosts)
        no_host_meets_at_a_wildcard(hosts)
        notes_are_told_from_output(hosts)
        failures_come_up_the_tree(hosts)
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            leaves_nothing_running(hosts, how, ["one", "two"], 32)
            leaves_nothing_running(hosts, how, ["one", "two", "three", "four"], 1)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
