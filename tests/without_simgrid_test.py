"""On a machine without SimGrid a program that was built with it runs natively, and a simulation says what is missing. The
machine is a namespace in which SimGrid's library is an empty file.
"""

import glob
import os
import subprocess
import sys

from script_arguments import SKIPPED, script_arguments

SECONDS_MAX = 60
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


arguments = script_arguments("heddle", "simulator")
libraries = glob.glob("/usr/lib/*/libsimgrid.so*") + glob.glob("/usr/local/lib/libsimgrid.so*")
hidden = " && ".join(f"mount --bind /dev/null {library}" for library in libraries)
as_root = [] if os.geteuid() == 0 else ["--map-root-user"]  # root in a chroot may make no user namespace
namespace = ["unshare", *as_root, "--mount", "sh", "-c", f"{hidden} && exec \"$@\"", "sh"]
try:
    possible = bool(libraries) and subprocess.run([*namespace, "true"], capture_output=True, timeout=SECONDS_MAX).returncode == 0
except FileNotFoundError:
    possible = False
if not possible:
    print("skipped: this machine lets no program hide a library from itself (unshare, mount)")
    sys.exit(SKIPPED)


def run(*words):
    return subprocess.run([*namespace, arguments.heddle, *words], capture_output=True, text=True, timeout=SECONDS_MAX)


fib = f"{arguments.source}/configs/fib.yaml"
native = run("run", fib, "--backend", "native", "--set", "workload.n=10")
check(native.returncode == 0, f"a native run failed: {native.stderr}")
simulated = run("run", fib, "--backend", "sim", "--set", "workload.n=10")
check(simulated.returncode != 0, "a simulation without SimGrid succeeded")
for words in ("SimGrid cannot be loaded", "libsimgrid", "libsimgrid-dev"):
    check(words in simulated.stderr, f"a simulation does not say {words!r}: {simulated.stderr}")
check(run("list").returncode == 0, "heddle list failed")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
