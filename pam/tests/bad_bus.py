#!/usr/bin/python3
"""A listening socket that is no message bus. usage: bad_bus.py PATH BEHAVIOUR

BEHAVIOUR: "silent" (never accepts), "mute" (accepts, says nothing), "garbage" (sends random bytes), "close" (closes at
once), "half" (lets the client in and then says nothing), "half-frame" (then sends the first half of a message).
Prints "ready"; ends when its standard input does.
"""
import os
import socket
import sys
import threading

path, behaviour = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
os.chmod(path, 0o777)
listener.listen(8)
kept = []


def serve():
    while True:
        connection, _ = listener.accept()
        kept.append(connection)
        if behaviour == "garbage":
            connection.sendall(os.urandom(4096))
        elif behaviour == "close":
            connection.close()
        elif behaviour.startswith("half"):
            connection.recv(4096)
            connection.sendall(b"DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n")
            if behaviour == "half-frame":
                connection.sendall(b"l\x02\x01\x01\x10\x00\x00\x00\x01\x00\x00\x00")


if behaviour != "silent":
    threading.Thread(target=serve, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
