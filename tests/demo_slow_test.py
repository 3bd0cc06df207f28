"""Tests the table of `make demo` with the real binary: every program, natively and in simulation, gives its known
answer. Workers steal if there is a victim to steal from.
"""

import os
import subprocess
import sys

# fib: OEIS A000045; queens: OEIS A000170; UTS T1: the benchmark's sample trees.
KNOWN = {"fib": "102,334,155", "nqueens": "73,712", "uts": "4,130,071"}


def main():
    source = sys.argv[sys.argv.index("--source") + 1]
    heddle = sys.argv[sys.argv.index("--heddle") + 1]
    result = subprocess.run([os.path.join(source, "scripts", "demo"), heddle], capture_output=True, text=True)
    print(result.stdout + result.stderr)
    assert result.returncode == 0
    rows = [line for line in result.stdout.split("\n") if "  native, " in line or "  simulated, " in line]
    assert len(rows) == 12
    program = ""
    for row in rows:
        program = row.split()[0] if not row.startswith(" ") else program
        assert KNOWN[program] in row, f"{program}: {KNOWN[program]} is not in: {row}"
        between_nodes = int(row.split()[-3].replace(",", ""))
        assert (between_nodes == 0) == ("1 process " in row), f"steals between nodes: {row}"
    page = os.path.join(os.path.dirname(os.path.abspath(heddle)), "demo", "page.html")
    with open(page, encoding="utf-8") as file:
        assert "12 finished runs of 12 combinations" in file.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
