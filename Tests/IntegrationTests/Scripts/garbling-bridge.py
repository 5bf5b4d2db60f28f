#!/usr/bin/python3
"""Stands in for whorl-reader: passes everything through to the real one (named in the file `real` beside this script)
until a file `garble` appears there; the next event that the real one tells is garbage then. Its answers to pings, which
come whenever they come, are not. A new process starts honest."""
import os
import select
import socket
import subprocess
import sys

folder = os.path.dirname(os.path.abspath(sys.argv[0]))
with open(folder + "/real") as file:
    real = file.read().strip()
flag = folder + "/garble"
daemon = socket.socket(fileno=3)
here, there = socket.socketpair()
child = subprocess.Popen([real] + sys.argv[1:], preexec_fn=lambda: os.dup2(there.fileno(), 3), pass_fds=[3])
there.close()
poller = select.poll()
poller.register(daemon, select.POLLIN)
poller.register(here, select.POLLIN)
while True:
    for descriptor, _ in poller.poll():
        source, sink = (daemon, here) if descriptor == daemon.fileno() else (here, daemon)
        try:
            data = source.recv(65536)
        except OSError:
            data = b""
        if not data:
            child.kill()
            sys.exit(0)
        # A frame is a length of four bytes, then its kind: 3 is an event.
        if source is here and data[4:5] == b"\x03" and os.path.exists(flag):
            os.unlink(flag)
            data = b"\x00\x00\x00\x08garbage!" + data
        try:
            sink.sendall(data)
        except OSError:
            child.kill()
            sys.exit(0)
