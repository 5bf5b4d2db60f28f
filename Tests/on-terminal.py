#!/usr/bin/python3
"""Runs a program on a terminal of its own, answers what it asks, and shows what it showed.

usage: on-terminal.py [--type QUESTION ANSWER | --run QUESTION COMMAND]... -- PROGRAM [ARGUMENT]...

Whenever QUESTION is shown, ANSWER and Enter are typed, or COMMAND is run by the shell. Ends as the program does.
"""
import os
import pty
import subprocess
import sys
import termios
import time


def silence(terminal):
    """Waits until nothing is echoed any more: a program that asks for a passcode throws away what was typed before that."""
    end = time.monotonic() + 20
    while termios.tcgetattr(terminal)[3] & termios.ECHO and time.monotonic() < end:
        time.sleep(0.01)


def main(words):
    reactions = []
    while words and words[0] in ("--type", "--run"):
        reactions.append((words[0], words[1].encode(), words[2]))
        words = words[3:]
    if words[:1] != ["--"] or len(words) < 2:
        sys.exit(__doc__)
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(words[1], words[1:])
    shown, done = b"", 0
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        os.write(1, piece.replace(b"\r", b""))
        shown += piece
        while True:
            found = [(shown.find(text, done), text, kind, what) for kind, text, what in reactions if text in shown[done:]]
            if not found:
                break
            place, text, kind, what = min(found)
            done = place + len(text)
            if kind == "--type":
                silence(terminal)
                os.write(terminal, what.encode() + b"\n")
            else:
                subprocess.run(what, shell=True, check=True)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


sys.exit(main(sys.argv[1:]))
