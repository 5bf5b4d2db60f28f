"""How long the module's call takes where no finger is asked for, for each reason: from pam_authenticate to its return, with
a real whorld. Prints figures, judges none, but refuses to measure anything that is no refusal without a prompt."""
import os
import socket
import statistics
import subprocess

import dbus
import dbus.bus

from world import HOST, PATH, PRIVATE_BUS, SOURCE, SYSTEM_BUS, build_host, until

ROUNDS = int(os.environ.get("WHORL_BENCH_ROUNDS", "101"))
# Milliseconds, of issue 5.
TARGET = 50
STATE, READER, SESSION = "/run/whorl/state", "/run/whorl/reader", "/run/whorl/session"
LOGIND, SESSIONS = "org.freedesktop.login1", "/org/freedesktop/login1/session/"
UNAVAILABLE = "result 9"
# The one reason that the person is told of.
LOCKED_OUT = "info Fingerprints are locked"
# An address: libpam itself looks names up, for the audit log.
ELSEWHERE = "--rhost=203.0.113.9"


class Bench:
    def __init__(self, world):
        self.world = world
        build_host()
        os.makedirs("/run/whorl/pam.d", exist_ok=True)
        with open("/run/whorl/pam.d/whorl-bench", "w") as file:
            file.write("auth required /run/whorl/pam_whorl.so timeout=20 max-tries=5\n")
        os.makedirs(STATE, mode=0o700)
        world.start_polkit()
        self.start_logind()
        self.start_whorld()

    def start_logind(self):
        """A logind with a session in the background and a remote one; in which of them programs are, a file says."""
        self.world.start(["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind"],
                         {"DBUS_SYSTEM_BUS_ADDRESS": SYSTEM_BUS}, stdout=subprocess.DEVNULL)
        self.world.wait_for_name(LOGIND)
        self.bus = dbus.bus.BusConnection(SYSTEM_BUS)
        self.logind = dbus.Interface(self.bus.get_object(LOGIND, "/org/freedesktop/login1"), "org.freedesktop.DBus.Mock")
        for name, is_active in (("here", True), ("background", False), ("remote", True)):
            self.logind.AddSession(name, "seat0", dbus.UInt32(0), "root", is_active)
        dbus.Interface(self.bus.get_object(LOGIND, SESSIONS + "remote"), "org.freedesktop.DBus.Mock").UpdateProperties(
            LOGIND + ".Session", {"Remote": True})
        self.logind.AddMethod(LOGIND + ".Manager", "GetSessionByPID", "u", "o",
                              f"ret = '{SESSIONS}' + open('{SESSION}').read()")
        self.put_into("here")

    def put_into(self, session):
        with open(SESSION, "w") as file:
            file.write(session)

    def close_lid(self, is_closed):
        self.logind.EmitSignal(
            "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
            [LOGIND + ".Manager", dbus.Dictionary({"LidClosed": is_closed}, signature="sv"),
             dbus.Array([], signature="s")])

    def start_whorld(self):
        """The real one, with a virtual reader that takes commands."""
        self.whorld = self.world.start(
            [f"{self.world.programs}/whorld"],
            {"DBUS_SYSTEM_BUS_ADDRESS": PRIVATE_BUS, "STATE_DIRECTORY": STATE, "FP_VIRTUAL_DEVICE": READER,
             "FP_DRIVERS_WHITELIST": "virtual_device", "FP_DRIVERS_ALLOWLIST": "virtual_device"}, stderr=subprocess.DEVNULL)
        self.world.wait_for_name("net.reactivated.Fprint")

    def scan(self, finger):
        """A finger is put on the reader, as soon as that is open."""
        def is_open():
            try:
                with socket.socket(socket.AF_UNIX) as reader:
                    reader.connect(READER)
                    reader.sendall(f"SCAN {finger}".encode())
                return True
            except OSError:
                return False
        until(is_open, "the reader")

    def enroll(self):
        client = subprocess.Popen(
            ["/usr/bin/python3", f"{SOURCE}/Tests/IntegrationTests/Scripts/fprint-device.py"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"DBUS_SYSTEM_BUS_ADDRESS": SYSTEM_BUS, "PATH": PATH})

        def until_line(*starts):
            while True:
                line = client.stdout.readline()
                assert line and not line.startswith("error"), f"enrolling failed: {line!r}"
                if line.startswith(starts):
                    return line

        def say(word):
            client.stdin.write(word + "\n")
            client.stdin.flush()
            until_line("ok")
        until_line("ready")
        say("claim")
        say("enroll right-index-finger")
        line = ""
        while "done" not in line:
            # One that comes early waits in the reader.
            self.scan("mine")
            line = until_line("status")
        assert "enroll-completed" in line, line
        say("enrollstop")
        say("release")
        client.stdin.close()
        client.wait()

    def host(self, *options, rounds=1):
        return subprocess.Popen(
            [HOST, "--alone", "--time", f"--repeat={rounds}", *options, "/run/whorl/pam.d", "whorl-bench", "root"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env={"PATH": PATH})

    def lock_out(self):
        """Five fingers that are not the right one."""
        login = self.host()
        assert "finger" in login.stdout.readline()
        for _ in range(5):
            self.scan("other")
            assert "not recognised" in login.stdout.readline() + login.stdout.readline()
        login.communicate()

    def measure(self, reason, *options):
        # The first call may find the keychain closed and the reader's process at rest, which is no refusal's cost.
        self.host(*options).communicate()
        lines = self.host(*options, rounds=ROUNDS).communicate()[0].splitlines()
        times = sorted(int(line.split()[1]) / 1000 for line in lines if line.startswith("took "))
        others = [line for line in lines if not line.startswith(("took ", LOCKED_OUT))]
        if others != [UNAVAILABLE] or len(times) != ROUNDS:
            raise AssertionError(f"{reason}: no refusal without a prompt: {others[:5]}")
        median = statistics.median(times)
        print(f"{reason:<42}{median:8.1f} ms{times[-1]:8.1f} ms{TARGET:6} ms{'' if median <= TARGET else '   missed'}",
              flush=True)


def main(world):
    print(f"{'no finger asked for':<42}{'median':>11}{'longest':>11}{'target':>9}     of {ROUNDS} calls")
    bench = Bench(world)
    bench.measure("no finger enrolled")
    bench.enroll()
    bench.measure("PAM_RHOST names another machine", ELSEWHERE)
    bench.put_into("remote")
    bench.measure("a remote session, by logind")
    bench.put_into("background")
    bench.measure("a session that the screen does not show")
    bench.put_into("here")
    bench.close_lid(True)
    bench.measure("the lid closed over the reader")
    bench.close_lid(False)
    bench.lock_out()
    bench.measure("locked out")
    bench.whorld.terminate()
    bench.whorld.wait()
    bench.measure("no whorld, and none to be started")
    world.stop_bus()
    bench.measure("no bus")
    return 0
