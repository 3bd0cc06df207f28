"""Runs the programs of the EARTH paper (Tremblay et al.) on a few numbers of nodes, natively and in simulation (see
earth_listings.py).
"""

import sys

import earth_listings

if __name__ == "__main__":
    sys.exit(earth_listings.check(simulated=(1, 2, 3, 17, 64), native=(1, 2, 3), n=10))
