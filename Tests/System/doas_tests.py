"""doas, and sudo-rs where the machine's Debian has it."""
import os
import shutil

from signal_tests import asks
from stop_tests import Job
from sudo_tests import MATCH, WAITING
from terminal import Terminal
from world import ALICE, ALICE_PASSWORD, PATH, until

NEEDS = ("doas",)
WANTS = ("sudo-rs",)
TESTS = []
ITS_PROMPT = r"[Pp]assword.*: "


def test(function):
    def run(world):
        with open("/etc/doas.conf", "w") as file:
            file.write(f"permit {ALICE} as root\n")
        os.chmod("/etc/doas.conf", 0o600)
        # sudo-rs knows fewer settings.
        with open("/etc/sudoers", "w") as file:
            file.write(f"root ALL=(ALL:ALL) ALL\n{ALICE} ALL=(ALL:ALL) ALL\n")
        for program, service in (("doas", "doas"), ("sudo-rs", "sudo")):
            if shutil.which(program, path=PATH):
                shutil.rmtree("/run/sudo-rs", ignore_errors=True)
                world.play(WAITING)
                function(world, program, asks(service))
    run.__name__ = function.__name__
    TESTS.append(run)
    return function


@test
def a_touch_runs_the_command_in_a_terminal_as_it_was(world, program, question):
    with Terminal([program, "id", "-un"]) as terminal:
        terminal.expect(question)
        assert world.next_call()["user"] == ALICE
        assert not terminal.echoes
        terminal.type("half a pass")
        terminal.settle()
        world.tell(MATCH)
        terminal.expect("root\r\n")
        assert terminal.wait() == 0
        assert terminal.is_as_before and terminal.left_over == b"", program


@test
def so_does_the_password_at_the_same_prompt(world, program, question):
    with Terminal([program, "id", "-un"]) as terminal:
        terminal.expect(question)
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("root\r\n")
        assert terminal.wait() == 0
        assert terminal.is_as_before and "assword" not in terminal.text.replace("your password", ""), terminal.text


@test
def control_c_goes_on_to_its_own_prompt(world, program, question):
    for answer in (ALICE_PASSWORD + "\n", "\x03"):
        shutil.rmtree("/run/sudo-rs", ignore_errors=True)
        with Terminal([program, "id", "-un"]) as terminal:
            terminal.expect(question)
            terminal.type("abc\x03")
            terminal.expect(ITS_PROMPT)
            terminal.wait_for_echo(False)
            if answer == "\x03":
                # One that comes before it reads is lost to it.
                until(lambda: terminal.type("\x03") or terminal.ended, "its end")
                assert terminal.status != 0
                assert "root" not in terminal.text
            else:
                terminal.type(answer)
                terminal.expect("root\r\n")
                assert terminal.wait() == 0
            # sudo-rs 0.2 ends there without a look at the terminal.
            assert terminal.is_as_before or (program, answer) == ("sudo-rs", "\x03"), program


@test
def stopped_and_going_on_it_takes_the_finger(world, program, question):
    with Job([program, "id", "-un"]) as terminal:
        terminal.expect(question)
        world.next_call()
        terminal.type("\x1a")
        terminal.expect("stopped by SIGTSTP")
        assert terminal.is_as_before, program
        terminal.go_on()
        terminal.expect(question)
        world.next_call()
        world.tell(MATCH)
        terminal.expect("root\r\n")
        assert terminal.wait() == 0
        assert terminal.is_as_before, program


@test
def without_a_prompt_there_is_no_finger(world, program, question):
    with Terminal([program, "-n", "id", "-un"]) as terminal:
        assert terminal.wait() != 0
        assert "Touch" not in terminal.text and not world.was_called, terminal.text
