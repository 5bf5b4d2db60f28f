"""polkit's helper, whose conversation is another program's: pkexec through pkttyagent."""
import os
import subprocess
import time

from sudo_tests import MATCH, WAITING
from terminal import Terminal
from world import ROOT_PASSWORD, until

TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Pkexec:
    """`pkexec id -un` by alice, with an agent on a terminal of its own."""

    def __init__(self, world):
        world.start_polkit()
        # It asks for its parent.
        self.caller = Terminal(["sh", "-c", "echo there; read go; pkexec --disable-internal-agent id -un; exit $?"])
        # alice's by now, which polkit compares.
        self.caller.expect("there\r\n")
        ready, note = os.pipe()
        self.agent = Terminal(["pkttyagent", "--process", str(self.caller.pid), "--notify-fd", "3"], third=note)
        os.close(note)
        # Closed by the agent when it is registered.
        os.read(ready, 1)
        os.close(ready)
        self.caller.type("go\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.caller.close()
        self.agent.close()


def helpers():
    return subprocess.run(["pgrep", "-f", "polkit-agent-helper-1"], capture_output=True).returncode == 0


@test
def a_touch_answers_the_dialog(world):
    world.play(WAITING)
    with Pkexec(world) as dialog:
        dialog.agent.expect(r"Touch the fingerprint reader with your right index finger \(polkit-1\)")
        assert world.next_call()["user"] == "root"
        world.tell(MATCH)
        dialog.agent.expect("AUTHENTICATION COMPLETE")
        dialog.caller.expect("root\r\n")
        assert dialog.caller.wait() == 0


@test
def the_password_comes_when_the_finger_does_not(world):
    world.play(WAITING)
    with Pkexec(world) as dialog:
        dialog.agent.expect("Touch the fingerprint reader")
        world.tell(["error", "org.whorl.Error.TimedOut", "x"])
        dialog.agent.expect("Password: ")
        dialog.agent.wait_for_echo(False)
        dialog.agent.type(ROOT_PASSWORD + "\n")
        dialog.agent.expect("AUTHENTICATION COMPLETE")
        dialog.caller.expect("root\r\n")
        assert dialog.caller.wait() == 0


@test
def where_no_finger_can_be_had_the_password_comes_at_once(world):
    world.play(["error", "org.whorl.Error.BiometryNotEnrolled", "x"])
    with Pkexec(world) as dialog:
        dialog.agent.expect("Password: ")
        assert "Touch" not in dialog.agent.text


@test
def a_dialog_that_is_closed_frees_the_reader(world):
    world.play(WAITING)
    with Pkexec(world) as dialog:
        dialog.agent.expect("Touch the fingerprint reader")
        assert helpers()
        dialog.agent.type("\x03")
        dialog.agent.wait()
        until(lambda: not helpers(), "the helper's end")


@test
def an_answer_that_comes_early_ends_the_wait(world):
    """What polkit's helper is sent before it asks is a password that somebody has typed already."""
    world.play(WAITING)
    with subprocess.Popen(["/usr/lib/polkit-1/polkit-agent-helper-1", "root"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as helper:
        helper.stdin.write("1-cookie\n")
        helper.stdin.flush()
        assert "Touch the fingerprint reader" in helper.stdout.readline()
        start = time.monotonic()
        helper.stdin.write(ROOT_PASSWORD + "\n")
        helper.stdin.flush()
        assert "PAM_PROMPT_ECHO_OFF" in helper.stdout.readline()
        assert time.monotonic() - start < 5
        helper.kill()
