"""Whose finger, and su and login."""
import os

from signal_tests import asks
from sudo_tests import ASKS, MATCH, WAITING, sudo
from terminal import Terminal
from world import ALICE, ALICE_PASSWORD, BOB, ROOT_PASSWORD

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def asked_by(world, terminal, service="sudo"):
    """Whose finger is asked for; the touch is given."""
    terminal.expect(asks(service))
    call = world.next_call()
    assert call["service"] == service, call
    world.tell(MATCH)
    return call["user"]


@test
def sudo_asks_for_the_finger_of_whoever_its_rules_name(world):
    world.play(WAITING)
    for rule, expected in (("", ALICE), ("Defaults rootpw", "root"), ("Defaults targetpw", "daemon")):
        world.reset_sudo()
        world.set_sudoers(rule)
        arguments = ["-u", "daemon"] if "targetpw" in rule else []
        with sudo(*arguments, "id", "-un") as terminal:
            assert asked_by(world, terminal) == expected
            terminal.expect("daemon" if arguments else "root")
            assert terminal.wait() == 0


@test
def su_asks_for_the_finger_of_whom_one_becomes(world):
    world.play(WAITING)
    with Terminal(["su", "-c", "id -un"]) as terminal:
        assert asked_by(world, terminal, "su") == "root"
        terminal.expect("root")
        assert terminal.wait() == 0
        assert terminal.is_as_before
    with Terminal(["su", "-c", "id -un", BOB]) as terminal:
        assert asked_by(world, terminal, "su") == BOB
        terminal.expect(BOB)
        assert terminal.wait() == 0


@test
def su_takes_the_password_at_the_same_prompt(world):
    world.play(WAITING)
    with Terminal(["su", "-c", "id -un"]) as terminal:
        terminal.expect(asks("su"))
        terminal.type(ROOT_PASSWORD + "\n")
        terminal.expect("root\r\n")
        assert terminal.wait() == 0
        assert terminal.is_as_before
        assert "Password" not in terminal.text


@test
def su_skipped_gets_the_password_as_it_was_typed(world):
    world.play(WAITING)
    for key in ("\x03", "\n", "\x04", "typed in vain\x03"):
        with Terminal(["su", "-c", "id -un"]) as terminal:
            terminal.expect(asks("su"))
            terminal.type(key)
            terminal.expect("Password: ")
            terminal.wait_for_echo(False)
            terminal.type(ROOT_PASSWORD + "\n")
            terminal.expect("root\r\n")
            assert terminal.wait() == 0, repr(key)
            assert terminal.is_as_before


@test
def what_is_typed_after_the_password_reaches_the_shell(world):
    world.play(WAITING)
    with Terminal(["su", "-c", "cat"]) as terminal:
        terminal.expect(asks("su"))
        terminal.type(ROOT_PASSWORD + "\nfor the program\n")
        terminal.expect("for the program")
        terminal.type("\x04")
        assert terminal.wait() == 0


@test
def su_with_the_password_on_its_input_asks_for_no_finger(world):
    world.play(WAITING)
    taken, given = os.pipe()
    os.write(given, (ROOT_PASSWORD + "\n").encode())
    os.close(given)
    with Terminal(["su", "-c", "echo done"], stdin=taken) as terminal:
        assert terminal.wait(5) == 0
        assert "Touch" not in terminal.text


@test
def login_takes_either(world):
    world.play(WAITING)
    for password in (None, ALICE_PASSWORD):
        with Terminal(["/bin/login"], user="root") as terminal:
            terminal.expect("login: ")
            terminal.type("alice\n")
            terminal.expect(asks("login"))
            assert world.next_call()["user"] == ALICE
            if password is None:
                world.tell(MATCH)
            else:
                terminal.type(password + "\n")
            terminal.expect(r"\$ ")
            assert terminal.echoes
            terminal.type("id -un; exit\n")
            terminal.expect("alice\r\n")
            terminal.wait()


@test
def login_refuses_a_wrong_password_and_asks_again(world):
    world.play(WAITING)
    with Terminal(["/bin/login"], user="root") as terminal:
        terminal.expect("login: ")
        terminal.type("alice\n")
        terminal.expect(asks("login"))
        terminal.type("wrong\n")
        terminal.expect("Login incorrect")
        terminal.expect("login: ")


@test
def without_the_option_the_finger_comes_first(world):
    world.set_options(text="""auth sufficient pam_whorl.so always-prompt
auth sufficient pam_unix.so
auth required pam_deny.so
account required pam_permit.so
session required pam_permit.so
""")
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(r"Touch the fingerprint reader with your right index finger \(sudo\)")
        world.tell(["error", "org.whorl.Error.TimedOut", "x"])
        terminal.expect("No finger was seen in time.")
        terminal.expect(r"password for alice: ")
