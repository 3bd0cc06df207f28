"""For tests: runs Slurm on the hosts of a cluster of namespaces, with a controller on `login` and a daemon on each host."""

import os
import shutil
import subprocess
import time

from namespaces import LOGIN, search_path, system, wait_for

SLURM_PROGRAMS = ("slurmctld", "slurmd", "srun", "salloc", "sbatch", "sinfo", "scancel", "squeue")

SLURM_CONFIG = """ClusterName=test
SlurmctldHost=login({login})
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={directory}/slurm/state
SlurmdSpoolDir={directory}/slurm/%n
SlurmctldPidFile={directory}/slurm/controller.pid
SlurmdPidFile={directory}/slurm/%n.pid
SlurmctldLogFile={directory}/slurm/controller.log
SlurmdLogFile={directory}/slurm/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
ReturnToService=2
TmpFS={directory}/slurm/%n-tmp
SlurmdTimeout=10
MinJobAge=30
KillWait=5
InactiveLimit=0
SlurmdParameters=config_overrides
NodeName={names} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """Started by its constructor, ended with the cluster."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.directory = os.path.join(cluster.directory, "slurm")
        for name in ("state", *cluster.names):
            os.makedirs(os.path.join(self.directory, name))
        for name in cluster.names:
            os.makedirs(os.path.join(self.directory, f"{name}-tmp"))
        names = f"h[1-{len(cluster.hosts)}]"
        path = cluster.write("slurm/slurm.conf", SLURM_CONFIG.format(login=LOGIN, directory=cluster.directory, names=names))
        cluster.environment["SLURM_CONF"] = path
        os.environ["SLURM_CONF"] = path
        os.environ["PATH"] = search_path()
        system("slurmctld", "-c")
        for host in cluster.hosts:
            self.start_daemon(host)
        wait_for(lambda: self.idle() == len(cluster.hosts), 60, "all hosts idle")

    def start_daemon(self, host):
        subprocess.run(host.words(shutil.which("slurmd"), "-N", host.name), check=True)

    def stop_daemon(self, host):
        with open(os.path.join(self.directory, f"{host.name}.pid"), encoding="utf-8") as file:
            os.kill(int(file.read()), 9)

    def idle(self):
        out = subprocess.run(["sinfo", "-h", "-t", "idle", "-o", "%D"], capture_output=True, text=True, check=False).stdout
        return sum(int(line) for line in out.split())

    def jobs(self):
        return subprocess.run(["squeue", "-h", "-o", "%i %T"], capture_output=True, text=True, check=False).stdout.splitlines()

    def wait_for_jobs(self, seconds):
        deadline = time.monotonic() + seconds
        while self.jobs() and time.monotonic() < deadline:
            time.sleep(0.5)
        return not self.jobs()

    def run_batch(self, command):
        """As a job on all hosts. What became of it: exit code, output, errors."""
        out, error, end = (os.path.join(self.cluster.work, f"job.{name}") for name in ("out", "err", "end"))
        script = self.cluster.write("work/job.sh", f"#!/bin/sh\n#SBATCH --nodes={len(self.cluster.hosts)}\n#SBATCH --output={out}\n"
                                    f"#SBATCH --error={error}\n{' '.join(command)}\necho $? > {end}\n")
        result = self.cluster.run("sbatch", script)
        if result.returncode or not self.wait_for_jobs(60):
            return 1, result.stdout, f"{result.stderr} still there: {self.jobs()}"
        texts = []
        for path in (out, error, end):
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        return int(texts[2]), texts[0], texts[1]
