"""Compares small messages that the simulator calculates with SimGrid's: seven programs on 16 nodes, with two seeds, must take
nearly the same time, or warn. The whole comparison is bench/sim_exact.py.
"""
import json
import os
import subprocess
import sys

from script_arguments import script_arguments

SKIPPED = 77


def main():
    options = script_arguments("heddle")
    doctor = subprocess.run([options.heddle, "doctor", "--json"], capture_output=True, text=True, check=True)
    if not json.loads(doctor.stdout)["simulation"]:
        print("built without simulation")
        return SKIPPED
    script = os.path.join(options.source, "bench", "sim_exact.py")

    def status(*words):
        return subprocess.run([sys.executable, "-B", script, "--heddle", options.heddle, "--check", *words],
                              check=False).returncode

    calm = ["uts", "nqueens", "cholesky_metis", "stencil", "all_to_all", "incast", "ping_pong"]  # agree with any seed
    good = status("--nodes", "16", "--seeds", "2", "--programs", *calm) == 0
    # Off, and the run says so: each message is held up at both of its ends.
    good &= status("--nodes", "16", "--seeds", "1", "--bandwidth", "10Gbps", "--programs", "all_to_all", "incast") == 0
    # The test of the test: a bound that nothing meets.
    good &= status("--nodes", "16", "--seeds", "1", "--programs", "ping_pong", "--bound", "-1") == 1
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
