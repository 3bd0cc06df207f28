"""The environment of tests that start processes of a run themselves: without what a job or another launch has put there."""

import os

CLUSTER = ("SLURM_", "OMPI_", "PMI", "MV2_", "HEDDLE_")
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(CLUSTER)}
