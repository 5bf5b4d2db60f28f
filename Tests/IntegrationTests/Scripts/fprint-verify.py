#!/usr/bin/python3
"""One verification of any finger through net.reactivated.Fprint: prints "claimed", "started", each status, or the error's name.

usage: fprint-verify.py [verify|claim|restless]; with "claim" it only claims the reader and stays;
with "restless" it claims and releases without end.
"""
import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

bus = Gio.DBusConnection.new_for_address_sync(
    os.environ["DBUS_SYSTEM_BUS_ADDRESS"],
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
    None,
    None,
)
NAME = "net.reactivated.Fprint"


def call(path, interface, method, arguments=None):
    return bus.call_sync(NAME, path, NAME + "." + interface, method, arguments, None, 0, 20000, None)


loop = GLib.MainLoop()


def status(_bus, _sender, _path, _interface, signal, arguments):
    word, done = arguments.unpack()
    print(word, flush=True)
    if done:
        loop.quit()


try:
    device = call("/net/reactivated/Fprint/Manager", "Manager", "GetDefaultDevice").unpack()[0]
    bus.signal_subscribe(NAME, NAME + ".Device", "VerifyStatus", device, None, 0, status)
    if sys.argv[1:] == ["restless"]:
        print("claimed", flush=True)
        while True:
            call(device, "Device", "Claim", GLib.Variant("(s)", ("",)))
            call(device, "Device", "Release")
    call(device, "Device", "Claim", GLib.Variant("(s)", ("",)))
    print("claimed", flush=True)
    if sys.argv[1:] == ["claim"]:
        loop.run()
    call(device, "Device", "VerifyStart", GLib.Variant("(s)", ("any",)))
    print("started", flush=True)
    loop.run()
    call(device, "Device", "VerifyStop")
    call(device, "Device", "Release")
except GLib.Error as error:
    print(Gio.DBusError.get_remote_error(error) or error.message, flush=True)
    sys.exit(1)
