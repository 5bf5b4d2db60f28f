"""greetd, which logs people in for greeters that talk to it over a socket. It needs no console here."""
import json
import os
import signal
import socket
import struct
import subprocess

from sudo_tests import MATCH, WAITING
from world import ALICE, ALICE_PASSWORD, PATH, until

NEEDS = ("greetd",)
TESTS = []
FOLDER = "/run/whorl/greetd"
TOUCH = {"type": "auth_message", "auth_message_type": "info",
         "auth_message": "Touch the fingerprint reader with your right index finger (greetd)"}
PASSWORD = {"type": "auth_message", "auth_message_type": "secret", "auth_message": "Password: "}
SUCCESS = {"type": "success"}


def test(function):
    TESTS.append(function)
    return function


class Greeter:
    """What a greeter does, by hand; greetd's own one only says where the socket is."""

    def __init__(self):
        os.makedirs(FOLDER, exist_ok=True)
        os.chmod(FOLDER, 0o777)
        self.write("greeter", f'#!/bin/sh\necho "$GREETD_SOCK" $$ > {FOLDER}/new && mv {FOLDER}/new {FOLDER}/socket\n'
                              "exec sleep 1000\n", 0o755)
        self.write("config.toml", '[terminal]\nvt = "none"\n[general]\nsource_profile = false\n[default_session]\n'
                                  f'command = "{FOLDER}/greeter"\nuser = "bob"\n')
        for name in ("socket", "session"):
            if os.path.exists(f"{FOLDER}/{name}"):
                os.unlink(f"{FOLDER}/{name}")
        self.process = subprocess.Popen(["greetd", "--config", f"{FOLDER}/config.toml"], stdin=subprocess.DEVNULL,
                                        env={"PATH": PATH}, stderr=subprocess.DEVNULL)
        until(lambda: os.path.exists(f"{FOLDER}/socket"), "the greeter")
        with open(f"{FOLDER}/socket") as file:
            name, self.pid = file.read().split()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(name)

    @staticmethod
    def write(name, text, mode=0o644):
        with open(f"{FOLDER}/{name}", "w") as file:
            file.write(text)
        os.chmod(f"{FOLDER}/{name}", mode)

    def send(self, kind, **values):
        data = json.dumps({"type": kind, **values}).encode()
        self.socket.sendall(struct.pack("=I", len(data)) + data)

    def hear(self):
        length, = struct.unpack("=I", self.socket.recv(4, socket.MSG_WAITALL))
        return json.loads(self.socket.recv(length, socket.MSG_WAITALL))

    def ask(self, kind, **values):
        self.send(kind, **values)
        return self.hear()

    def start(self):
        """Begins the session, which says who it is; greetd wants the greeter to end first."""
        self.write("command", f"#!/bin/sh\nid -un > {FOLDER}/who && mv {FOLDER}/who {FOLDER}/session\n", 0o755)
        assert self.ask("start_session", cmd=[f"{FOLDER}/command"], env=[]) == SUCCESS
        self.socket.close()
        os.kill(int(self.pid), signal.SIGTERM)
        until(lambda: os.path.exists(f"{FOLDER}/session"), "the session")
        with open(f"{FOLDER}/session") as file:
            assert file.read() == f"{ALICE}\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.kill()
        self.process.wait()


@test
def a_touch_begins_the_session(world):
    world.play(WAITING)
    with Greeter() as greeter:
        assert greeter.ask("create_session", username=ALICE) == TOUCH
        call = world.next_call()
        assert (call["user"], call["service"]) == (ALICE, "greetd")
        greeter.send("post_auth_message_response")
        world.tell(MATCH)
        assert greeter.hear() == SUCCESS
        greeter.start()


@test
def the_password_begins_it_when_the_finger_does_not(world):
    world.play(WAITING)
    with Greeter() as greeter:
        assert greeter.ask("create_session", username=ALICE) == TOUCH
        greeter.send("post_auth_message_response")
        world.tell(["error", "org.whorl.Error.TimedOut", "x"])
        assert "No finger was seen in time." in greeter.hear()["auth_message"]
        assert greeter.ask("post_auth_message_response") == PASSWORD
        assert greeter.ask("post_auth_message_response", response=ALICE_PASSWORD) == SUCCESS
        greeter.start()


@test
def without_a_finger_to_ask_for_greetd_asks_for_the_password_alone(world):
    world.play(["error", "org.whorl.Error.BiometryNotEnrolled", "x"])
    with Greeter() as greeter:
        assert greeter.ask("create_session", username=ALICE) == PASSWORD
        answer = greeter.ask("post_auth_message_response", response="wrong")
        assert (answer["type"], answer["error_type"]) == ("error", "auth_error")


@test
def a_login_that_is_given_up_is_over_when_the_wait_is(world):
    """greetd hears no greeter while a module waits; then it gives up, and the next login begins at once."""
    world.play(WAITING)
    with Greeter() as greeter:
        assert greeter.ask("create_session", username=ALICE) == TOUCH
        world.next_call()
        greeter.send("post_auth_message_response")
        greeter.send("cancel_session")
        world.tell(["error", "org.whorl.Error.TimedOut", "x"])
        assert "No finger was seen in time." in greeter.hear()["auth_message"]
        assert greeter.hear() == SUCCESS
        assert greeter.ask("create_session", username=ALICE) == TOUCH
        greeter.send("post_auth_message_response")
        world.next_call()
        world.tell(MATCH)
        assert greeter.hear() == SUCCESS
        greeter.start()
