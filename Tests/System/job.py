#!/usr/bin/python3
"""A shell with one job, which leaves the terminal's settings alone, as not every shell does.

usage: job.py COMMAND...     "fg" on descriptor 3 has the job go on.
"""
import os
import signal
import sys

# The terminal changes hands from here.
signal.signal(signal.SIGTTOU, signal.SIG_IGN)


def main():
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.close(3)
        os.execvp(sys.argv[1], sys.argv[1:])
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return abs(os.waitstatus_to_exitcode(status))
        os.tcsetpgrp(0, os.getpgrp())
        print("stopped by", signal.Signals(os.WSTOPSIG(status)).name, flush=True)
        if os.read(3, 10) != b"fg\n":
            return 1
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)


sys.exit(main())
