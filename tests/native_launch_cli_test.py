"""Tests heddle launch and native runs as users start them. Processes that differ refuse each other, and copies started
by srun are refused. Errors name the system limits that were reached.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile

from outside_a_job import ENVIRONMENT
from script_arguments import has_simulator, script_arguments

SECONDS_MAX = 300
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def run(*words, limits=(), **environment):
    def set_limits():
        for limit, value in limits:
            resource.setrlimit(limit, (value, value))
    return subprocess.run(words, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, timeout=SECONDS_MAX,
                          preexec_fn=set_limits)


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def experiment(directory, name, workload, **platform):
    platform = ", ".join(f"{key}: {value}" for key, value in {"cores": 1, **platform}.items())
    return write(directory, name, f"workload: {workload}\nbackend: native\nplatform: {{{platform}}}\n")


def refused(what, result, *parts):
    check(result.returncode == 2, f"{what}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    for part in parts:
        check(part in result.stderr, f'{what}: "{part}" is not in\n{result.stderr}')


def different_experiments(heddle, directory):
    """Each pair crashed, or ended with a wrong answer or with a right one of another problem, while processes compared their
    programs alone."""
    pairs = (("{name: atgc, length: 1000}", "{name: atgc, length: 3000}", "workload.length is 1000 on node 0 and 3000 on node 1"),
             ("{name: nqueens, n: 8}", "{name: nqueens, n: 9}", "workload.n is 8 on node 0 and 9 on node 1"),
             ("{name: nqueens, n: 8}", "{name: fib, n: 10}", "workload.name is \"nqueens\" on node 0 and \"fib\" on node 1"))
    for first, second, difference in pairs:
        experiment(directory, "e0.yaml", first)
        experiment(directory, "e1.yaml", second)
        result = run(heddle, "launch", "-n", "2", "--", "sh", "-c", f"exec {heddle} run {directory}/e$HEDDLE_RANK.yaml")
        refused(f"{first} and {second}", result, "node 1 runs another experiment than node 0", difference)


def copies(heddle, directory):
    native = experiment(directory, "fib.yaml", "{name: fib, n: 10}")
    simulated = write(directory, "sim.yaml", "workload: {name: fib, n: 10}\nbackend: sim\nplatform: {nodes: 2}\n")
    srun = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"}
    for file in (native, simulated) if has_simulator() else (native,):
        refused("srun", run(heddle, "run", file, **srun), "4 processes of this command", "HEDDLE_INDEPENDENT=1")
        result = run(heddle, "run", file, **{**srun, "SLURM_PROCID": "2"})
        check(result.returncode == 2 and not result.stdout and not result.stderr, f"process 2 speaks: {result}")
        result = run(heddle, "run", file, HEDDLE_INDEPENDENT="1", **srun)
        check(result.returncode == 0, f"independent processes: {result.stderr}")
    result = run(heddle, "run", native, SLURM_NTASKS="4", SLURM_PROCID="0")
    check(result.returncode == 0, f"in a batch script: {result.stderr}")
    result = run(heddle, "launch", "-n", "2", "--", heddle, "run", native, **srun)
    check(result.returncode == 0, f"launched within srun: {result.stderr}")


def no_temporary_directory(heddle, directory):
    file = experiment(directory, "fib.yaml", "{name: fib, n: 10}")
    result = run(heddle, "launch", "-n", "2", "--", heddle, "run", file, TMPDIR="/no/such/directory")
    check(result.returncode == 0, f"without a directory for temporary files: {result.stderr}")


def launch_within_launch(heddle, directory):
    """A script that `launch --capacity` runs may itself launch: the nodes of that all begin."""
    file = experiment(directory, "fib.yaml", "{name: fib, n: 10}")
    result = run(heddle, "launch", "-n", "2", "--", heddle, "run", file, HEDDLE_AT_START="1")
    check(result.returncode == 0 and " on 2 x " in result.stdout and "join" not in result.stdout + result.stderr,
          f"launched within a launch that nodes may join: {result}")


def run_as(heddle, file, shell):
    return "sh", "-c", f"{shell}; exec {heddle} run {file} --set repeat=$repeat"


def failed_later_run(heddle, directory):
    """Node 1 ends after the first of two runs, whose result is printed all the same."""
    file = experiment(directory, "fib.yaml", "{name: fib, n: 10}")
    result = run(heddle, "launch", "-n", "2", "--", *run_as(heddle, file, "repeat=$((2 - HEDDLE_RANK))"))
    refused("a run that fails behind another", result, "the process of node 1 has ended")
    check("value 55" in result.stdout, f"the result before a run that fails: {result}")


def mistake_of_one(heddle, directory):
    """A file that only one node lacks: the others cannot say so. What all lack node 0 says once."""
    file = experiment(directory, "fib.yaml", "{name: fib, n: 10}")
    lacks = f"file={file}; [ $HEDDLE_RANK = %s ] && file={directory}/absent.yaml; exec {heddle} run $file"
    result = run(heddle, "launch", "-n", "2", "--", "sh", "-c", lacks % 1)
    refused("a file that node 1 lacks", result, "[node 1] heddle: ", "absent.yaml")
    result = run(heddle, "launch", "-n", "3", "--", heddle, "run", os.path.join(directory, "absent.yaml"))
    refused("a file that all lack", result, "absent.yaml")
    check(result.stderr.count("absent.yaml") == 1, f"a file that all lack: {result.stderr}")


def short_meeting(heddle, directory):
    file = experiment(directory, "fib.yaml", "{name: fib, n: 10}")
    result = run(heddle, "launch", "-n", "2", "--meeting-time", "0.0004", "--",
                 *run_as(heddle, file, "repeat=1; [ $HEDDLE_RANK = 1 ] && exec sleep 100"))
    refused("a meeting of less than a millisecond", result, "node 1 did not come within 0.001 s")


def has_sanitizer(heddle):
    with open(heddle, "rb") as file:
        program = file.read()
    return b"__asan_init" in program or b"__tsan_init" in program


def limits(heddle, directory):
    file = experiment(directory, "fib.yaml", "{name: fib, n: 10}")
    # A sanitizer reserves terabytes of addresses before the program begins.
    for megabytes in () if has_sanitizer(heddle) else range(40, 140, 20):
        result = run(heddle, "run", file, limits=[(resource.RLIMIT_AS, megabytes << 20)])
        check(result.returncode in (0, 2, 127), f"{megabytes} MB of memory: exit code {result.returncode}\n{result.stderr}")
        check("mistake of heddle's own" not in result.stderr, f"{megabytes} MB of memory: {result.stderr}")
    result = run(heddle, "launch", "-n", "500", "--", heddle, "run", file, limits=[(resource.RLIMIT_NOFILE, 256)])
    refused("open files", result, "a run of 500 nodes takes", "ulimit -Hn")


def large_files(heddle, directory):
    file = experiment(directory, "fib.yaml", "{name: fib, n: 10}")
    out = os.path.join(directory, "out")
    result = run(heddle, "run", file, "--out", out, limits=[(resource.RLIMIT_FSIZE, 100)])
    refused("file size", result, "File too large")
    left = [name for _, _, names in os.walk(out) for name in names if name.endswith(".tmp")]
    check(not left, f"unfinished files are left: {left}")
    # Shared memory is a file too, which has no more room than the limit.
    file = experiment(directory, "jacobi.yaml", "{name: jacobi, n: 40}")
    result = run(heddle, "run", file, limits=[(resource.RLIMIT_FSIZE, 64 << 20)])
    check(result.returncode == 0, f"shared memory within the limit of file sizes: {result}")
    # Each run takes 32 KiB of the file at most, and gives them back.
    result = run(heddle, "run", file, "--set", "repeat=3", limits=[(resource.RLIMIT_FSIZE, 48 << 10)])
    check(result.returncode == 0, f"runs one after the other within the limit of file sizes: {result}")
    result = run(heddle, "run", file, limits=[(resource.RLIMIT_FSIZE, 8192)])
    refused("shared memory beyond the limit of file sizes", result, "for shared memory of", "raise the limit of file sizes (ulimit -f")
    # So is the library that calls SimGrid, which is loaded from memory.
    if has_simulator():
        file = write(directory, "simulated.yaml", "workload: {name: fib, n: 5}\nbackend: sim\n")
        result = run(heddle, "run", file, limits=[(resource.RLIMIT_FSIZE, 8192)])
        refused("SimGrid beyond the limit of file sizes", result, "SimGrid cannot be loaded: the limit of file sizes leaves 8192 of", "ulimit -f unlimited")


def too_large(heddle, directory):
    """The launcher takes the code of the process that ends first, and which one that is differs. Only node 0 speaks."""
    # A sanitizer reserves terabytes of addresses before the program begins.
    if has_sanitizer(heddle):
        return
    file = experiment(directory, "bag.yaml", "{name: bag, tasks: 100000000}")
    for _ in range(10):
        result = run(heddle, "launch", "-n", "4", "--", heddle, "run", file, limits=[(resource.RLIMIT_AS, 6_000_000_000)])
        check(result.returncode == 6, f"a bag that does not fit: exit code {result.returncode}\n{result.stderr}")
        check(result.stderr.count("lower workload.tasks") == 1, f"a bag that does not fit: {result.stderr}")


def stated_platform(heddle, directory):
    """What a native run reads of the described machine (docs/configuration.md): tasks of `dag` last as long as a core of that speed would take,
    and a placement promises a time with that latency and bandwidth."""
    file = write(directory, "platform.yaml", """workload: {name: dag, graph: "stencil_1d:width=2,steps=2,flops=1Mf"}
backend: native
schedule: {placement: cyclic}
platform: {nodes: 2, cores: 1}
""")

    def promised(**stated):
        words = [word for key, value in stated.items() for word in ("--set", f"platform.{key}={value}")]
        result = run(heddle, "launch", "-n", "2", "--", heddle, "run", file, "--json", *words)
        check(result.returncode == 0, f"{stated}: {result}")
        return json.loads(result.stdout) if result.returncode == 0 else {"promised_seconds": 0, "busy_seconds": 0}

    fast, slow = promised(), promised(core_speed="100Mf")
    check(slow["busy_seconds"] > 0.03 and slow["promised_seconds"] > 10 * fast["promised_seconds"], f"core_speed: {fast}\n{slow}")
    for stated in {"network.latency": "1ms"}, {"network.bandwidth": "100kBps"}:
        other = promised(**stated)
        check(other["promised_seconds"] > 2 * fast["promised_seconds"], f"{stated}: {other}")


def hung_up(heddle, directory):
    """nohup means the nodes and their launcher: both are told that the terminal is gone."""
    result = run("nohup", heddle, "launch", "-n", "2", "--", "sh", "-c", "kill -HUP $$ $PPID; sleep 0.5; echo $HEDDLE_RANK is here")
    check(result.returncode == 0 and "0 is here" in result.stdout, f"launch under nohup: {result}")


def ignored_ends(heddle, directory):
    """A parent that ignores SIGCHLD leaves that to the launcher, whose processes then vanished from it."""
    result = run("timeout", "--signal=KILL", "60", "env", "--ignore-signal=CHLD", heddle, "launch", "-n", "2", "--", "true")
    check(result.returncode == 0, f"launch with SIGCHLD ignored: {result}")


def commands_with(word):
    """Of processes but shells."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                command = file.read().decode(errors="replace")
        except OSError:
            continue
        if command.startswith("sleep") and word in command:
            yield int(process)


def script(heddle, directory):
    """What a script has started ends with it."""
    word = f"{100000 + os.getpid()}.75"
    result = run(heddle, "launch", "-n", "2", "--", "sh", "-c", f"[ $HEDDLE_RANK = 1 ] && {{ sleep 0.5; exit 3; }}; sleep {word} > /dev/null 2>&1; true")
    check(result.returncode == 3, f"a script that fails: {result}")
    left = list(commands_with(word))
    check(not left, f"left behind by a script: {left}")
    for process in left:
        os.kill(process, signal.SIGKILL)


def main():
    arguments = script_arguments()
    heddle = os.path.abspath(arguments.heddle)
    for test in (different_experiments, copies, no_temporary_directory, launch_within_launch, failed_later_run,
                 mistake_of_one, short_meeting, limits, large_files, stated_platform,
                 too_large, hung_up, ignored_ends, script):
        with tempfile.TemporaryDirectory() as directory:
            test(heddle, directory)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
