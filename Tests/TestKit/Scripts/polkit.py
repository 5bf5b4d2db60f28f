#!/usr/bin/python3
"""A polkit for tests and the demo: takes org.freedesktop.PolicyKit1 on the bus that DBUS_SYSTEM_BUS_ADDRESS names.

usage: polkit.py [allow|deny|challenge|dialog|hang|error|garbage|crash]

A word on standard input changes the answer. It writes "ready", "now WORD" and, for each question,
"check<TAB>ACTION<TAB>SUBJECT<TAB>FLAGS" after "cancellable<TAB>ID" where it has one, and "cancelled<TAB>ID".
"""
import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

ANSWERS = ("allow", "deny", "challenge", "dialog", "hang", "error", "garbage", "crash")
XML = """<node><interface name="org.freedesktop.PolicyKit1.Authority">
<method name="CheckAuthorization">
  <arg type="(sa{sv})" name="subject" direction="in"/><arg type="s" name="action_id" direction="in"/>
  <arg type="a{ss}" name="details" direction="in"/><arg type="u" name="flags" direction="in"/>
  <arg type="s" name="cancellation_id" direction="in"/><arg type="(bba{ss})" name="result" direction="out"/>
</method>
<method name="CancelCheckAuthorization"><arg type="s" name="cancellation_id" direction="in"/></method>
<signal name="Changed"/>
<property name="BackendName" type="s" access="read"/>
<property name="BackendVersion" type="s" access="read"/>
<property name="BackendFeatures" type="u" access="read"/>
</interface></node>"""

answer = "allow"
waiting = []  # questions that hang: kept, so that they are never answered


def say(text):
    print(text, flush=True)


def subject_text(subject):
    kind, details = subject
    return kind + " " + str(details.get("name", details.get("pid", details.get("session-id", "?"))))


def call(_bus, _sender, _path, _interface, method, arguments, invocation):
    if method != "CheckAuthorization":
        say("cancelled\t%s" % arguments.unpack()[0])
        invocation.return_value(None)
        return
    subject, action, _details, flags, cancellation = arguments.unpack()
    if cancellation:
        say("cancellable\t%s" % cancellation)
    say("check\t%s\t%s\t%d" % (action, subject_text(subject), flags))
    if answer == "crash":
        os._exit(1)
    if answer == "hang" or (answer == "dialog" and flags & 1):
        waiting.append(invocation)
    elif answer == "error":
        invocation.return_dbus_error("org.freedesktop.PolicyKit1.Error.Failed", "told to fail")
    elif answer == "garbage":
        # GLib checks the type of a method's answer, so this one goes out as a message.
        reply = invocation.get_message().new_method_reply()
        reply.set_body(GLib.Variant("(s)", ("yes",)))
        invocation.get_connection().send_message(reply, Gio.DBusSendMessageFlags.NONE)
        waiting.append(invocation)
    else:
        result = (answer == "allow", answer in ("challenge", "dialog"), {})
        invocation.return_value(GLib.Variant("((bba{ss}))", (result,)))


def get(_bus, _sender, _path, _interface, name):
    values = {"BackendName": ("s", "mock"), "BackendVersion": ("s", "0"), "BackendFeatures": ("u", 0)}
    return GLib.Variant(*values[name])


def choose(word):
    global answer
    if word not in ANSWERS:
        sys.exit("polkit.py: unknown answer %r; one of %s" % (word, ", ".join(ANSWERS)))
    answer = word


def main():
    if len(sys.argv) > 1:
        choose(sys.argv[1])
    loop = GLib.MainLoop()
    bus = Gio.DBusConnection.new_for_address_sync(
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"],
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
        None,
        None,
    )
    bus.connect("closed", lambda *_: loop.quit())
    interface = Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0]
    bus.register_object("/org/freedesktop/PolicyKit1/Authority", interface, call, get, None)

    def typed(_channel, condition):
        if condition & GLib.IO_IN:
            line = sys.stdin.readline()
            if line:
                choose(line.strip())
                say("now " + answer)
                return True
        return False  # no more input: go on with the last answer

    GLib.io_add_watch(sys.stdin.fileno(), GLib.IO_IN | GLib.IO_HUP, typed)
    name = Gio.bus_own_name_on_connection(
        bus, "org.freedesktop.PolicyKit1", Gio.BusNameOwnerFlags.NONE, lambda *_: say("ready"), lambda *_: loop.quit()
    )
    loop.run()
    Gio.bus_unown_name(name)


main()
