"""For tests: runs of data-parallel workloads, whose own checks judge the answer."""
import subprocess


def run(heddle, workload, settings, nodes, cores, world):
    """The output of one run. Raises AssertionError if its check does not say that the answer is right."""
    command = [heddle, "run", f"configs/{workload}.yaml", "--set", f"platform.nodes={nodes}", "--set", f"platform.cores={cores}"]
    for key, value in settings.items():
        command += ["--set", f"workload.{key}={value}"]
    if world == "native":
        command += ["--backend", "native"]
        if nodes > 1:
            command = [heddle, "launch", "-n", str(nodes), "--"] + command
    done = subprocess.run(command, capture_output=True, text=True)
    shown = f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    assert done.returncode == 0, shown
    assert "check      right" in done.stdout, shown
    return done.stdout


def answer(output, name):
    line = next(line for line in output.splitlines() if line.startswith("  answer"))
    return next(float(part.split()[-1]) for part in line[len("  answer"):].split(",") if part.split()[0] == name)
