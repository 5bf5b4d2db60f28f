#!/usr/bin/python3
"""A notification service for tests: takes org.freedesktop.Notifications on the bus that DBUS_SESSION_BUS_ADDRESS names.

usage: notifications.py [markup|plain|hang]     what it says that it can do; hang: it answers no Notify

It writes "ready", and for each call "notify<TAB>ID<TAB>REPLACES<TAB>SUMMARY<TAB>BODY<TAB>ACTIONS" (line ends in the
texts as \\n) or "close<TAB>ID". Lines on standard input: "invoke ID KEY" and "dismiss ID", as a person would do.
"""
import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
XML = """<node><interface name="org.freedesktop.Notifications">
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
<method name="Notify">
  <arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
  <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
  <arg type="a{sv}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/>
</method>
<method name="CloseNotification"><arg type="u" direction="in"/></method>
<signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal>
<signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>
</interface></node>"""

mode = sys.argv[1] if len(sys.argv) > 1 else "markup"
last = 0
waiting = []


def say(*words):
    print("\t".join(str(word).replace("\n", "\\n") for word in words), flush=True)


def call(bus, _sender, _path, _interface, method, arguments, invocation):
    global last
    if method == "GetCapabilities":
        able = ["actions", "body"] + (["body-markup"] if mode == "markup" else [])
        invocation.return_value(GLib.Variant("(as)", (able,)))
    elif method == "Notify":
        _app, replaces, _icon, summary, body, actions, _hints, _expire = arguments.unpack()
        if mode == "hang":
            waiting.append(invocation)
            return
        if not replaces:
            last += 1
        number = replaces or last
        say("notify", number, replaces, summary, body, ",".join(actions))
        invocation.return_value(GLib.Variant("(u)", (number,)))
    else:
        (number,) = arguments.unpack()
        say("close", number)
        bus.emit_signal(None, PATH, NAME, "NotificationClosed", GLib.Variant("(uu)", (number, 3)))
        invocation.return_value(None)


def main():
    loop = GLib.MainLoop()
    bus = Gio.DBusConnection.new_for_address_sync(
        os.environ["DBUS_SESSION_BUS_ADDRESS"],
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
        None,
        None,
    )
    bus.connect("closed", lambda *_: loop.quit())
    bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0], call, None, None)

    def typed(_channel, condition):
        line = sys.stdin.readline() if condition & GLib.IO_IN else ""
        words = line.split()
        if not words:
            return False
        if words[0] == "invoke":
            bus.emit_signal(None, PATH, NAME, "ActionInvoked", GLib.Variant("(us)", (int(words[1]), words[2])))
        else:
            bus.emit_signal(None, PATH, NAME, "NotificationClosed", GLib.Variant("(uu)", (int(words[1]), 2)))
        return True

    GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, typed)
    Gio.bus_own_name_on_connection(
        bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: say("ready"), lambda *_: loop.quit()
    )
    loop.run()


main()
