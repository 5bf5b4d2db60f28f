#!/usr/bin/python3
"""Stands in for whorl-reader: passes everything through to the real one (named in the file `real` beside this script),
but the readers, as long as there is a pipe `arrival` there. With a file `slow` beside it the answer to the question for them
waits until something is written to the pipe; else there are none until then, and they are plugged in at that moment."""
import os
import select
import socket
import subprocess
import sys

folder = os.path.dirname(os.path.abspath(sys.argv[0]))
with open(folder + "/real") as file:
    real = file.read().strip()
try:
    # For writing too, so that there is no end of file.
    arrival = os.open(folder + "/arrival", os.O_RDWR)
except FileNotFoundError:
    os.execv(real, [real] + sys.argv[1:])
is_slow = os.path.exists(folder + "/slow")
daemon = socket.socket(fileno=3)
here, there = socket.socketpair()
child = subprocess.Popen([real] + sys.argv[1:], preexec_fn=lambda: os.dup2(there.fileno(), 3), pass_fds=[3])
there.close()
poller = select.poll()
for descriptor in (daemon, here, arrival):
    poller.register(descriptor, select.POLLIN)
held = None
have_come = False
rest = b""


def frame(message):
    return len(message).to_bytes(4, "little") + message


def filtered(message):
    """What goes on to whorld of one message of the bridge's."""
    global held
    # 2 is a reply, with the request's number; 3 in it is a list of readers.
    if have_come or message[:1] != b"\x02" or message[9:10] != b"\x03":
        return frame(message)
    held = message
    return b"" if is_slow else frame(message[:10] + b"\x00")


while True:
    for descriptor, _ in poller.poll():
        if descriptor == arrival:
            os.read(arrival, 4096)
            have_come = True
            poller.unregister(arrival)
            if held is not None:
                # 3 is an event, 4 in it that there are other readers.
                daemon.sendall(frame(held if is_slow else b"\x03\x04" + held[10:]))
            continue
        source = daemon if descriptor == daemon.fileno() else here
        try:
            data = source.recv(65536)
        except OSError:
            data = b""
        if not data:
            child.kill()
            sys.exit(0)
        if source is daemon:
            here.sendall(data)
            continue
        rest += data
        while len(rest) >= 4 and len(rest) >= 4 + int.from_bytes(rest[:4], "little"):
            end = 4 + int.from_bytes(rest[:4], "little")
            daemon.sendall(filtered(rest[4:end]))
            rest = rest[end:]
