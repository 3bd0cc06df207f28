"""For tests: reads traces without any code of the program that writes them. It has a small decoder of Perfetto's format
(field numbers from its public protos/perfetto/trace/*.proto), and a small reader of the Paje format.
"""

import collections
import shlex
import struct


# --- Perfetto

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message: {number: [values]}; what has a length as bytes."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert key & 7 == 2, f"kind {key & 7}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        found[key >> 3].append(value)
    return found


def annotated(note):
    """The value of an annotation: a number, a real number or a text."""
    if note[3]:
        return note[3][0]
    return struct.unpack("<d", note[5][0].to_bytes(8, "little"))[0] if note[5] else note[6][0].decode()


def read_perfetto(data):
    """Slices of workers {(node, worker): [(begin, end, name)]} in nanoseconds, slices of modules, flows
    {number: [(node, begin)]}, and tasks [{"worker", "begin", "end", "kernel", and what is annotated}] in the order of
    their ends."""
    names, labels, tracks, flows = {}, {}, {}, collections.defaultdict(list)
    running = collections.defaultdict(list)
    workers, modules, tasks = collections.defaultdict(list), collections.defaultdict(list), []
    before = 0
    for raw in fields(data)[1]:
        packet = fields(raw)
        assert packet[10] == [1], "one sequence"
        if packet[12]:
            assert packet[13] == ([2] if names else [1]), "the first packet clears the state"
            interned = fields(packet[12][0])
            for number, into in ((2, names), (3, labels)):
                for entry in map(fields, interned[number]):
                    assert entry[1][0] not in into
                    into[entry[1][0]] = entry[2][0].decode()
        elif packet[60]:
            track = fields(packet[60][0])
            uuid = track[1][0]
            assert uuid not in tracks
            if track[3]:  # a process
                process = fields(track[3][0])
                tracks[uuid] = ("node", process[6][0].decode(), process[1][0])
            elif track[4]:
                thread = fields(track[4][0])
                node = next(name for _, name, pid in tracks.values() if pid == thread[1][0])
                tracks[uuid] = ("worker", (node, thread[5][0].decode()), None)
            else:
                kind, parent, _ = tracks[track[5][0]]
                name = track[2][0].decode()
                tracks[uuid] = ("tasks", parent, None) if kind == "worker" else ("module", (parent, name), None)
        else:
            assert packet[13] == [2], "needs the names"
            event, time = fields(packet[11][0]), packet[8][0]
            assert time >= before, "in the order of time"
            before = time
            uuid = event[11][0]
            kind, owner, _ = tracks[uuid]
            said = {labels[note[1][0]]: annotated(note) for note in map(fields, event[4])}
            if event[9] == [1]:
                assert kind == "tasks" or not running[uuid], "slices do not overlap"
                running[uuid].append((time, names[event[10][0]], said))
                for flow in event[47] + event[48]:
                    flows[flow].append((owner, time))
                continue
            assert event[9] == [2]
            begin, name, known = running[uuid].pop()
            if kind == "tasks":
                tasks.append({"worker": owner, "begin": begin, "end": time, "kernel": name, **known, **said})
            else:
                (workers if kind == "worker" else modules)[owner].append((begin, time, name))
    assert not any(running.values()), "every slice ends"
    return workers, modules, flows, tasks


# --- Paje

def picoseconds(text):
    whole, part = text.split(".")
    assert len(part) == 12
    return int(whole) * 10**12 + int(part)


def read_paje(text):
    """States of workers {container: [(begin, end, name)]} in picoseconds, links {key: (begin, end)}, and tasks as those
    of read_perfetto. A text "-" is empty."""
    stacks, tasks, kernels, created = collections.defaultdict(list), [], {}, set()
    kinds, kind = {}, None
    states, current, links, sizes, before = collections.defaultdict(list), {}, {}, {}, 0
    for line in text.splitlines():
        words = ["" if word == "-" else word for word in shlex.split(line)]
        if words[0] == "%EventDef":
            kinds[words[2]] = words[1]
        if words[0].startswith("%"):
            continue
        kind = kinds[words[0]]
        if kind == "PajeDefineEntityValue" and words[2] == "T":
            kernels[words[1]] = words[3]
        if kind == "PajeCreateContainer":
            created.add(words[2])
        if kind.startswith("PajeDefine") or kind == "PajeCreateContainer":
            continue
        time = picoseconds(words[1])
        assert time >= before, "in the order of time"
        before = time
        if kind == "PajeDestroyContainer":
            created.remove(words[3])
            assert not stacks[words[3]], "every task ends before its worker"
        if kind == "PajeSetState" or (kind == "PajeDestroyContainer" and words[2] == "W"):
            owner = words[3]
            if owner in current:
                states[owner].append((current[owner][0], time, current[owner][1]))
            current[owner] = (time, words[4] if kind == "PajeSetState" else "gone")
        elif kind == "PajePushState" and words[2] == "T":
            assert words[3] in created, "a task belongs to a worker that is there"
            stacks[words[3]].append({"worker": words[3], "begin": time, "kernel": kernels[words[4]], "task": words[5],
                                     "name": words[6], "placed on": words[7], "stolen from": words[8]})
        elif kind == "PajePopState" and words[2] == "T":
            tasks.append({**stacks[words[3]].pop(), "end": time, "flops": float(words[4])})
        elif kind == "PajeStartLink":
            assert words[-1] not in links
            links[words[-1]] = (time, None)
            sizes[words[-1]] = words[4]
        elif kind == "PajeEndLink":
            links[words[-1]] = (links[words[-1]][0], time)
            assert sizes[words[-1]] == words[4], "a message keeps its size"
    assert all(name == "gone" for _, name in current.values()), "every worker ends"
    assert not any(stacks.values()), "every task ends"
    return states, links, tasks
