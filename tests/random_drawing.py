"""For tests: draws values of keys, of the kinds and in the ranges that `heddle schema` and `heddle list` state. Which keys go
together is not known here; random_experiments.py knows it.
"""

import json
import math
import random
import subprocess

UNITS = {"time": [("ns", 1.0), ("us", 1.0)], "flops": [("f", 100.0), ("kf", 1.0)], "bytes": [("B", 100.0), ("KiB", 4.0)],
         "bandwidth": [("GBps", 1.0), ("Gbps", 10.0)]}


def log_uniform(rng, low, high):
    """A number in [low, high] whose logarithm is uniform; of numbers that are not all positive the number itself."""
    if low <= 0:
        return rng.uniform(low, high) if low < 0 or rng.random() < 0.7 else float(rng.choice((low, high)))
    return math.exp(rng.uniform(math.log(low), math.log(high)))


class Draws(random.Random):
    """`decades`: how far quantities lie around their defaults."""

    decades = 1.0


def near(rng, quantity, decades=None):
    """A quantity such as 1.5us, so many decades around it."""
    unit = quantity.lstrip("0123456789.e+-")
    decades = decades or rng.decades
    return f"{float(quantity[:len(quantity) - len(unit)]) * 10 ** rng.uniform(-decades, decades):.3g}{unit}"


class Schema:
    """What the program says about its experiments."""

    def __init__(self, heddle):
        def said(*words):
            return json.loads(subprocess.run([heddle, *words], capture_output=True, text=True, check=True).stdout)

        self.root = said("schema")
        self.graphs = {graph["name"]: graph for graph in said("list", "graphs", "--json")}
        self.algorithms = {}
        for one in said("list", "collectives", "--json"):
            operation, algorithm = one["name"].split()
            self.algorithms.setdefault(operation, []).append(algorithm)
        parts = self.root["properties"]["workload"]["allOf"]
        self.workloads = {part["if"]["properties"]["name"]["const"]: part["then"]["properties"] for part in parts}
        self.platform, self.schedule, self.transport = (self.root["properties"][name]["properties"]
                                                        for name in ("platform", "schedule", "transport"))
        self.stealing = next(one for one in self.schedule["stealing"]["anyOf"] if "properties" in one)
        self.overheads = next(one for one in self.platform["overheads"]["anyOf"] if "properties" in one)["properties"]


def kind_of(node):
    """The name of the definition that a key refers to, such as `time`; else its type."""
    for one in (node, *node.get("allOf", ()), *node.get("anyOf", ())):
        if "$ref" in one:
            return one["$ref"].rsplit("/", 1)[1]
    return node.get("type", "enum")


def draw(rng, node, small=None):
    """A value of the kind that the schema states: in `small`, if that is stated, else near the default."""
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return rng.choice(node["enum"])
    kind, default = kind_of(node), node.get("default")
    if kind == "boolean":
        return rng.random() < 0.5
    low, high = node.get("minimum", 0), node.get("maximum", math.inf)
    if small:
        low, high = max(low, small[0]), min(high, small[1])
        if kind == "integer":
            return min(int(high), max(int(low), round(log_uniform(rng, low + 1, high + 1)) - 1))
        value = log_uniform(rng, low, high)
        return int(value) if kind == "bytes" else float(f"{value:.4g}")
    if kind == "integer":
        default = default or 0
        return rng.randint(int(max(low, default // 8)), int(min(high, max(8, default * 4))))
    if kind == "number":
        middle = float(default or 0)
        value = rng.uniform(low, high) if high <= 1 else rng.uniform(0, 0.5) if middle == 0 else middle * 10 ** rng.uniform(-1, 1)
        return float(f"{min(high, max(low, value)):.4g}")
    if kind == "array":
        return [draw(rng, {**node["items"], "default": node.get("default") or None}) for _ in range(rng.randint(1, 3))]
    if kind in UNITS:
        if default and float(default.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) != 0:
            return near(rng, default)
        unit, size = rng.choice(UNITS[kind])
        return near(rng, f"{size}{unit}") if kind == "bandwidth" or rng.random() < 0.8 else 0
    return None  # a text: what it may be is not in the schema


def draw_keys(rng, properties, share, special=(), small=None):
    """Of each key a value or none; those in `special` are left to the caller."""
    drawn = {}
    for name, node in properties.items():
        if not isinstance(node, dict) or name in special or rng.random() >= share:
            continue
        if node.get("type") == "object":
            value = draw_keys(rng, node["properties"], 0.6, special)
        else:
            value = draw(rng, node, (small or {}).get(name))
        if value is not None and value != {}:
            drawn[name] = value
    return drawn
