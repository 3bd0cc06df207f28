"""The arguments of the tests that are scripts: --source, --build and --heddle, as tests/CMakeLists.txt passes them."""

import argparse


def script_arguments(*needed):
    """`--source`, and `--build` and `--heddle`, which a test that is run by hand may leave out unless it needs them."""
    parser = argparse.ArgumentParser()
    for name in ("source", "build", "heddle"):
        parser.add_argument(f"--{name}", required=name == "source" or name in needed)
    return parser.parse_args()
