"""A program on a terminal of its own, and the person who sits at it."""
import fcntl
import os
import pty
import pwd
import re
import select
import signal
import sys
import termios
import time

from world import ALICE, PATH

LIMIT = 20


class Terminal:
    """Runs `command` as `user` with a new pty as its controlling terminal.

    `stdin`, `stdout` and `third` are descriptors that it gets as 0, 1 and 3.
    """

    def __init__(self, command, user=ALICE, environment=None, stdin=None, stdout=None, third=None):
        self.master, slave = pty.openpty()
        self.name = os.ttyname(slave)
        entry = pwd.getpwnam(user)
        os.chown(self.name, entry.pw_uid, -1)
        # A place to come back to, as a shell would have set it.
        settings = termios.tcgetattr(slave)
        settings[0] |= termios.IUTF8 if hasattr(termios, "IUTF8") else 0o40000
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.seen = b""
        self.position = 0
        self.status = None
        self.pid = os.fork()
        if self.pid == 0:
            try:
                # As a login shell would have them: whoever started the tests may ignore some (nohup, a job in the background).
                for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                    signal.signal(number, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_SETMASK, ())
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                os.dup2(stdin if stdin is not None else slave, 0)
                os.dup2(stdout if stdout is not None else slave, 1)
                os.dup2(slave, 2)
                if third is not None:
                    os.dup2(third, 3)
                    # Where it was 3 already, it still closes by itself.
                    os.set_inheritable(3, True)
                os.closerange(3 if third is None else 4, 256)
                if entry.pw_uid != os.getuid():
                    os.initgroups(user, entry.pw_gid)
                    os.setgid(entry.pw_gid)
                    os.setuid(entry.pw_uid)
                os.chdir("/")
                os.execve(command[0] if command[0].startswith("/") else f"/usr/bin/{command[0]}", command,
                          {"PATH": PATH, "HOME": entry.pw_dir, "USER": user, "LANG": "C.UTF-8", "TERM": "dumb",
                           **(environment or {})})
            finally:
                os._exit(127)

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def expect(self, text, seconds=LIMIT):
        """Waits until `text` (a regular expression) is shown after what was expected before."""
        end = time.monotonic() + seconds
        pattern = re.compile(text.encode())
        while True:
            found = pattern.search(self.seen, self.position)
            if found:
                self.position = found.end()
                return found.group().decode()
            if time.monotonic() > end:
                raise AssertionError(f"not shown: {text!r}; shown: {self.seen[self.position:]!r} of {self.seen!r}")
            self.read(0.1)

    def type(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def settle(self):
        """Reads what is there."""
        while self.read(0.05):
            pass

    @property
    def text(self):
        self.settle()
        return self.seen.decode(errors="replace").replace("\r\n", "\n")

    @property
    def echoes(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def wait_for_echo(self, on):
        end = time.monotonic() + LIMIT
        while self.echoes != on:
            if time.monotonic() > end:
                raise AssertionError(f"echo is not {'on' if on else 'off'}: {self.seen!r}")
            self.read(0.01)

    @property
    def is_as_before(self):
        """Whether the terminal is as the program found it."""
        return termios.tcgetattr(self.slave) == self.before

    @property
    def waiting(self):
        """How many bytes of whole lines were typed and not read yet."""
        return int.from_bytes(fcntl.ioctl(self.slave, termios.FIONREAD, bytes(4)), sys.byteorder)

    @property
    def left_over(self):
        """What was typed and nobody has read."""
        os.set_blocking(self.slave, False)
        settings = termios.tcgetattr(self.slave)
        raw = list(settings)
        raw[3] &= ~termios.ICANON
        raw[6] = list(settings[6])
        raw[6][termios.VMIN] = 0
        termios.tcsetattr(self.slave, termios.TCSANOW, raw)
        try:
            return os.read(self.slave, 4096)
        except BlockingIOError:
            return b""
        finally:
            termios.tcsetattr(self.slave, termios.TCSANOW, settings)
            os.set_blocking(self.slave, True)

    def signal(self, number, pid=None):
        os.kill(pid or self.pid, number)

    @property
    def ended(self):
        """Whether the program has ended; `status` is known then."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self, seconds=LIMIT):
        """The status: 0 and more an exit, less than 0 a signal."""
        end = time.monotonic() + seconds
        while not self.ended:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise AssertionError(f"does not end; shown: {self.seen[-2000:]!r}")
            self.read(0.01)
        self.settle()
        return self.status

    def close(self):
        if self.status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        for descriptor in (self.master, self.slave):
            try:
                os.close(descriptor)
            except OSError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
