"""Runs NAS FT of class A natively and in simulation, and compares its checksum with the published one."""
import os

from script_arguments import script_arguments
from spmd_workloads_testing import run

arguments = script_arguments("heddle")
os.chdir(arguments.source)
for world in ["native", "sim"] if os.environ.get("HEDDLE_SIM") != "OFF" else ["native"]:
    run(arguments.heddle, "nas_ft", {"class": "A"}, 2, 1, world)
