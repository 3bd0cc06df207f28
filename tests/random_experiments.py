"""For tests: makes an experiment of a seed. Names, kinds and ranges of the keys are those of `heddle schema` and `heddle list`
(random_drawing.py), so that a new workload, policy or key is drawn without a change here. SIZES keeps the runs small, and what
one key says of another (shapes, networks, events) is stated below. It runs nothing; random_runs_slow_test.py does.
"""

import json
import math

from random_drawing import Draws, draw, draw_keys, kind_of, near

# Ranges of workloads' settings by name, or by workload and name: small enough for a run of a fraction of a second, and large
# enough for messages of more than 8 KiB, which travel in another way.
SIZES = {
    "tiles": (1, 6), "tile_size": (1, 48), "repeats": (1, 3), "rounds": (1, 6), "messages": (1, 40), "pairs": (1, 4), "threads": (1, 24),
    "sweeps": (1, 6), "strips": (1, 12), "iterations": (1, 20), "bytes": (1, 100000), "unroll": (0, 4), "cutoff": (0, 10), "group": (0, 8),
    "pools": (1, 4), "masses": (1, 5000), "parts": (1, 4), "unrolled": (1, 8), "descents": (1, 3), "window": (1, 70), "steps": (0, 200),
    "tasks": (0, 300), "length": (1, 400), "block_rows": (1, 128), "block_columns": (1, 128), "skew": (0, 5), "total": (0, 200000),
    "copiers": (1, 5), "communicators": (1, 3), "pieces": (1, 20), "block": (0, 40), "tile": (0, 40), "grid_rows": (0, 4), "depth": (0, 4),
    "requests": (0, 3), "map_width": (640, 2600), "map_height": (480, 2000), "x": (0, 600), "y": (0, 400), "width": (0, 1500),
    "height": (0, 1500), "factor": (4, 64), "exponent": (0, 6), "from": (-5, 5), "to": (0, 20), "tolerance": (10, 1e6), "mode": (1, 4),
    "grain": (1, 100), "match": (1, 20), "mismatch": (0, 20), "gap_open": (0, 20), "gap_extend": (0, 20), "children": (1, 5), "step": (0.01, 0.9),
    "fragment": (64, 70000), "header": (40, 64), "fragments": (1, 64), "control_blocks": (1, 1024), "send_buffers": (1, 64),
    "adaptive.n": (1, 2000), "dataflow_fib.n": (0, 13), "dataflow_jacobi.n": (3, 130), "dataflow_nqueens.n": (0, 8), "earth_fib.n": (0, 13),
    "earth_nqueens.n": (0, 6), "fft2d.n": (1, 64), "fib.n": (0, 16), "filament_fib.n": (1, 17), "filament_lu.n": (2, 40), "jacobi.n": (3, 60),
    "matmul.n": (1, 40), "nqueens.n": (0, 7), "ptrans.n": (1, 150), "uts.depth": (1, 5), "uts.branching": (1, 5), "jacobi.tolerance": (0, 0.01),
    "dataflow_strassen.rows": (1, 64), "dataflow_strassen.cutoff": (1, 32), "dataflow_strassen.depth": (0, 2), "mass_spring.mass": (0.5, 2),
    "mass_spring.stiffness": (0.5, 2), "overlap.steps": (0, 5000), "uts.cutoff": (0, 6),
}
FEW = {"nas_cg": 0.15, "nas_ft": 0.15, "nas_is": 0.3, "map_viewer": 0.4}  # long ones are drawn less often
ALWAYS = {"n", "length", "tiles", "tile_size", "rows", "tasks", "messages", "masses", "iterations", "rounds", "threads", "repeats", "sweeps",
          "operation", "algorithm", "loop", "graph", "map_width", "map_height", "tolerance", "to", "bytes", "steps", "depth"}
SIZES_OF_GRAPHS = {"tasks": (1, 80), "width": (1, 8), "height": (1, 4), "steps": (1, 8), "stages": (1, 4), "depth": (0, 4), "arity": (1, 3),
                   "points": (2, 32), "tiles": (1, 6), "tile_size": (1, 64), "pairs": (1, 4), "degree": (1, 4), "reach": (1, 3), "radix": (1, 4)}


def members_of(network):
    return set(map(int, network["members"].split(",")))


class Experiment:
    """An experiment of a seed: `sections`, and `files` beside it by name. `native`: processes, else a simulation."""

    def __init__(self, schema, seed, native, hardware_faults=True):
        self.schema, self.seed, self.native, self.hardware_faults = schema, seed, native, hardware_faults
        self.rng, self.files = Draws(seed), {}
        if self.rng.random() < 0.2:
            self.rng.decades = 3.0
        names = [name for name in schema.workloads if self.rng.random() < FEW.get(name, 1)]
        workload = self.make_workload(self.rng.choice(names))
        self.sections = {"workload": workload}
        self.sections["platform"] = self.make_native_platform() if native else self.make_platform()
        self.sections["schedule"] = self.make_schedule()
        if native or self.rng.random() < 0.3:
            transport = self.make_transport()
            if self.sections["schedule"].get("modules", "separate") != "separate":
                transport.pop("send", None)  # it is the sender module that sends sequences
            self.sections["transport"] = transport
        self.sections["backend"] = "native" if native else "sim"
        self.sections["seed"] = self.rng.randint(0, 10**6)

    def yaml(self, **changes):
        """Its text, with other sections in place of some. Values are written as JSON, which is YAML."""
        lines = []
        for name, section in {**self.sections, **changes}.items():
            if isinstance(section, dict) and section:
                lines += [f"{name}:"] + [f"  {key}: {json.dumps(value)}" for key, value in section.items()]
            elif section != {}:
                lines.append(f"{name}: {json.dumps(section)}")
        return "\n".join(lines) + "\n"

    # --- the program

    def make_workload(self, name):
        rng, settings = self.rng, {"name": name}
        for key, node in self.schema.workloads[name].items():
            if key == "name" or not (key in ALWAYS or rng.random() < 0.35):
                continue
            small = SIZES.get(f"{name}.{key}", SIZES.get(key))
            if kind_of(node) in ("integer", "number", "bytes"):
                settings[key] = draw(rng, node, small or self.at_most_default(node))
            else:
                value = draw(rng, node)
                if value is not None:
                    settings[key] = value
        fit = getattr(self, "fit_" + name, None)
        if fit:
            fit(settings)
        return settings

    @staticmethod
    def at_most_default(node):
        """Of a size that SIZES does not know: no more than the default."""
        default = node.get("default")
        return (node["minimum"], default) if kind_of(node) == "integer" and default and "minimum" in node else None

    def fit_atgc(self, settings):
        if "gap_extend" in settings:
            settings["gap_open"] = settings["gap_extend"] + self.rng.randint(0, 5)
        if self.rng.random() < 0.3:
            for name in ("a", "b")[:self.rng.randint(1, 2)]:
                records = [f">{name}{i}\n" + "".join(self.rng.choices("ACGT", k=self.rng.randint(1, 90))) for i in range(self.rng.randint(1, 4))]
                self.files[name + ".fasta"] = "\n".join(records) + "\n"
                settings[name] = name + ".fasta"
        if settings.get("matrix") == "blosum62":
            settings["alphabet"] = "protein"
            for key in ("match", "mismatch"):
                settings.pop(key, None)

    def fit_collective(self, settings):
        algorithms = self.schema.algorithms.get(settings["operation"], [])
        settings["algorithm"] = self.rng.choice([*algorithms, "auto", "default"])

    def fit_dag(self, settings):
        graph = self.rng.choice(list(self.schema.graphs.values()))
        words = []
        for one in graph.get("settings", ()):
            if one["name"] not in SIZES_OF_GRAPHS and self.rng.random() >= 0.4:
                continue
            node = {"enum": one["choices"]} if one["kind"] == "choice" else {
                "$ref": "#/" + one["kind"], "type": one["kind"], "default": one["default"], "minimum": one.get("at_least", 0),
                "maximum": one.get("at_most", math.inf)}
            if one["kind"] in ("integer", "number", "boolean"):
                del node["$ref"]
                if one["kind"] != "boolean":
                    node["default"] = float(one["default"] or 0)
            value = draw(self.rng, node, SIZES_OF_GRAPHS.get(one["name"]))
            if one["name"] == "points":
                value = 2 ** self.rng.randint(0, 5)
            words.append(f"{one['name']}={str(value).lower() if isinstance(value, bool) else value}")
        settings["graph"] = graph["name"] + (":" + ",".join(words) if words else "")
        for key in ("format", "time_unit", "bytes_unit"):
            settings.pop(key, None)

    def fit_dataflow_nqueens(self, settings):
        if settings.get("subtrees") == "estimate":
            settings["symmetry"] = self.rng.choice(("mirror", "none"))

    def fit_mass_spring(self, settings):
        settings["mode"] = self.rng.randint(1, settings["masses"])
        settings["step"] = settings.get("step", 0.1) * 0.4

    def fit_nas_cg(self, settings):
        settings["class"] = "S"

    fit_nas_ft = fit_nas_is = fit_nas_cg

    def fit_neighbours(self, settings):
        settings["bytes"] += 8

    def fit_nqueens(self, settings):
        if "cutoff" in settings:
            settings["cutoff"] = min(settings["cutoff"], settings["n"])

    def fit_ptrans(self, settings):
        settings.pop("grid_rows", None)

    def fit_uts(self, settings):
        for key in ("type", "shape", "probability", "children", "shift", "branching", "root_seed"):
            settings.pop(key, None)
        settings["tree"] = self.rng.choice(("T1", "T2", "T4", "T5", "custom"))
        if self.rng.random() < 0.3:
            children = self.rng.randint(1, 5)
            settings.update(tree="custom", type="binomial", branching=self.rng.randint(1, 60), children=children,
                            probability=round(self.rng.uniform(0, 0.9) / children, 3), root_seed=self.rng.randint(0, 2**31 - 1))
            settings.pop("depth", None)
        elif settings["tree"] == "custom":
            settings.update(type="geometric", shape=self.rng.choice(("linear", "exponential", "cyclic", "fixed")),
                            branching=round(self.rng.uniform(1, 4), 2))

    # --- the machine

    def make_platform(self):
        rng, schema = self.rng, self.schema
        special = {"from", "nodes", "nodes_at_start", "processes", "cores", "transport", "kernels", "compute", "memory_bandwidth", "sockets",
                   "hosts", "node_speeds", "core_speeds", "events", "clusters", "file", "network", "networks", "overheads"}
        platform = draw_keys(rng, schema.platform, 0.15, special)
        platform.update(nodes=rng.choice((1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 9, 12)), cores=rng.randint(1, 4))
        self.nodes = platform["nodes"]
        if rng.random() < 0.2:
            platform["processes"] = rng.choice([divisor for divisor in range(1, self.nodes + 1) if self.nodes % divisor == 0])
        if rng.random() < 0.2:
            platform["sockets"] = rng.choice([divisor for divisor in range(1, platform["cores"] + 1) if platform["cores"] % divisor == 0])
        for key, length in (("node_speeds", self.nodes), ("core_speeds", platform["cores"])):
            if rng.random() < 0.2:
                platform[key] = [round(10 ** rng.uniform(-1, 0.5), 2) for _ in range(rng.randint(1, length))]
        if rng.random() < 0.2:
            platform["memory_bandwidth"] = near(rng, "40GBps", 2) if rng.random() < 0.5 else [near(rng, "10GBps") for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.1:
            platform["kernels"] = [{"kernel": name, "speed": near(rng, "10Gf")}
                                   for name in rng.sample(("fib.call", "jacobi.point", "matmul.term", "quadrature.look", "queens.placement", "uts.node"), 3)]
        if rng.random() < 0.03:
            platform["compute"] = "measured"
        self.add_network(platform)
        self.add_overheads(platform)
        self.add_events(platform)
        if rng.random() < 0.1:  # a base beside the experiment has some of the keys
            base = {key: platform.pop(key) for key in list(platform) if key not in ("nodes", "file", "processes", "networks") and rng.random() < 0.5}
            self.files["base.yaml"] = json.dumps({"platform": base}) + "\n"
            platform["from"] = "base.yaml"
        return platform

    def network_keys(self, properties, machines):
        keys = draw_keys(self.rng, properties, 0.35, ("shape", "cables", "name", "members", "transport", "interface", "ports"))
        topology = keys.get("topology", "star")
        if topology != "star" and self.rng.random() < 0.4:
            keys["shape"] = self.shape(topology, machines)
            if topology == "fat_tree" and self.rng.random() < 0.5:
                keys["cables"] = [self.rng.randint(1, 3) for _ in keys["shape"]]
        return keys

    def shape(self, topology, machines):
        """Extents that hold the machines, often some more."""
        extents = [self.rng.randint(2 if topology == "torus" else 1, 3) for _ in range(4 if topology == "dragonfly" else self.rng.randint(1, 3))]
        while math.prod(extents) < machines:
            extents[self.rng.randrange(len(extents))] += 1
        if topology == "dragonfly":
            extents[2] = max(extents[2], extents[0])
        return extents

    def add_network(self, platform):
        rng, processes = self.rng, platform.get("processes", 1)
        machines = self.nodes // processes
        which = rng.random()
        if which < 0.1:
            self.add_file(platform)
        elif which < 0.3 and machines >= 2:
            self.add_networks(platform, machines, processes)
        else:
            platform["network"] = self.network_keys(self.schema.platform["network"]["properties"], machines)

    def add_file(self, platform):
        clusters, left, parts = [], self.nodes, []
        while left:
            size = self.rng.randint(1, left)
            name, left = "abcdefghijkl"[len(clusters)], left - size
            clusters.append(name)
            speed, cores = near(self.rng, "10Gf", 0.5), self.rng.randint(1, 4)
            parts.append(f'<cluster id="{name}" prefix="{name}-" suffix="" radical="0-{size - 1}" speed="{speed}" core="{cores}" '
                         f'bw="{near(self.rng, "10GBps")}" lat="{near(self.rng, "1us")}" router_id="{name}-router"/>')
        pairs = [(a, b) for i, a in enumerate(clusters) for b in clusters[i + 1:]]
        parts += [f'<link id="{a}-{b}" bandwidth="{near(self.rng, "1GBps")}" latency="{near(self.rng, "10us")}"/>' for a, b in pairs]
        parts += [f'<zoneRoute src="{a}" dst="{b}" gw_src="{a}-router" gw_dst="{b}-router"><link_ctn id="{a}-{b}"/></zoneRoute>' for a, b in pairs]
        self.files["machine.xml"] = ("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">"
                                     "<zone id=\"world\" routing=\"Full\">\n" + "\n".join(parts) + "\n</zone></platform>\n")
        for key in ("nodes", "processes", "core_speed"):
            platform.pop(key, None)
        platform["file"] = "machine.xml"
        if self.rng.random() < 0.6:
            platform.pop("cores")
        if "kernels" in platform:
            platform["core_speed"] = near(self.rng, "10Gf")
        contention = self.schema.platform["network"]["properties"]["contention"]
        if self.rng.random() < 0.3:
            platform["network"] = {"contention": draw(self.rng, contention)}

    def add_networks(self, platform, machines, processes):
        """Networks that overlap, so that gateways join all nodes; some nodes may be in more of them."""
        rng, networks, begin = self.rng, [], 0
        while begin < machines - 1 or not networks:
            end = rng.randint(begin + 1, machines - 1)
            members = set(range(begin, end + 1)) | {m for m in range(machines) if rng.random() < 0.15}
            networks.append(members)
            begin = end
        if rng.random() < 0.3:
            networks.append(set(range(machines)))
        properties = self.schema.root["definitions"]["network"]["properties"]
        platform["networks"] = [
            {"name": f"net{i}", "members": ",".join(str(n) for m in sorted(members) for n in range(m * processes, (m + 1) * processes)),
             **self.network_keys(properties, len(members))} for i, members in enumerate(networks)]
        for key in ("rails", "gateways"):
            if rng.random() < 0.4:
                node = self.schema.platform[key]
                platform[key] = draw_keys(rng, node["properties"], 0.7) if "properties" in node else draw(rng, node)

    def add_overheads(self, platform):
        which = self.rng.random()
        if which < 0.25:
            platform["overheads"] = "none"
        elif which < 0.6:
            platform["overheads"] = draw_keys(self.rng, self.schema.overheads, 0.4, ("message_bytes",))
            if self.rng.random() < 0.2:
                sizes = sorted(self.rng.sample(range(1, 500), self.rng.randint(1, 3)))
                times = [sorted(self.rng.randint(0, 10**6) for _ in sizes) for _ in range(2)]  # ns; they grow with the size
                platform["overheads"]["message_bytes"] = [{"size": f"{size}KiB", "send": f"{send}ns", "receive": f"{receive}ns"}
                                                          for size, send, receive in zip(sizes, *times)]
                for key in ("message_send_kib", "message_receive_kib"):
                    platform["overheads"].pop(key, None)

    def add_events(self, platform):
        rng, nodes = self.rng, self.nodes
        if rng.random() < 0.65 or platform.get("file"):
            return
        events = []
        for _ in range(rng.randint(1, 4)):
            at, what = 10 ** rng.uniform(0, 3), rng.choice(("speed", "stop", "link", "member", "member"))
            node = rng.randrange(nodes)
            if what == "speed":
                events.append({"at": f"{at:.3g}us", "node": node, "speed": round(10 ** rng.uniform(-1, 0.5), 2)})
            elif what == "stop" and not any("stop" in event for event in events):  # a machine stops once at a time
                events += [{"at": f"{at:.3g}us", "node": node, "stop": True}, {"at": f"{at + 10 ** rng.uniform(0, 3):.6g}us", "node": node, "stop": False}]
            elif what == "link" and "networks" not in platform and platform.get("network", {}).get("topology", "star") == "star":
                link = rng.randrange(nodes // platform.get("processes", 1))
                event = {"at": f"{at:.3g}us", "link": f"link-{link}{rng.choice(('', '_UP', '_DOWN'))}"}
                for key in rng.sample(("bandwidth", "latency"), rng.randint(1, 2)):
                    event[key] = round(10 ** rng.uniform(-1, 1), 2)
                events.append(event)
            elif what == "member" and nodes > 1:
                self.add_members(platform, events)
        if events:
            platform["events"] = events

    def add_members(self, platform, events):
        """Nodes that join after the start, and nodes that leave, each once."""
        rng, nodes = self.rng, self.nodes
        if any("member" in event for event in events):
            return
        networks = platform.get("networks", ())
        gateways = [node for node in range(nodes) if sum(node in members_of(one) for one in networks) > 1]
        start = rng.randint(1 + max(gateways, default=0), nodes)
        platform["nodes_at_start"] = start
        for node in range(1, nodes):
            if node in gateways:  # a gateway takes part from the beginning to the end
                continue
            joined = 0.0
            if node >= start:
                joined = 10 ** rng.uniform(0, 2.5)
                events.append({"at": f"{joined:.4g}us", "node": node, "member": True})
            if rng.random() < 0.4:
                events.append({"at": f"{joined + 10 ** rng.uniform(0, 3):.5g}us", "node": node, "member": False})

    # --- the schedule

    def make_schedule(self):
        rng, schema = self.rng, self.schema
        special = {"placement", "placement_file", "stealing", "deque_slots", "stack", "strand_stack", "fork_window", "memory"}
        schedule = draw_keys(rng, schema.schedule, 0.2, special)
        if rng.random() < 0.5:
            schedule["placement"] = rng.choice([name for name in schema.schedule["placement"]["enum"] if name != "file"])
        if rng.random() < 0.85:
            schedule["stealing"] = self.make_stealing()
        if rng.random() < 0.1:
            schedule["deque_slots"] = 2 ** rng.randint(6, 12)
        if rng.random() < 0.1:
            schedule["stack"] = rng.choice(("256KiB", "1MiB", "2MiB"))
        if rng.random() < 0.1:
            schedule["strand_stack"] = rng.choice(("64KiB", "128KiB", "256KiB"))
        if rng.random() < 0.2:
            schedule["fork_window"] = rng.choice((0, 1, 2, 7, 100))
        if rng.random() < 0.6:
            schedule["memory"] = draw_keys(rng, schema.schedule["memory"]["properties"], 0.6, ("page",), {"group": (1, 8), "prefetch": (0, 4)})
            if rng.random() < 0.4:
                schedule["memory"]["page"] = f"{4 * rng.choice((1, 2, 3, 4, 16))}KiB"
        if not self.hardware_faults:
            schedule.setdefault("memory", {})["trigger"] = "checked"
        return {key: value for key, value in schedule.items() if value != {}}

    def make_stealing(self):
        rng, node = self.rng, self.schema.stealing
        stealing = {"victim": draw(rng, node["properties"]["victim"])}
        own = {}
        for one in node["allOf"]:
            if one["if"].get("properties", {}).get("victim", {}).get("const") == stealing["victim"]:
                own.update(one["then"]["properties"])
        stealing.update(draw_keys(rng, {**node["properties"], **own}, 0.3, ("victim",), {"near": (0, 4), "far": (0, 4), "requests": (1, 8), "retries": (0, 40)}))
        if "back_off_min" in stealing or "back_off_max" in stealing:
            low = 10 ** rng.uniform(-1, 1)
            stealing.update(back_off_min=f"{low:.3g}us", back_off_max=f"{low * 10 ** rng.uniform(0, 2):.4g}us")
        return stealing

    # --- native runs

    def make_native_platform(self):
        rng = self.rng
        self.nodes = rng.randint(1, 3)
        platform = {"nodes": self.nodes, "cores": rng.choice((1, 1, 2))}
        if rng.random() < 0.5:
            platform["transport"] = rng.choice([name for name in self.schema.platform["transport"]["enum"] if name != "mpi"])
        if rng.random() < 0.2:
            platform["clusters"] = [1] * self.nodes
        if self.nodes == 3 and rng.random() < 0.3:
            platform["networks"] = [{"name": "a", "members": "0,1"}, {"name": "b", "members": "1,2"}]
            if rng.random() < 0.5:
                platform["gateways"] = draw_keys(rng, self.schema.platform["gateways"]["properties"], 0.7)
        elif self.nodes > 1 and rng.random() < 0.2:
            platform["nodes_at_start"] = start = rng.randint(1, self.nodes)
            platform["events"] = [{"at": near(rng, "1ms"), "node": node, "member": node >= start} for node in range(1, self.nodes)
                                  if node >= start or rng.random() < 0.5]
        return platform

    def make_transport(self):
        transport = draw_keys(self.rng, self.schema.transport, 0.45, ("interface", "ports", "meeting_time", "segment"))
        if self.sections["platform"].get("transport") == "udp" and self.rng.random() < 0.4:
            transport["udp"] = {"segment": self.rng.randint(256, 40000)}
        return transport
