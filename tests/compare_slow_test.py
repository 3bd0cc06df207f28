"""Kills each shipped experiment on placed graphs three times at random moments and resumes it. The tables must equal
those of an undisturbed one.
"""

import os
import sys
import tempfile

from comparisons import Comparison, killed
from script_arguments import script_arguments

EXPERIMENTS = ("workflow", "cholesky", "uts", "stencil")


def main():
    arguments = script_arguments("heddle", "simulator")
    for number, name in enumerate(EXPERIMENTS):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(arguments.source, "configs", "experiments", name + ".yaml"), encoding="utf-8") as file:
                comparison = Comparison(arguments.heddle, folder, file.read())
            comparison.run("calm")
            killed(comparison, number, len(comparison.finished("calm")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
