"""Runs small programs natively and in simulation under every stealing policy: each gives its known answer (the runs are
in matrix.py).
"""

import sys

import matrix

if __name__ == "__main__":
    sys.exit(matrix.run_matrix(matrix.SMALL, matrix.worlds(), matrix.POLICIES, ("half",)))
