#!/usr/bin/python3
"""A scripted org.whorl for the tests of pam_whorl.so, on the bus of DBUS_SYSTEM_BUS_ADDRESS.

usage: fake_whorl.py [--uid N] [--stay] [--farewell] STEPS

STEPS is a JSON list that each Authenticate call runs through, each step a list:
  ["progress", EVENT, {KEY: VALUE}]       a Progress signal to the caller, as whorld sends it
  ["raw-progress", SIGNATURE, [ARGS]]     a Progress signal with other arguments ("OP" is the call's operation)
  ["impostor", EVENT, {KEY: VALUE}]       the first from another connection
  ["impostor-reply", FINGER]              a reply to the call from another connection
  ["flood", N]                            N Progress signals from another connection
  ["wait", MILLISECONDS]                  the script goes on after that time
  ["reply", FINGER], ["raw-reply", SIGNATURE, [ARGS]], ["error", NAME, MESSAGE]
  ["die"]                                 leaves the bus at once
A script that ends without an answer leaves the call unanswered.

Prints "ready" when the name is owned, then one JSON line for each call; with --farewell also "gone" when a caller has left the
bus. A line on standard input is a list of more
steps for the last call. Ends when its standard input does, or with --stay when the bus does.
"""
import argparse
import json
import os

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
from gi.repository import GLib

AUTHENTICATION = "org.whorl.Authentication1"
PATH = "/org/whorl"


def details(values):
    def convert(value):
        if isinstance(value, bool) or isinstance(value, str):
            return value
        return dbus.UInt32(value) if isinstance(value, int) else dbus.Array(value, signature="s")
    return dbus.Dictionary({key: convert(value) for key, value in values.items()}, signature="sv")


class Script:
    """The steps for one call."""

    def __init__(self, whorl, impostor, call, steps):
        self.whorl, self.impostor, self.call, self.steps = whorl, impostor, call, list(steps)
        user, service, options = call.get_args_list()
        self.operation = dbus.UInt64(options.get("operation", 0))
        print(json.dumps({"user": user, "service": service, "options": {k: int(v) for k, v in options.items() if k != "transaction"}}),
              flush=True)

    def run(self):
        while self.steps:
            kind, *rest = self.steps.pop(0)
            if kind == "wait":
                GLib.timeout_add(rest[0], self.run)
                break
            getattr(self, "step_" + kind.replace("-", "_"))(*rest)
        return False

    def signal(self, sender, signature, arguments):
        message = dbus.lowlevel.SignalMessage(PATH, AUTHENTICATION, "Progress")
        message.set_destination(self.call.get_sender())
        message.append(signature=signature, *arguments)
        sender.send_message(message)

    def answer(self, sender, signature, arguments):
        message = dbus.lowlevel.MethodReturnMessage(self.call)
        if signature:
            message.append(signature=signature, *arguments)
        sender.send_message(message)

    def step_progress(self, event, values):
        self.signal(self.whorl, "tsa{sv}", [self.operation, event, details(values)])

    def step_raw_progress(self, signature, arguments):
        self.signal(self.whorl, signature, [self.operation if a == "OP" else a for a in arguments])

    def step_impostor(self, event, values):
        self.signal(self.impostor, "tsa{sv}", [self.operation, event, details(values)])
        self.impostor.flush()

    def step_impostor_reply(self, finger):
        self.answer(self.impostor, "s", [finger])
        self.impostor.flush()

    def step_flood(self, count):
        for _ in range(count):
            self.signal(self.impostor, "tsa{sv}", [self.operation, "retry", details({"reason": "too-fast"})])
        self.impostor.flush()

    def step_reply(self, finger):
        self.answer(self.whorl, "s", [finger])

    def step_raw_reply(self, signature, arguments):
        self.answer(self.whorl, signature, arguments)

    def step_error(self, name, text):
        self.whorl.send_message(dbus.lowlevel.ErrorMessage(self.call, name, text))

    def step_die(self):
        self.whorl.flush()
        os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uid", type=int)
    parser.add_argument("--stay", action="store_true")
    parser.add_argument("--farewell", action="store_true")
    parser.add_argument("steps")
    arguments = parser.parse_args()
    steps = json.loads(arguments.steps)
    if arguments.uid is not None:
        os.setgroups([])
        os.setgid(arguments.uid)
        os.setuid(arguments.uid)
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    address = os.environ["DBUS_SYSTEM_BUS_ADDRESS"]
    whorl, impostor = dbus.bus.BusConnection(address), dbus.bus.BusConnection(address)

    last = []

    def on_input(*_):
        text = os.read(0, 65536).decode()
        if not text:
            loop.quit()
        for line in text.splitlines():
            # Whoever it was meant for may have left, as one may before a touch.
            if not last:
                continue
            last[-1].steps += json.loads(line)
            last[-1].run()
        return bool(text)

    def on_message(connection, message):
        if message.get_type() == 1 and message.get_member() == "Authenticate":
            last.append(Script(whorl, impostor, message, steps))
            last[-1].run()
            return dbus.lowlevel.HANDLER_RESULT_HANDLED
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED

    def on_owner(name, _, owner):
        if not owner and any(script.call.get_sender() == name for script in last):
            last.clear()
            print("gone", flush=True)

    if arguments.farewell:
        whorl.add_signal_receiver(on_owner, "NameOwnerChanged", "org.freedesktop.DBus", "org.freedesktop.DBus")
    whorl.add_message_filter(on_message)
    whorl.request_name("org.whorl", dbus.bus.NAME_FLAG_DO_NOT_QUEUE)
    print("ready", flush=True)
    loop = GLib.MainLoop()
    whorl.call_on_disconnection(lambda _: loop.quit())
    if not arguments.stay:
        GLib.io_add_watch(0, GLib.PRIORITY_DEFAULT, GLib.IO_HUP | GLib.IO_IN, on_input)
    loop.run()


main()
