"""Programs that are stopped at the prompt and go on."""
import fcntl
import os
import signal
import termios

from signal_tests import asks
from sudo_tests import MATCH, WAITING
from terminal import Terminal
from world import ALICE_PASSWORD, ROOT_PASSWORD, SOURCE

TESTS = []
COMMANDS = (("sudo", ["sudo", "echo", "done"], ALICE_PASSWORD), ("su", ["su", "-c", "echo done"], ROOT_PASSWORD))


def test(function):
    TESTS.append(function)
    return function


class Job(Terminal):
    """A job of a shell that leaves the terminal's settings alone; see job.py. "fg" goes to the shell."""

    def __init__(self, command):
        words, self.shell = os.pipe()
        super().__init__(["/usr/bin/python3", f"{SOURCE}/Tests/System/job.py", *command], third=words)
        os.close(words)

    @property
    def job(self):
        """The job's pid, while it is in front."""
        return os.tcgetpgrp(self.master)

    def go_on(self):
        os.write(self.shell, b"fg\n")

    def close(self):
        os.close(self.shell)
        super().close()


@test
def stopped_by_its_key_the_terminal_is_in_order_and_the_finger_is_asked_for_anew(world):
    world.play(WAITING)
    for service, command, password in COMMANDS:
        for answer in (None, password):
            world.reset_sudo()
            with Job(command) as terminal:
                terminal.expect(asks(service))
                world.next_call()
                assert not terminal.echoes
                terminal.type("half\x1a")
                terminal.expect("stopped by SIGTSTP")
                assert terminal.is_as_before, service
                # The request has ended: a touch now is for something else.
                world.tell(MATCH)
                terminal.go_on()
                terminal.expect(asks(service))
                world.next_call()
                assert not terminal.echoes
                if answer:
                    terminal.type(answer + "\n")
                else:
                    world.tell(MATCH)
                terminal.expect("done")
                assert terminal.wait() == 0
                assert terminal.is_as_before, service


@test
def stopped_twice_it_asks_a_third_time(world):
    world.play(WAITING)
    with Job(["su", "-c", "echo done"]) as terminal:
        for _ in range(2):
            terminal.expect(asks("su"))
            terminal.type("\x1a")
            terminal.expect("stopped by SIGTSTP")
            assert terminal.is_as_before
            terminal.go_on()
        terminal.expect(asks("su"))
        terminal.type(ROOT_PASSWORD + "\n")
        terminal.expect("done")
        assert terminal.wait() == 0


@test
def stopped_outright_a_touch_meanwhile_lets_nobody_in(world):
    """SIGSTOP gives nobody time to end the request."""
    world.play(WAITING)
    for service, command, _ in COMMANDS:
        world.reset_sudo()
        with Job(command) as terminal:
            terminal.expect(asks(service))
            world.next_call()
            terminal.signal(signal.SIGSTOP, terminal.job)
            terminal.expect("stopped by SIGSTOP")
            world.tell(MATCH)
            terminal.go_on()
            terminal.expect(asks(service))
            assert "done" not in terminal.text
            world.next_call()
            world.tell(MATCH)
            terminal.expect("done")
            assert terminal.wait() == 0
            assert terminal.is_as_before


@test
def input_that_a_program_puts_there_is_no_other_than_typed_input(world):
    world.play(WAITING)
    for service, command, password in COMMANDS:
        world.reset_sudo()
        with Terminal(command) as terminal:
            terminal.expect(asks(service))
            for byte in (password + "\n").encode():
                # From the slave: what a program on the terminal does, which here has to be root's.
                fcntl.ioctl(terminal.slave, termios.TIOCSTI, bytes([byte]))
            terminal.expect("done")
            assert terminal.wait() == 0
            assert terminal.is_as_before
            assert password not in terminal.text
