#!/usr/bin/python3
"""A client of net.reactivated.Fprint that does what it is told, a word a line on standard input.

usage: fprint-device.py [NUMBER [USER]]     the reader with this number in the list of readers (0)

Words: claim, release, verify [FINGER], stop, enroll FINGER, enrollstop, devices, name, quit. Each is answered on
standard output by "ok WORD [RESULT]" or "error WORD NAME MESSAGE"; signals come between as "status WORD DONE".
"""
import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME = "net.reactivated.Fprint"
bus = Gio.DBusConnection.new_for_address_sync(
    os.environ["DBUS_SYSTEM_BUS_ADDRESS"],
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
    None,
    None,
)
number = int(sys.argv[1]) if len(sys.argv) > 1 else 0
user = sys.argv[2] if len(sys.argv) > 2 else ""
loop = GLib.MainLoop()
device = None


def say(*words):
    print(*words, flush=True)


def paths():
    return bus.call_sync(NAME, "/net/reactivated/Fprint/Manager", NAME + ".Manager", "GetDevices", None, None, 0, 60000, None).unpack()[0]


def call(word, method, arguments=None):
    # Not waited for here: signals are told while it runs.
    def done(bus, result):
        try:
            bus.call_finish(result)
            say("ok", word)
        except GLib.Error as error:
            say("error", word, Gio.DBusError.get_remote_error(error), error.message)

    bus.call(NAME, device, NAME + ".Device", method, arguments, None, 0, 60000, None, done)


def text(*values):
    return GLib.Variant("(" + "s" * len(values) + ")", values)


def obey(line):
    word, *rest = line.split()
    if word == "claim":
        call(word, "Claim", text(user))
    elif word == "release":
        call(word, "Release")
    elif word == "verify":
        call(word, "VerifyStart", text(*(rest or ["any"])))
    elif word == "stop":
        call(word, "VerifyStop")
    elif word == "enroll":
        call(word, "EnrollStart", text(*rest))
    elif word == "enrollstop":
        call(word, "EnrollStop")
    elif word == "devices":
        say("ok", word, len(paths()), " ".join(paths()))
    elif word == "name":
        reply = bus.call_sync(
            NAME, device, "org.freedesktop.DBus.Properties", "Get", text(NAME + ".Device", "name"), None, 0, 60000, None
        )
        say("ok", word, reply.unpack()[0])
    elif word == "quit":
        loop.quit()
    else:
        sys.exit("fprint-device.py: unknown word %r" % word)


def typed(_channel, condition):
    if condition & GLib.IO_IN:
        line = sys.stdin.readline()
        if line.strip():
            obey(line)
        if line:
            return True
    loop.quit()
    return False


device = sorted(paths(), key=lambda path: int(path.rsplit("/", 1)[1]))[number]
for signal in ("VerifyStatus", "EnrollStatus"):
    bus.signal_subscribe(
        NAME, NAME + ".Device", signal, device, None, 0, lambda *all: say("status", all[5][0], "done" if all[5][1] else "goes-on")
    )


def changed(*all):
    if "finger-needed" in all[5][1]:
        say("needed", all[5][1]["finger-needed"])


bus.signal_subscribe(NAME, "org.freedesktop.DBus.Properties", "PropertiesChanged", device, NAME + ".Device", 0, changed)
say("ready")
GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, typed)
loop.run()
