"""Tests that the JSON Schema for editors and the reader of configurations agree. The file is what `heddle schema`
prints. Every shipped configuration validates and is read; bad ones neither validate nor are read. docs/configuration.md has a line for each key.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from script_arguments import script_arguments

try:
    import jsonschema
    import yaml
except ImportError:
    print("python3-jsonschema or python3-yaml is missing: skipped")
    sys.exit(77)

GOOD = [
    "workload: {name: fib}",
    "workload: {name: fib, n: 3, unit_cost: 0}",
    "workload: {name: uts, tree: T3, shift: 1e-3}",
    "{workload: {name: fib}, schedule: {stealing: none}, platform: {overheads: none}}",
    "{workload: {name: fib}, schedule: {stack: 65536, aggregate: 1KiB}}",
    "{workload: {name: fib}, platform: {network: {bandwidth: 1.5GiBps, latency: 0, shape: [4, 4], topology: torus}}}",
    "{workload: {name: fib}, compare: {platform.nodes: [1, 2]}}",
    "{workload: {name: fib}, backend: sim, platform: {cores: 4, sockets: 2, node_speeds: [1, 0.5], core_speeds: [2]}}",
    "{workload: {name: fib}, backend: sim, platform: {noise: {node: 0.05, task: 1e-1}}}",
    "{workload: {name: fib}, backend: sim, platform: {events: [{at: 1ms, node: 0, speed: 0.5}, {at: 0, node: 0, stop: true}]}}",
    "{workload: {name: fib}, backend: sim, platform: {events: [{at: 1ms, link: link-0, bandwidth: 0.1}]}}",
    "{workload: {name: fib}, backend: sim, platform: {events: [{at: 1ms, link: link-0, bandwidth: 2, latency: 10}, {at: 0, link: 0, latency: 10}]}}",
    "{workload: {name: fib}, backend: sim, platform: {memory_bandwidth: [1GBps, 1.6GBps, 12Gbps]}}",
    "{workload: {name: fib}, backend: sim, platform: {kernels: [{kernel: fib.call, speed: 50Gf}], compute: measured}}",
    "{workload: {name: fib}, backend: sim, platform: {kernels: [], compute: declared}}",
    "{workload: {name: jacobi}, backend: sim, platform: {kernels: [{kernel: jacobi.point, size: 2, speed: 5Gf}, {kernel: jacobi.point, size: 3e2, speed: 4Gf}]}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {seconds: [{seed: 1, seconds: 63.8}]}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {improvements: [{seed: 1, over: {seed: 2}, percent: -5}]}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {baseline: {seed: 1}, speedups: [{seed: 2, speedup: 2}], seconds: []}}",
    "{workload: {name: fib}, name: 5}",
    "{workload: {name: fib}, schedule: {stealing: {victim: hierarchical, near: 3, far: 0, amount: half}}}",
    "{workload: {name: fib}, schedule: {stealing: {near: 3, victim: satin}}}",
    "{workload: {name: fib}, platform: {clusters: [1]}}",
]
BAD = [
    "{}",
    "{workload: fib}",
    "{workload: {}}",
    "{workload: {name: fibb}}",
    "{workload: {name: fib, m: 1}}",
    "{workload: {name: fib, n: many}}",
    "{workload: {name: fib, n: -1}}",
    "{workload: {name: fib, unit_cost: 20}}",
    "{workload: {name: uts, tree: T9}}",
    "{workload: {name: fib}, platfrom: {nodes: 1}}",
    "{workload: {name: fib}, platform: {nodes: 0}}",
    "{workload: {name: fib}, platform: {kernels: [{kernel: fib.call}]}}",
    "{workload: {name: fib}, platform: {kernels: [{speed: 1Gf}]}}",
    "{workload: {name: fib}, platform: {kernels: [{kernel: fib.call, speed: 1Gf, sizes: 3}]}}",
    "{workload: {name: fib}, platform: {kernels: [{kernel: fib.call, speed: 1Gf, size: large}]}}",
    "{workload: {name: fib}, platform: {kernels: {fib.call: 1Gf}}}",
    "{workload: {name: fib}, platform: {compute: sometimes}}",
    "{workload: {name: fib}, platform: {overheads: {message_bytes: [{size: 1KiB, send: 1us}]}}}",
    "{workload: {name: fib}, platform: {overheads: {message_bytes: [{size: 1KiB, send: 1us, receive: 1, to: 2}]}}}",
    "{workload: {name: fib}, platform: {nodes: '4'}}",
    "{workload: {name: fib}, platform: {nodes: [4]}}",
    "{workload: {name: fib}, platform: {cores: 0}}",
    "{workload: {name: fib}, platform: {network: {bandwidth: 100}}}",
    "{workload: {name: fib}, platform: {network: {bandwidth: 100Gbp}}}",
    "{workload: {name: fib}, platform: {network: {latency: -1us}}}",
    "{workload: {name: fib}, platform: {network: {topology: ring}}}",
    "{workload: {name: fib}, platform: {network: {shape: 4}}}",
    "{workload: {name: fib}, platform: {overheads: {frok: 1ns}}}",
    "{workload: {name: fib}, platform: {memory_bandwidth: []}}",
    "{workload: {name: fib}, platform: {memory_bandwidth: [1GBps, 7]}}",
    "{workload: {name: fib}, platform: {memory_bandwidth: [[1GBps]]}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {seconds: [{seed: 1, seconds: 0}]}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {seconds: [{seed: 1}]}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {seconds: [], speedups: []}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {improvements: [{seed: 1, percent: 5}]}}",
    "{workload: {name: fib}, compare: {seed: [1, 2]}, published: {improvements: [{seed: 1, over: {seed: 2}, percent: 100}]}}",
    "{workload: {name: fib}, platform: {sockets: 0}}",
    "{workload: {name: fib}, platform: {node_speeds: 1}}",
    "{workload: {name: fib}, platform: {core_speeds: [fast]}}",
    "{workload: {name: fib}, platform: {noise: 0.1}}",
    "{workload: {name: fib}, platform: {noise: {nodes: 0.1}}}",
    "{workload: {name: fib}, platform: {events: {at: 1ms, node: 0, speed: 0.5}}}",
    "{workload: {name: fib}, platform: {events: [{at: 1, node: 0, speed: 0.5}]}}",
    "{workload: {name: fib}, platform: {events: [{node: 0, speed: 0.5}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, node: 0}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, node: 0, speed: 0.5, stop: true}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, node: -1, stop: true}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, node: 0, stop: 1}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, node: 0, halt: true}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, link: link-0}]}}",
    "{workload: {name: fib}, platform: {events: [{link: link-0, latency: 10}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, latency: 10}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, link: '', latency: 10}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, link: link-0, node: 0, latency: 10}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, link: link-0, latency: 10, speed: 1}]}}",
    "{workload: {name: fib}, platform: {events: [{at: 1ms, link: link-0, bandwidth: 1GBps}]}}",
    "{workload: {name: fib}, schedule: {stealing: {victim: randm}}}",
    "{workload: {name: fib}, schedule: {stealing: random}}",
    "{workload: {name: fib}, schedule: {stealing: {near: 3}}}",
    "{workload: {name: fib}, schedule: {stealing: {victim: random, near: 3}}}",
    "{workload: {name: fib}, schedule: {stealing: {victim: satin, far: 1}}}",
    "{workload: {name: fib}, schedule: {stealing: {victim: satin, near: 0}}}",
    "{workload: {name: fib}, schedule: {placement: blok}}",
    "{workload: {name: fib}, schedule: {stack: -1MiB}}",
    "{workload: {name: fib}, backend: simulator}",
    "{workload: {name: fib}, seed: 1.5}",
    "{workload: {name: fib}, repeat: 0}",
    "{workload: {name: fib}, compare: {seed: 1}}",
    "{workload: {name: fib}, compare: {seed: []}}",
]


def keys_of(schema, before=""):
    """The dotted keys of a schema that have no keys of their own."""
    for key, part in schema["properties"].items():
        if "properties" in part:
            yield from keys_of(part, before + key + ".")
        else:
            yield before + key


def without_a_line(schema, page):
    """The keys that no first column of a table of the page names, nor names with `*` or as a section."""
    named = set()
    for cell in re.findall(r"^\| (`[^|]*) \|", page, re.M):
        named |= set(re.findall(r"`([^`]+)`", cell))
    for key in keys_of(schema):
        words = key.removeprefix("platform.").split(".")
        parts = {".".join(words[:count]) for count in range(1, len(words) + 1)}
        if not named & (parts | {part + ".*" for part in parts}):
            yield key


def main():
    arguments = script_arguments("heddle")
    failures = []

    printed = subprocess.run([arguments.heddle, "schema"], capture_output=True, text=True, check=True).stdout
    shipped = os.path.join(arguments.source, "configs", "heddle.schema.json")
    with open(shipped, encoding="utf-8") as file:
        if file.read() != printed:
            failures.append("configs/heddle.schema.json is not up to date: heddle schema > configs/heddle.schema.json")
    schema = json.loads(printed)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)

    with open(os.path.join(arguments.source, "docs", "configuration.md"), encoding="utf-8") as file:
        page = file.read()
    for key in without_a_line(schema, page):
        failures.append(f"docs/configuration.md has no line for {key}")
    assert list(without_a_line({"properties": {"seed": {}, "odd": {"properties": {"key": {}}}}}, page)) == ["odd.key"]

    configurations = sorted(glob.glob(os.path.join(arguments.source, "configs", "**", "*.yaml"), recursive=True))
    assert len(configurations) >= 4, configurations
    for path in configurations:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for error in validator.iter_errors(yaml.safe_load(text)):
            failures.append(f"{path}: {error.message}")
        modeline = f"# yaml-language-server: $schema={os.path.relpath(shipped, os.path.dirname(path))}"
        if text.split("\n")[0] != modeline:
            failures.append(f"{path}: its first line is not {modeline}")

    def accepted_by_heddle(text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = subprocess.run([arguments.heddle, "run", path, "--resolve"], capture_output=True, text=True)
            assert result.returncode in (0, 2), (text, result)
            return result.returncode == 0

    for text in GOOD:
        for error in validator.iter_errors(yaml.safe_load(text)):
            failures.append(f"good, but does not validate: {text}: {error.message}")
        if not accepted_by_heddle(text):
            failures.append(f"good, but heddle refuses it: {text}")
    for text in BAD:
        if validator.is_valid(yaml.safe_load(text)):
            failures.append(f"bad, but validates: {text}")
        if accepted_by_heddle(text):
            failures.append(f"bad, but heddle takes it: {text}")

    print("\n".join(failures))
    print(f"{len(configurations)} configurations, {len(GOOD)} good and {len(BAD)} bad ones, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
