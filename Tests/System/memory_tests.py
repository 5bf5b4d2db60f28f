"""A thousand authentications in one process under valgrind: no error, no leak, nothing left behind."""
import os

from sudo_tests import MATCH, WAITING
from terminal import Terminal
from world import HOST, build_host

TESTS = []
VALGRIND = ["valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=99",
            "--child-silent-after-fork=yes"]


def test(function):
    TESTS.append(function)
    return function


def host(world):
    """The host program on a terminal under valgrind: 10 times 50 authentications."""
    os.makedirs("/run/whorl/pam.d", exist_ok=True)
    with open("/run/whorl/pam.d/whorl-test", "w") as file:
        file.write("auth required /run/whorl/pam_whorl.so simultaneous timeout=20\n")
    build_host()
    return Terminal([*VALGRIND, HOST, "--tty", "--alone", "--repeat=10", "--again=50", "/run/whorl/pam.d", "whorl-test",
                     "alice"], user="root")


@test
def five_hundred_touches_on_a_terminal_leave_nothing(world):
    world.play(WAITING, MATCH)
    with host(world) as terminal:
        assert terminal.wait(300) == 0, terminal.text[-2000:]
        assert terminal.is_as_before
        left = [line for line in terminal.text.split("\n") if line and not line.startswith("Touch")]
        assert left == ["result 0"], left


@test
def five_hundred_passwords_on_a_terminal_leave_nothing(world):
    world.play(WAITING)
    with host(world) as terminal:
        for number in range(500):
            terminal.expect("password .whorl-test.: ", 60)
            terminal.type(("a password\n", "a\x7f\x15b\n", "\n", "x\x03", "\x04")[number % 5])
        assert terminal.wait(300) == 0, terminal.text[-2000:]
        assert terminal.is_as_before
        left = [line for line in terminal.text.split("\n") if line and not line.startswith("Touch")]
        assert left == ["result 9"], left
