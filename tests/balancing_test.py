"""Tests that EARTH's tokens move to other nodes unasked (schedule.balancing), natively and in simulation. No worker
steals, and yet other nodes get work, from the workers' own queues and from one that they share. The answer is that of
OEIS A000045.
"""

import itertools
import sys
import tempfile

import matrix


def main():
    heddle = matrix.arguments().heddle
    runs, wrong = 0, 0
    backends = {world[1] for world in matrix.worlds()}
    cells = [world for world in (("", "native", 2, 1), ("", "native", 3, 2), ("", "sim", 8, 2)) if world[1] in backends]
    with tempfile.TemporaryDirectory() as directory:
        for world, policy, queue, modules in itertools.product(cells, ("sender", "neighbours"), ("worker", "node"), ("separate", "single")):
            settings = {"schedule.balancing.policy": policy, "schedule.balancing.threshold": 2, "schedule.token_queue": queue, "schedule.modules": modules}
            extra = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            run = matrix.run(heddle, directory, {"name": "earth_fib", "n": 20, "unit_cost": "1kf"}, world, "none", extra=extra)
            runs += 1
            if run["answer"]["value"] != 10946 or run["steals"]["between_nodes"] == 0:
                print(f"{world}, {settings}: {run['answer']}, {run['steals']['between_nodes']} tokens moved")
                wrong += 1
    print(f"{runs} runs, {wrong} wrong")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
