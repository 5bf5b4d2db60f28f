"""whorld itself with a finger of alice's on a virtual reader, and a logind that knows sessions here and from afar."""
import os
import subprocess

import dbus

from world import ALICE, ALICE_UID, PATH, PRIVATE_BUS, SYSTEM_BUS

LOGIND = "org.freedesktop.login1"
MANAGER = "/org/freedesktop/login1"
SESSION = "/org/freedesktop/login1/session/"
STATE = "/run/whorl/state"
READER = "/run/whorl/finger"
FINGER = "left-loop"
TOUCH = r"Swipe your right index finger across the fingerprint reader or type your password \(sudo\): "
# The real logind sees a program's session by its control group; this one by a variable, which programs inherit likewise,
# and which a multiplexer's server keeps too.
SESSION_OF = f"""
words = open('/proc/%d/environ' % args[0]).read().split(chr(0))
ret = '{SESSION}' + [word for word in words if word.startswith('XDG_SESSION_ID=')][0][15:]
"""


class Sessions:
    """alice's sessions: `here` at the seat, and `afar`, over the network. What has it in XDG_SESSION_ID is in it."""

    def __init__(self, world, *names):
        self.world = world
        self.logind = world.start(["/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind"],
                                  {"DBUS_SYSTEM_BUS_ADDRESS": SYSTEM_BUS}, stdout=subprocess.DEVNULL)
        world.wait_for_name(LOGIND)
        self.bus = dbus.bus.BusConnection(SYSTEM_BUS)
        self.mock(MANAGER).AddMethod("org.freedesktop.login1.Manager", "GetSessionByPID", "u", "o", SESSION_OF)
        for name in names:
            self.mock(MANAGER).AddSession(name, "seat0", dbus.UInt32(ALICE_UID), ALICE, True)
            values = {"Remote": name == "afar", "Type": "tty", "Class": "user", "State": "active"}
            if name == "afar":
                values["Seat"] = dbus.Struct(("", dbus.ObjectPath("/")))
            self.mock(SESSION + name).UpdateProperties("org.freedesktop.login1.Session", values)
        self.whorld = world.start(
            [f"{world.programs}/whorld"],
            {"DBUS_SYSTEM_BUS_ADDRESS": PRIVATE_BUS, "STATE_DIRECTORY": STATE, "FP_VIRTUAL_IMAGE": READER,
             "FP_DRIVERS_WHITELIST": "virtual_image", "FP_DRIVERS_ALLOWLIST": "virtual_image"},
            stderr=subprocess.DEVNULL)
        world.wait_for_name("org.whorl")
        self.enroll()

    def mock(self, path):
        return dbus.Interface(self.bus.get_object(LOGIND, path, introspect=False), "org.freedesktop.DBus.Mock")

    def end(self, name):
        """Logged out, with programs left behind."""
        values = dbus.Dictionary({"State": "closing", "Active": False}, signature="sv")
        self.mock(SESSION + name).UpdateProperties("org.freedesktop.login1.Session", values)

    def enroll(self):
        """Once: whorld keeps the finger from test to test."""
        if os.path.exists(f"{STATE}/{ALICE}"):
            return
        with subprocess.Popen([f"{self.world.programs}/whorl", "enroll", "right-index-finger", "--user", ALICE],
                              env={"PATH": PATH, "DBUS_SYSTEM_BUS_ADDRESS": PRIVATE_BUS}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as command:
            number = 0
            for line in command.stdout:
                if "wipe" in line:
                    number += 1
                    self.touch(number)
        assert command.returncode == 0

    def touch(self, number=1):
        """The finger on the reader, which waits for it."""
        subprocess.run([f"{self.world.programs}/press-finger", READER, FINGER, str(number)], check=True)

    def close(self):
        for child in (self.whorld, self.logind):
            child.kill()
            child.wait()
            self.world.children.remove(child)
        self.bus.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
