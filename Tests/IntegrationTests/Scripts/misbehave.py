#!/usr/bin/python3
"""A client of net.reactivated.Fprint and org.whorl that behaves as no client should.

usage: misbehave.py claim|verify|verified|enroll|delete|release   goes so far, writes "now" and makes the last call again
                                                                 and again, or stays, to be killed
       misbehave.py exit                                         claims, writes "now" and ends
       misbehave.py flood KIND                                   asks without end; writes each error's name once
       misbehave.py victim|authenticate                          five verifications; writes "touch N" and the status
"""
import fcntl
import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

FPRINT = "net.reactivated.Fprint"
bus = Gio.DBusConnection.new_for_address_sync(
    os.environ["DBUS_SYSTEM_BUS_ADDRESS"],
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
    None,
    None,
)


def call(method, *words, path=None, interface=FPRINT + ".Device"):
    arguments = GLib.Variant("(" + "s" * len(words) + ")", words) if words else None
    return bus.call_sync(FPRINT, path or device, interface, method, arguments, None, 0, 60000, None)


def ask(name, path, interface, method, arguments, answered):
    """Calls without waiting for the answer."""
    bus.call(name, path, interface, method, arguments, None, 0, 60000, None, answered)


def default_device():
    while True:
        try:
            manager = "/net/reactivated/Fprint/Manager"
            return call("GetDefaultDevice", path=manager, interface=FPRINT + ".Manager").unpack()[0]
        except GLib.Error as error:
            # Another program of the same account floods.
            if "Error.LimitsExceeded" not in error.message:
                raise


device = default_device()


def say(text):
    print(text, flush=True)


def stay():
    GLib.MainLoop().run()


def go(step):
    if step == "claim":
        say("now")
        call("Claim", "")
        stay()
    call("Claim", "")
    if step in ("verify", "verified"):
        if step == "verify":
            say("now")
        call("VerifyStart", "any")
        if step == "verified":
            say("now")
        stay()
    if step == "enroll":
        say("now")
        call("EnrollStart", "left-thumb")
        stay()
    if step == "delete":
        say("now")
        ask(FPRINT, device, FPRINT + ".Device", "DeleteEnrolledFingers2", None, None)
        stay()
    if step == "release":
        call("VerifyStart", "any")
        say("now")
        ask(FPRINT, device, FPRINT + ".Device", "Release", None, None)
        stay()
    say("now")


def store(count):
    """Adds so many items, of which none asks for a finger."""
    for number in range(count):
        secret = os.memfd_create("secret", os.MFD_ALLOW_SEALING)
        os.write(secret, b"x")
        fcntl.fcntl(secret, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
        files = Gio.UnixFDList.new_from_array([secret])
        attributes = {"service": GLib.Variant("s", "flood"), "account": GLib.Variant("s", str(number))}
        while True:
            try:
                bus.call_with_unix_fd_list_sync(
                    "org.whorl", "/org/whorl", "org.whorl.Keychain1", "Add",
                    GLib.Variant("(a{sv}a{sv}h)", (attributes, {}, 0)), None, 0, 60000, files, None)
                break
            except GLib.Error as error:
                # Another of the same account was quicker.
                if "DuplicateItem" in error.message:
                    break
                raise


def flood(kind):
    told = set()
    whorl = ("org.whorl", "/org/whorl", "org.whorl.Authentication1")
    calls = {
        "calls": (FPRINT, device, FPRINT + ".Device", "ListEnrolledFingers", GLib.Variant("(s)", ("",))),
        # Asks polkit about another user's name.
        "questions": (FPRINT, device, FPRINT + ".Device", "Claim", GLib.Variant("(s)", ("root",))),
        "claims": (FPRINT, device, FPRINT + ".Device", "Claim", GLib.Variant("(s)", ("",))),
        "devices": (FPRINT, "/net/reactivated/Fprint/Manager", FPRINT + ".Manager", "GetDevices", None),
        "releases": (FPRINT, device, FPRINT + ".Device", "Release", None),
        "properties": (FPRINT, device, "org.freedesktop.DBus.Properties", "GetAll",
                       GLib.Variant("(s)", (FPRINT + ".Device",))),
        "status": whorl + ("GetStatus", None),
        # Matches nothing, and has to look at every item.
        "searches": ("org.whorl", "/org/whorl", "org.whorl.Keychain1", "CopyMatching",
                     GLib.Variant("(a{sv}a{sv})", ({"comment": GLib.Variant("s", "x")}, {}))),
        "contexts": whorl + ("CreateContext", GLib.Variant("(a{sv})", ({},))),
        "waits": whorl + ("Authenticate", GLib.Variant("(ssa{sv})", ("daemon", "flood", {}))),
    }[kind]

    if kind == "searches":
        store(400)

    def answered(connection, result):
        try:
            connection.call_finish(result)
            if kind == "claims":
                ask(FPRINT, device, FPRINT + ".Device", "Release", None, None)
        except GLib.Error as error:
            name = (Gio.DBusError.get_remote_error(error) or error.message).rsplit(".", 1)[1]
            if name not in told:
                told.add(name)
                say(name)
            # As fast as before would only take the processor from the victim.
            GLib.timeout_add(20, again)
            return
        again()

    def again():
        ask(*calls, answered)
        return False

    for _ in range(100):
        ask(*calls, answered)
    say("begun")
    stay()


def victim():
    context = GLib.MainContext.default()
    heard = []
    bus.signal_subscribe(
        FPRINT, FPRINT + ".Device", "VerifyStatus", device, None, 0, lambda *event: heard.append(event[5].unpack())
    )
    for number in range(1, 6):
        while True:
            try:
                call("Claim", "")
                break
            except GLib.Error as error:
                # Whoever floods with claims has it now and then; who asks again and again is bounded too.
                if not any(name in error.message for name in ("Error.AlreadyInUse", "Error.LimitsExceeded")):
                    raise
        heard.clear()
        call("VerifyStart", "any")
        say("touch %d" % number)
        while not heard or not heard[-1][1]:
            context.iteration(True)
        say("%s %d" % (heard[-1][0], number))
        call("VerifyStop")
        call("Release")


def authenticate():
    """The victim once more, through the enclave."""
    heard = []
    bus.signal_subscribe(
        None, "org.whorl.Authentication1", "Progress", None, None, 0, lambda *event: heard.append(event[5].unpack()[1])
    )
    for number in range(1, 6):
        ended = []
        heard.clear()
        arguments = GLib.Variant("(ssa{sv})", ("bin", "victim", {}))
        bus.call(
            "org.whorl", "/org/whorl", "org.whorl.Authentication1", "Authenticate", arguments, None, 0, 60000, None,
            lambda bus, result: ended.append(result),
        )
        while not ended and "waiting" not in heard:
            GLib.MainContext.default().iteration(True)
        say("touch %d" % number)
        while not ended:
            GLib.MainContext.default().iteration(True)
        bus.call_finish(ended[0])
        say("verify-match %d" % number)


def login():
    """A login of root's, once a line was read; writes how it ended."""
    sys.stdin.readline()
    try:
        bus.call_sync("org.whorl", "/org/whorl", "org.whorl.Authentication1", "Authenticate",
                      GLib.Variant("(ssa{sv})", ("root", "login", {})), None, 0, 60000, None)
        say("in")
    except GLib.Error as error:
        say(Gio.DBusError.get_remote_error(error).rsplit(".", 1)[1])


if sys.argv[1] == "login":
    login()
elif sys.argv[1] == "authenticate":
    authenticate()
elif sys.argv[1] == "flood":
    flood(sys.argv[2])
elif sys.argv[1] == "victim":
    victim()
else:
    go(sys.argv[1])
