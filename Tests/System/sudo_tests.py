"""sudo: finger or password, whichever comes first."""
import os
import subprocess
import time

from terminal import Terminal
from world import ALICE, ALICE_PASSWORD, until

TESTS = []
WAITING = ["progress", "waiting", {"scan-type": "press", "fingers": ["right-index-finger"], "reader": "R"}]
MATCH = ["reply", "right-index-finger"]
ASKS = r"Touch the fingerprint reader with your right index finger or type your password \(sudo\): "
PASSWORD = r"\[sudo\] password for alice: "


def test(function):
    TESTS.append(function)
    return function


def sudo(*arguments, **options):
    return Terminal(["sudo", *arguments], **options)


@test
def a_touch_lets_in_and_leaves_the_terminal_as_it_was(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        assert not terminal.echoes
        world.tell(MATCH)
        terminal.expect("done")
        assert terminal.wait() == 0
        assert terminal.is_as_before
        assert terminal.text == ("Touch the fingerprint reader with your right index finger or type your password "
                                 "(sudo): \ndone\n"), terminal.text


@test
def what_was_typed_before_the_touch_goes_to_nobody(world):
    world.play(WAITING)
    with sudo("cat") as terminal:
        terminal.expect(ASKS)
        terminal.type("half a pass")
        world.tell(MATCH)
        terminal.wait_for_echo(True)
        terminal.type("next\n\x04")
        terminal.expect("next")
        assert terminal.wait() == 0
        assert "half" not in terminal.text


@test
def the_right_password_lets_in_at_once_and_the_reader_is_free(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        start = time.monotonic()
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done")
        assert time.monotonic() - start < 5
        assert terminal.wait() == 0
        assert terminal.is_as_before
        assert ALICE_PASSWORD not in terminal.text
        assert "password for alice" not in terminal.text, "asked once"


@test
def a_wrong_password_is_wrong_and_the_next_prompt_takes_either(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.type("no\n")
        terminal.expect("Sorry|Wrong|wrong|try again|[a-z]", 20)
        terminal.expect(ASKS)
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0


@test
def corrections_while_typing_count(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.type("rubbish\x15x\u00e4\x7f\x7f" + ALICE_PASSWORD + "z\x7f\n")
        terminal.expect("done")
        assert terminal.wait() == 0


@test
def an_empty_line_goes_on_to_the_password(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.type("\n")
        terminal.expect(PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0
        assert terminal.is_as_before


@test
def control_c_goes_on_to_the_password_and_there_ends_the_command(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.type("abc\x03")
        terminal.expect(PASSWORD)
        terminal.wait_for_echo(False)
        # Not with the key that skipped in front of it.
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0
    world.reset_sudo()
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.type("\x03")
        terminal.expect(PASSWORD)
        terminal.wait_for_echo(False)
        # One that comes between sudo's prompt and its reading is lost to sudo.
        until(lambda: terminal.type("\x03") or terminal.ended, "sudo's end")
        assert terminal.status != 0
        assert terminal.is_as_before
        assert "done" not in terminal.text


@test
def control_d_goes_on_to_the_password(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.type("\x04")
        terminal.expect(PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0


@test
def other_fingers_are_told_and_the_password_is_taken_after_them(world):
    world.play(WAITING, ["progress", "no-match", {"tries-left": 1}])
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.expect("Fingerprint not recognised: one try left.")
        terminal.expect(ASKS)
        world.tell(["progress", "no-match", {"tries-left": 0}], ["error", "org.whorl.Error.AuthenticationFailed", "x"])
        terminal.expect("Fingerprint not recognised.\r\n" + PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0


@test
def a_password_that_is_being_typed_when_the_time_ends_is_not_lost(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.type(ALICE_PASSWORD[:5])
        terminal.settle()
        world.tell(["error", "org.whorl.Error.TimedOut", "x"])
        terminal.expect("No finger was seen in time.")
        terminal.expect(r"Type your password \(sudo\): ")
        terminal.type(ALICE_PASSWORD[5:] + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0


@test
def nobody_comes(world):
    world.set_options("timeout=1")
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.expect(PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        assert terminal.wait() == 0


@test
def whorld_is_killed_in_the_middle(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        world.stop_whorld()
        terminal.expect(PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0
        assert terminal.is_as_before


@test
def without_a_finger_to_ask_for_nothing_is_shown(world):
    for error in ("BiometryNotEnrolled", "BiometryNotAvailable", "Busy"):
        world.play(["error", f"org.whorl.Error.{error}", "x"])
        with sudo("echo", "done") as terminal:
            terminal.expect("^" + PASSWORD)
            terminal.close()


@test
def a_line_that_is_too_long_is_no_password(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        terminal.type("x" * 600 + "\n")
        terminal.expect("That is too long for a password.")
        terminal.expect(PASSWORD)


@test
def from_standard_input_or_askpass_there_is_no_finger_and_no_word(world):
    world.play(WAITING)
    askpass = "/run/whorl/askpass"
    with open(askpass, "w") as file:
        file.write(f"#!/bin/sh\necho \"{ALICE_PASSWORD}\"\n")
    os.chmod(askpass, 0o755)
    for arguments in (["-S"], ["-kS"], ["-u", "root", "-S"], ["--stdin"], ["-p", "", "-S"], ["A=b", "-S"]):
        world.reset_sudo()
        taken, given = os.pipe()
        os.write(given, (ALICE_PASSWORD + "\n").encode())
        os.close(given)
        with sudo(*arguments, "echo", "done", stdin=taken) as terminal:
            assert terminal.wait(5) == 0, terminal.text
            assert "Touch" not in terminal.text, terminal.text
        os.close(taken)
    world.reset_sudo()
    with sudo("-A", "echo", "done", environment={"SUDO_ASKPASS": askpass}) as terminal:
        assert terminal.wait(5) == 0, terminal.text
        assert terminal.text == "done\n", terminal.text
    world.reset_sudo()
    world.set_sudoers("Defaults noninteractive_auth")
    with sudo("-n", "echo", "done") as terminal:
        assert terminal.wait(5) != 0
        assert "Touch" not in terminal.text, terminal.text


@test
def input_from_elsewhere_does_not_matter_and_output_stays_clean(world):
    """`producer | sudo consumer > file` asks on the terminal, and nothing of it is in the file."""
    world.play(WAITING)
    taken, given = os.pipe()
    os.write(given, b"from the pipe\n")
    os.close(given)
    result, output = os.pipe()
    with sudo("cat", stdin=taken, stdout=output) as terminal:
        os.close(output)
        terminal.expect(ASKS)
        world.tell(MATCH)
        assert terminal.wait() == 0
        assert os.read(result, 1000) == b"from the pipe\n"
        assert terminal.is_as_before


@test
def without_a_terminal_there_is_no_finger(world):
    world.play(WAITING)
    start = time.monotonic()
    ended = subprocess.run(["setpriv", "--reuid", ALICE, "--regid", ALICE, "--init-groups", "setsid", "sudo", "true"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
    assert ended.returncode != 0 and "Touch" not in ended.stdout + ended.stderr, ended
    assert "a terminal is required" in ended.stderr, ended.stderr


@test
def a_second_sudo_needs_nothing_and_k_forgets(world):
    """sudo's timestamp is left to sudo."""
    world.play(WAITING)
    with Terminal(["sh", "-c", "sudo true; sudo echo again; sudo -k; sudo echo after"]) as terminal:
        terminal.expect(ASKS)
        world.tell(MATCH)
        terminal.expect("again")
        terminal.expect(ASKS)
        assert "after" not in terminal.text
        world.tell(MATCH)
        terminal.expect("after")
        assert terminal.wait() == 0


ASKS_FIRST = r"Touch the fingerprint reader with your right index finger \(sudo\)"


@test
def without_simultaneous_what_is_typed_meanwhile_does_not_show(world):
    """By habit a password is typed while the finger is awaited. sudo's own prompt drops what came before it."""
    world.set_options("timeout=20", simultaneous=False)
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS_FIRST)
        assert not terminal.echoes
        terminal.type("a secret\n")
        until(lambda: terminal.waiting, "the keys' arrival")
        world.tell(["error", "org.whorl.Error.TimedOut", "x"])
        terminal.expect("No finger was seen in time.")
        terminal.expect(PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0
        assert terminal.is_as_before
        assert "secret" not in terminal.text, terminal.text
    world.reset_sudo()
    # Neither the command nor the shell gets part of a password.
    with sudo("cat") as terminal:
        terminal.expect(ASKS_FIRST)
        terminal.type("half a pass\n")
        until(lambda: terminal.waiting, "the keys' arrival")
        world.tell(MATCH)
        terminal.wait_for_echo(True)
        terminal.type("next\n\x04")
        terminal.expect("next")
        assert terminal.wait() == 0
        assert "half" not in terminal.text, terminal.text
        assert terminal.is_as_before


@test
def without_simultaneous_other_fingers_are_told_once_each(world):
    world.set_options(simultaneous=False)
    world.play(WAITING, ["progress", "no-match", {"tries-left": 1}])
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS_FIRST)
        terminal.expect("Fingerprint not recognised: one try left.")
        assert not terminal.echoes
        world.tell(["progress", "no-match", {"tries-left": 0}], ["error", "org.whorl.Error.AuthenticationFailed", "x"])
        terminal.expect("Fingerprint not recognised.\r\n" + PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        assert terminal.wait() == 0
        assert terminal.is_as_before
