"""The whole matrix programs x worlds x stealing policies (see matrix.py)."""

import sys

import matrix

if __name__ == "__main__":
    sys.exit(matrix.run_matrix(matrix.WHOLE, matrix.worlds(), matrix.POLICIES, ("one", "half")))
