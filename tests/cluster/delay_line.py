"""Delays the messages between hosts in a test: a switch between TAP devices, one for each host, passes every packet on
after a time. It behaves the same on every kernel, also on kernels without netem.

usage: delay_line.py DEVICE...

The devices are made in this process's network namespace, and may then be moved to others. Each line of the standard input is
a delay in seconds, one way, for the packets that come from now on; each is answered with a line. It ends with its input.
"""

import collections
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP = 2
IFF_NO_PI = 0x1000
PACKET_MAX = 65536
GROUP_BIT = 1  # of an address's first byte: more hosts than one


def tap(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH14x", name.encode(), IFF_TAP | IFF_NO_PI))
    return device


def write(device, packet):
    try:
        os.write(device, packet)
    except OSError:
        pass  # the device is down, or full: a network may lose packets


class Line:
    def __init__(self, devices):
        self.devices = devices
        self.delay = 0.0
        self.places = {}  # which device an address is behind
        self.under_way = collections.deque()  # when it is due, the device it came from, the packet

    def take(self, device):
        while True:
            try:
                packet = os.read(device, PACKET_MAX)
            except BlockingIOError:
                return
            except OSError:
                return  # the device is down
            self.places[packet[6:12]] = device
            self.under_way.append((time.monotonic() + self.delay, device, packet))

    def give_what_is_due(self):
        while self.under_way and self.under_way[0][0] <= time.monotonic():
            _, source, packet = self.under_way.popleft()
            place = None if packet[0] & GROUP_BIT else self.places.get(packet[:6])
            for device in [place] if place is not None else self.devices:
                if device != source:
                    write(device, packet)

    def seconds_to_next(self):
        return max(0.0, self.under_way[0][0] - time.monotonic()) if self.under_way else None


def main(names):
    line = Line([tap(name) for name in names])
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([sys.stdin, *line.devices], [], [], line.seconds_to_next())
        for source in ready:
            if source is not sys.stdin:
                line.take(source)
                continue
            text = sys.stdin.readline()
            if not text:
                return
            line.delay = float(text)
            print("set", flush=True)
        line.give_what_is_due()


if __name__ == "__main__":
    main(sys.argv[1:])
