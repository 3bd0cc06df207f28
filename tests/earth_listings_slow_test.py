"""Runs the programs of the EARTH paper (Tremblay et al.) on 1 to 64 nodes, also as 64 processes (see earth_listings.py)."""

import sys

import earth_listings

if __name__ == "__main__":
    sys.exit(earth_listings.check(simulated=range(1, 65), native=(1, 2, 4, 8, 16, 32, 64), n=16))
