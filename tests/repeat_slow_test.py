"""Repeats a run of 2 processes with 2 workers each (n-queens 8) 1,000 times: none may hang, fail or answer wrongly."""

import json
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

REPETITIONS = 1000
SECONDS_MAX = 60  # for one run, which takes a tenth of a second

if __name__ == "__main__":
    options = script_arguments("heddle")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump({"workload": {"name": "nqueens", "n": 8}, "backend": "native",
                   "platform": {"nodes": 2, "cores": 2}, "schedule": {"stealing": {"victim": "local_first"}}}, file)
        file.flush()
        stolen = 0
        for repetition in range(REPETITIONS):
            command = [options.heddle, "launch", "-n", "2", "--", options.heddle, "run", file.name, "--json",
                       "--seed", str(repetition)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
            if done.returncode != 0:
                sys.exit(f"repetition {repetition}: exit {done.returncode}\n{done.stderr}")
            result = json.loads(done.stdout)
            if not result["ok"] or result["answer"]["solutions"] != 92:
                sys.exit(f"repetition {repetition}: {result['answer']}")
            stolen += result["steals"]["between_nodes"]
            if repetition % 100 == 99:
                print(f"{repetition + 1} repetitions, {stolen} tasks stolen between the processes", flush=True)
    if stolen == 0:
        sys.exit("nothing was ever stolen between the processes")
