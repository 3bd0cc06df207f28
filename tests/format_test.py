"""Tests that every source file is formatted by clang-format. Skipped if clang-format is missing."""

import os
import shutil
import subprocess
import sys

from script_arguments import script_arguments


def main():
    arguments = script_arguments()
    if not shutil.which("clang-format"):
        print("clang-format is not there")
        return 77

    # It notices a file that is not formatted.
    style = f"--style=file:{os.path.join(arguments.source, '.clang-format')}"
    bad = subprocess.run(["clang-format", style, "--dry-run", "--Werror"], input="int  i ;\n", capture_output=True, text=True)
    if bad.returncode == 0:
        print("clang-format finds nothing wrong with a file that is not formatted: is .clang-format read?")
        return 1

    sources = subprocess.run([os.path.join(arguments.source, "scripts", "sources")], capture_output=True, text=True, check=True).stdout.split()
    check = subprocess.run(["clang-format", "--dry-run", "--Werror", *sources], cwd=arguments.source, capture_output=True, text=True)
    print(check.stderr[:20000], end="")
    print(f"{len(sources)} files" if check.returncode == 0 else "`make format` puts this right")
    return 1 if check.returncode or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
