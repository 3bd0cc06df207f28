"""The arguments of the tests that are scripts: --source, --build and --heddle, as tests/CMakeLists.txt passes them."""

import argparse
import os
import sys

SKIPPED = 77


def has_simulator():
    return os.environ.get("HEDDLE_SIM") != "OFF"


def script_arguments(*needed):
    """`--source`, and `--build` and `--heddle`, which a test that is run by hand may leave out unless it needs them. A test that needs the
    `simulator` is skipped in a build that has none."""
    if "simulator" in needed and not has_simulator():
        print("skipped: this build has no simulator")
        sys.exit(SKIPPED)
    parser = argparse.ArgumentParser()
    for name in ("source", "build", "heddle"):
        parser.add_argument(f"--{name}", required=name == "source" or name in needed)
    return parser.parse_args()
