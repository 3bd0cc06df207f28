"""For tests that start the processes of a run themselves: an environment without the variables of a cluster job or of
another launch.
"""

import os

CLUSTER = ("SLURM_", "OMPI_", "PMI", "MV2_", "HEDDLE_")
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(CLUSTER)}
