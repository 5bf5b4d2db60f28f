#!/usr/bin/python3
"""A soak of whorld: mixed operations of eight clients, with clients and bridges killed and readers pulled out.

usage: soak.py --bus ADDRESS --daemon PID --reader SOCKET --storage SOCKET --operations N --seed N

The readers are libfprint's virtual_device and virtual_device_storage. After a round to warm up and after the real one
it looks that no claim and no turn is held, and takes whorld's descriptors and memory. Prints what came of the
operations; exits with 1 and a line that begins with FAILED where something is not as it should be.

This process only forks, reads and kills: clients speak to the bus, each in a process of its own.
"""
import argparse
import collections
import fcntl
import os
import random
import select
import signal
import socket
import sys
import time
import traceback

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

FPRINT = "net.reactivated.Fprint"
DEVICE = FPRINT + ".Device"
CLIENTS = 8
# How long an answer or a status may take before it counts as lost.
PATIENCE = 60
# What may come of an operation while readers vanish and others hold them. Anything else is a fault.
EXPECTED = {
    FPRINT + ".Error." + name
    for name in (
        "AlreadyInUse ClaimDevice NoEnrolledPrints NoActionInProgress NoSuchDevice PermissionDenied Internal"
        " PrintsNotDeleted PrintsNotDeletedFromDevice InvalidFingername"
    ).split()
} | {
    "org.whorl.Error." + name
    for name in (
        "AuthenticationFailed AppCancel UserCancel SystemCancel BiometryNotAvailable BiometryNotEnrolled Busy"
        " BiometryLockout InvalidContext TimedOut ItemNotFound ItemInvalidated DuplicateItem NotInteractive"
        " ReaderFailed PasscodeDelayed Denied"
    ).split()
} | {
    # The object of a reader that has just been pulled out.
    "org.freedesktop.DBus.Error.UnknownMethod",
    "org.freedesktop.DBus.Error.UnknownObject",
    "org.freedesktop.DBus.Error.UnknownInterface",
    "org.freedesktop.DBus.Error.LimitsExceeded",
}


class Failed(Exception):
    pass


class Remote(Exception):
    """An error that whorld answered."""

    def __init__(self, name, message=""):
        super().__init__(name + ": " + message)
        self.name = name


def send(path, text):
    """One command to a virtual reader; a reader that is closed or gone hears nothing."""
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.settimeout(1)
            end.connect(path)
            end.sendall(text.encode())
            end.shutdown(socket.SHUT_WR)
            end.recv(1)
    except OSError:
        pass


class Client:
    """A program of one user."""

    def __init__(self, options, dice, say):
        self.options, self.dice, self.say, self.uid = options, dice, say, os.getuid()
        self.connect()

    def connect(self):
        self.bus = Gio.DBusConnection.new_for_address_sync(
            self.options.bus,
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
            None,
            None,
        )
        self.bus.set_exit_on_close(False)
        self.heard = []
        self.path = None
        for interface in (DEVICE, "org.whorl.Authentication1"):
            self.bus.signal_subscribe(None, interface, None, None, None, 0, self.hear)

    def hear(self, _bus, _sender, path, _interface, name, arguments):
        # Statuses go to all: those of the other reader are another client's.
        if path in (self.path, "/org/whorl"):
            self.heard.append((name, path) + arguments.unpack())

    def call(self, path, interface, method, arguments=None, files=()):
        name = "org.whorl" if interface.startswith("org.whorl") else FPRINT
        handles = Gio.UnixFDList.new()
        for file in files:
            handles.append(file)
        try:
            reply, _ = self.bus.call_with_unix_fd_list_sync(
                name, path, interface, method, arguments, None, 0, PATIENCE * 1000, handles, None
            )
            return reply.unpack()
        except GLib.Error as error:
            remote = Gio.DBusError.get_remote_error(error)
            if remote is None or remote.endswith(".NoReply"):
                raise Failed("%s was not answered: %s" % (method, error.message))
            raise Remote(remote, error.message)

    def device(self):
        """A reader's path and its socket."""
        paths = self.call("/net/reactivated/Fprint/Manager", FPRINT + ".Manager", "GetDevices")[0]
        if not paths:
            raise Remote(FPRINT + ".Error.NoSuchDevice")
        self.path = self.dice.choice(paths)
        return self.path, self.reader(self.path)

    def reader(self, path):
        """The socket of a reader."""
        return self.options.storage if "with storage" in self.fprint_property(path, "name") else self.options.reader

    def fprint_property(self, path, name):
        return self.call(path, "org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", (DEVICE, name)))[0]

    def on(self, path, method, argument=None):
        return self.call(path, DEVICE, method, None if argument is None else GLib.Variant("(s)", (argument,)))

    def claim(self):
        """Holds a reader, after a moment in line where somebody else does."""
        for _attempt in range(20):
            path, reader = self.device()
            try:
                self.on(path, "Claim", "")
                return path, reader
            except Remote as error:
                if error.name != FPRINT + ".Error.AlreadyInUse":
                    raise
                refusal = error
            self.linger()
        raise refusal

    def release(self, path):
        try:
            self.on(path, "Release")
        except Remote:
            pass  # with its reader the claim went

    def touch(self, path, reader, finger=None):
        """Has root put a finger on the reader, whose socket is not for other users, once the reader waits for one.

        A touch that comes too early would lie in libfprint's queue and hold up what reads the reader's storage.
        """
        if not self.fprint_property(path, "finger-needed"):
            return
        if finger is None:
            finger = "u%d" % self.uid if self.dice.random() < 0.9 else "wrong"
        self.say("touch %s SCAN %s" % (reader, finger) if self.dice.random() < 0.95 else "touch %s RETRY 1" % reader)

    @staticmethod
    def linger(until=lambda: False):
        """Waits for that, or for a twentieth of a second."""
        woken = []
        timer = GLib.timeout_add(50, lambda: woken.append(1))
        while not woken and not until():
            GLib.MainContext.default().iteration(True)
        if not woken:
            GLib.source_remove(timer)

    def wait(self, wanted, press=None):
        """Waits for a signal that is wanted; meanwhile the hand presses again and again until it is felt."""
        limit = time.monotonic() + PATIENCE
        looked = time.monotonic()
        story = []
        while True:
            while self.heard:
                heard = self.heard.pop(0)
                story.append(heard)
                if wanted(heard):
                    return heard
            if time.monotonic() > limit:
                raise Failed("no status came within %d s, only %s" % (PATIENCE, [self.path] + story[-20:]))
            if press:
                press()
            if time.monotonic() > looked + 2:
                looked = time.monotonic()
                self.call("/net/reactivated/Fprint/Manager", FPRINT + ".Manager", "GetDevices")
            self.linger(lambda: self.heard)

    # The operations. Each gives a word on what came of it.

    def list(self):
        self.on(self.device()[0], "ListEnrolledFingers", "")
        return "listed"

    def claim_release(self):
        path, _ = self.claim()
        self.release(path)
        return "released"

    def verify(self):
        path, reader = self.claim()
        try:
            self.heard.clear()
            self.on(path, "VerifyStart", "any")
            status = self.wait(lambda s: s[0] == "VerifyStatus" and s[3], lambda: self.touch(path, reader))[2]
            if self.dice.random() < 0.8:
                self.on(path, "VerifyStop")
            return status
        finally:
            self.release(path)

    def verify_stop(self):
        path, _ = self.claim()
        try:
            self.on(path, "VerifyStart", "any")
            if self.dice.random() < 0.7:
                self.on(path, "VerifyStop")
            return "stopped"
        finally:
            self.release(path)

    def enroll(self):
        path, reader = self.claim()
        try:
            self.heard.clear()
            self.on(path, "EnrollStart", self.dice.choice(["right-index-finger", "left-thumb"]))
            stop = self.dice.random() < 0.3
            status = self.wait(
                lambda s: s[0] == "EnrollStatus" and (s[3] or stop), lambda: self.touch(path, reader, "u%d" % self.uid)
            )[2]
            self.on(path, "EnrollStop")
            return "stopped" if stop else status
        finally:
            self.release(path)

    def delete(self):
        path, _ = self.claim()
        try:
            self.on(path, "DeleteEnrolledFinger", self.dice.choice(["right-index-finger", "left-thumb"]))
            return "deleted"
        finally:
            self.release(path)

    def leak(self):
        """Leaves with a claim, and perhaps with a verification under it."""
        path, _ = self.claim()
        try:
            if self.dice.random() < 0.5:
                self.on(path, "VerifyStart", "any")
        finally:
            self.bus.close_sync(None)
            self.connect()
        return "left"

    def wrong_order(self):
        path, _ = self.device()
        self.on(path, self.dice.choice(["VerifyStop", "EnrollStop", "Release", "DeleteEnrolledFingers2"]))
        return "done"

    def whorl(self, interface, method, signature, values, files=()):
        return self.call("/org/whorl", "org.whorl." + interface, method, GLib.Variant(signature, values), files)

    def begin(self, interface, method, signature, values):
        """Starts a call; gives a function that waits for its end."""
        end = []
        self.bus.call_with_unix_fd_list(
            "org.whorl", "/org/whorl", "org.whorl." + interface, method, GLib.Variant(signature, values), None, 0,
            PATIENCE * 1000, None, None, lambda bus, result: end.append(result),
        )
        heard = self.heard

        def finish():
            while not end:
                if any(s[0] == "Progress" and s[3] in ("waiting", "retry", "no-match") for s in heard):
                    for path in self.call("/net/reactivated/Fprint/Manager", FPRINT + ".Manager", "GetDevices")[0]:
                        try:
                            self.touch(path, self.reader(path))
                        except Remote:
                            pass  # pulled out
                self.linger(lambda: end)
            try:
                self.bus.call_with_unix_fd_list_finish(end[0])
            except GLib.Error as error:
                remote = Gio.DBusError.get_remote_error(error)
                if remote is None or remote.endswith(".NoReply"):
                    raise Failed("%s was not answered: %s" % (method, error.message))
                raise Remote(remote, error.message)

        return finish

    LIMITS = {"timeout": GLib.Variant("u", 8), "max-tries": GLib.Variant("u", 2)}

    def context(self):
        return self.whorl("Authentication1", "CreateContext", "(a{sv})", ({},))[0]

    def authenticate(self):
        import pwd

        self.heard.clear()
        self.begin(
            "Authentication1", "Authenticate", "(ssa{sv})", (pwd.getpwuid(self.uid).pw_name, "soak", self.LIMITS)
        )()
        return "authenticated"

    def policy(self):
        self.heard.clear()
        context = self.context()
        finish = self.begin(
            "Authentication1", "EvaluatePolicy", "(ussa{sv})", (context, "biometrics", "soak", self.LIMITS)
        )
        if self.dice.random() < 0.3:
            if self.dice.random() < 0.5:
                self.whorl("Authentication1", "Cancel", "(us)", (context, "app"))
            else:
                self.whorl("Authentication1", "InvalidateContext", "(u)", (context,))
        finish()
        self.whorl("Authentication1", "InvalidateContext", "(u)", (context,))
        return "satisfied"

    @staticmethod
    def sealed(text):
        file = os.memfd_create("soak", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.write(file, text)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        return file

    def item(self):
        return {"service": GLib.Variant("s", "soak"), "account": GLib.Variant("s", "%d" % self.dice.randrange(8))}

    def add(self):
        constraint = self.dice.choice([[], [], ["biometry-any"], ["biometry-current-set"]])
        file = self.sealed(b"secret")
        try:
            self.whorl(
                "Keychain1", "Add", "(a{sv}a{sv}h)", (self.item(), {"constraints": GLib.Variant("as", constraint)}, 0),
                [file],
            )
        finally:
            os.close(file)
        return "added"

    def copy(self):
        self.heard.clear()
        self.begin("Keychain1", "CopySecret", "(ua{sv}a{sv})", (self.context(), self.item(), self.LIMITS))()
        return "copied"

    def remove(self):
        self.whorl("Keychain1", "Delete", "(a{sv}a{sv})", (self.item(), {}))
        return "removed"

    def search(self):
        self.whorl("Keychain1", "CopyMatching", "(a{sv}a{sv})", ({}, {}))
        return "found"

    def status(self):
        self.call("/org/whorl", "org.whorl.Authentication1", "GetStatus")
        return "told"

    def passcode(self):
        file = self.sealed(b"correct passcode")
        try:
            self.whorl("Authentication1", "ProvidePasscode", "(uh)", (self.context(), 0), [file])
        finally:
            os.close(file)
        return "given"

    OPERATIONS = {
        "list": 8, "claim_release": 8, "verify": 20, "verify_stop": 8, "enroll": 10, "delete": 3, "leak": 5,
        "wrong_order": 3, "authenticate": 6, "policy": 8, "add": 8, "copy": 8, "remove": 3, "search": 3, "status": 4,
        "passcode": 4,
    }  # fmt: skip

    def run(self, stop):
        names, weights = zip(*self.OPERATIONS.items())
        while not select.select([stop], [], [], 0)[0]:
            name = self.dice.choices(names, weights)[0]
            self.say("begin %s" % name)
            result = self.attempt(name)
            self.say("end %s %s" % (name, result))
            if result == "LimitsExceeded":
                select.select([stop], [], [], 0.3)

    def attempt(self, name):
        try:
            return getattr(self, name)()
        except Remote as error:
            if error.name not in EXPECTED:
                raise Failed("%s ended with %s" % (name, error))
            return error.name.rsplit(".", 1)[1]
        except GLib.Error as error:
            remote = Gio.DBusError.get_remote_error(error) or error.message
            if remote not in EXPECTED:
                raise Failed("%s ended with %s" % (name, remote))
            return remote.rsplit(".", 1)[1]

    # What must hold when everybody has gone.

    def inspect(self):
        """Both readers can be claimed and used, and the enclave has its turn."""
        limit = time.monotonic() + PATIENCE
        while True:
            # The last clients' claims, and the objects of readers that were pulled out, end a moment after their holders.
            try:
                paths = self.call("/net/reactivated/Fprint/Manager", FPRINT + ".Manager", "GetDevices")[0]
                if len(paths) == 2:
                    for path in paths:
                        self.use(path)
                    break
                problem = "two readers are expected"
            except Remote as error:
                problem = error
            if time.monotonic() > limit:
                raise Failed("readers are not free: %s: %s" % (paths, problem))
        try:
            options = dict(self.LIMITS, **{"no-wait": GLib.Variant("b", True)})
            self.begin("Authentication1", "Authenticate", "(ssa{sv})", ("root", "soak", options))()
        except Remote as error:
            if error.name in ("org.whorl.Error.Busy", "org.whorl.Error.TimedOut"):
                raise Failed("a turn is held: Authenticate ended with " + error.name)


    def use(self, path):
        """Had somebody kept the claim it would be refused; had somebody kept the turn no touch would be felt."""
        self.path, reader = path, self.reader(path)
        self.on(path, "Claim", "")
        try:
            self.heard.clear()
            self.on(path, "EnrollStart", "left-ring-finger")
            self.wait(lambda s: s[0] == "EnrollStatus", lambda: self.touch(path, reader, "inspector"))
            self.on(path, "EnrollStop")
        finally:
            self.release(path)

    def inspect_prints(self):
        """No enrolment was done by halves: a print on the disk that cannot be read."""
        status = self.call("/org/whorl", "org.whorl.Authentication1", "GetStatus")[0]
        if status["unreadable"]:
            raise Failed("enrolments of user %d were done by halves: %s" % (self.uid, status))


class Soak:
    def __init__(self, options):
        self.options, self.dice = options, random.Random(options.seed)
        self.users = [0, 0, 1, 1, 2, 3, 4, 5] if os.geteuid() == 0 else [os.getuid()] * CLIENTS
        self.results = collections.Counter()
        self.kills = collections.Counter()
        self.doing = {}
        self.clients = {}
        self.spent = collections.Counter()

    def fork(self, body, uid):
        """A process of that user that runs `body` and says what it does over a pipe."""
        read, write = os.pipe()
        pid = os.fork()
        if pid:
            os.close(write)
            return pid, read
        status = 1
        try:
            os.close(read)
            if os.geteuid() == 0 and uid != 0:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
            body(lambda text: os.write(write, (text + "\n").encode()))
            status = 0
        except Failed as error:
            os.write(write, ("FAILED %s\n" % error).encode())
        except BaseException:
            os.write(write, ("FAILED " + traceback.format_exc().replace("\n", " | ") + "\n").encode())
        finally:
            os._exit(status)

    def start(self, number, stop):
        seed = self.dice.getrandbits(32)
        body = lambda say: Client(self.options, random.Random(seed), say).run(stop)  # noqa: E731
        pid, read = self.fork(body, self.users[number])
        self.clients[read] = [number, pid, b""]

    def round(self, operations):
        """Has the clients do that many operations; returns when all of them have ended."""
        stop, tell = os.pipe()
        self.clients = {}
        for number in range(CLIENTS):
            self.start(number, stop)
        done = 0
        began = {}
        while self.clients:
            ready = select.select(list(self.clients), [], [], PATIENCE + 10)[0]
            if not ready:
                raise Failed("nothing happens any more; under way: %s" % self.doing)
            for read in ready:
                client = self.clients[read]
                data = os.read(read, 65536)
                client[2] += data
                *lines, client[2] = client[2].split(b"\n")
                for line in lines:
                    word, *rest = line.decode().split(" ", 2)
                    if word == "FAILED":
                        raise Failed("%s (client %d, user %d, while %s)" % (
                            line.decode()[7:], client[0], self.users[client[0]], self.doing.get(client[0])))
                    if word == "touch":
                        self.press(line.decode())
                        continue
                    if word == "begin":
                        self.doing[client[0]] = rest[0]
                        began[client[0]] = time.monotonic()
                        continue
                    self.spent[rest[0]] += time.monotonic() - began[client[0]]
                    self.results[" ".join(rest)] += 1
                    if rest[1] == "LimitsExceeded":
                        continue  # nothing was done
                    done += 1
                    if done == operations:
                        os.write(tell, b"x")
                    elif done < operations:
                        self.mischief(done)
                if not data:
                    os.close(read)
                    os.waitpid(client[1], 0)
                    del self.clients[read]
                    if done < operations:
                        self.start(client[0], stop)
        os.close(stop)
        os.close(tell)
        return done

    @staticmethod
    def press(line):
        _word, reader, text = line.split(" ", 2)
        send(reader, text)

    def mischief(self, done):
        """Now and then something dies."""
        chance = self.dice.random()
        if chance < 0.02:
            os.kill(self.dice.choice(list(self.clients.values()))[1], signal.SIGKILL)
            self.kills["clients"] += 1
        elif chance < 0.035:
            for pid in bridges(self.options.daemon):
                os.kill(pid, signal.SIGKILL)
                self.kills["bridges"] += 1
        elif chance < 0.04:
            # It is back with the next bridge.
            send(self.dice.choice([self.options.reader, self.options.storage]), "UNPLUG")
            self.kills["readers"] += 1

    def inspect(self):
        for pid in bridges(self.options.daemon):
            # A reader that was pulled out is back with a new bridge.
            os.kill(pid, signal.SIGKILL)
        self.alone(lambda: Client(self.options, self.dice, self.press).inspect(), os.geteuid())
        for uid in set(self.users):
            self.alone(lambda: Client(self.options, self.dice, self.press).inspect_prints(), uid)

    def alone(self, body, uid):
        pid, read = self.fork(lambda say: body(), uid)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        os.waitpid(pid, 0)
        if text:
            raise Failed(text.strip().removeprefix("FAILED "))


def bridges(daemon):
    for thread in os.listdir("/proc/%d/task" % daemon):
        try:
            for child in open("/proc/%d/task/%s/children" % (daemon, thread)).read().split():
                if open("/proc/%s/comm" % child).read().startswith("whorl-reader"):
                    yield int(child)
        except OSError:
            pass  # a thread or a child that has just ended


def descriptors(pid):
    kinds = collections.Counter()
    for name in os.listdir("/proc/%d/fd" % pid):
        try:
            kinds[os.readlink("/proc/%d/fd/%s" % (pid, name)).split(":")[0]] += 1
        except OSError:
            pass
    return kinds


def memory(pid):
    """Pss, which other processes with the same libraries change, and what is whorld's alone, in KiB."""
    fields = dict(line.split()[:2] for line in open("/proc/%d/smaps_rollup" % pid) if line.split()[0].endswith(":"))
    return int(fields["Pss:"]), int(fields["Anonymous:"])


def main():
    parser = argparse.ArgumentParser()
    for name in ("bus", "reader", "storage"):
        parser.add_argument("--" + name, required=True)
    for name in ("daemon", "operations", "seed"):
        parser.add_argument("--" + name, required=True, type=int)
    options = parser.parse_args()
    print("seed %d" % options.seed, flush=True)
    soak = Soak(options)
    try:
        judge(soak, options)
    except Failed as error:
        for _number, pid, _text in soak.clients.values():
            os.kill(pid, signal.SIGKILL)
        print("FAILED " + str(error), flush=True)
        sys.exit(1)
    print("passed")


def judge(soak, options):
    pid = options.daemon
    started = time.monotonic()
    warm = soak.round(max(100, min(1000, options.operations // 5)))
    soak.inspect()
    before, kib_before = descriptors(pid), memory(pid)
    soak.results.clear()
    soak.kills.clear()
    done = soak.round(options.operations)
    soak.inspect()
    limit = time.monotonic() + PATIENCE
    after = descriptors(pid)
    while after.total() > before.total() and time.monotonic() < limit:
        after = descriptors(pid)
    kib_after = memory(pid)
    for result, count in sorted(soak.results.items()):
        print("%6d %s" % (count, result))
    print("seconds: " + ", ".join("%s %.1f" % pair for pair in soak.spent.most_common(6)))
    print("killed: " + ", ".join("%d %s" % (count, what) for what, count in sorted(soak.kills.items())))
    print("operations %d after %d to warm up, in %.1f s" % (done, warm, time.monotonic() - started))
    print("descriptors before %d, after %d" % (before.total(), after.total()))
    print("memory before %d KiB (its own %d), after %d KiB (its own %d)" % (kib_before + kib_after))
    if after.total() > before.total():
        raise Failed("descriptors grew: %s" % (after - before))
    if kib_after[1] - kib_before[1] > 4096:
        raise Failed("memory grew by %d KiB" % (kib_after[1] - kib_before[1]))


main()
