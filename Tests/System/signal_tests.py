"""Signals, and a terminal that goes away, in the middle of the wait."""
import os
import signal

from sudo_tests import ASKS, MATCH, PASSWORD, WAITING, sudo
from terminal import Terminal
from world import ALICE_PASSWORD, ROOT_PASSWORD, until

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def asks(service):
    return ASKS.replace("sudo", service)


@test
def a_signal_ends_su_as_it_would_have_and_the_terminal_is_in_order(world):
    world.play(WAITING)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM):
        with Terminal(["su", "-c", "echo done"]) as terminal:
            terminal.expect(asks("su"))
            assert not terminal.echoes
            # To be sent by root: su is root's.
            terminal.signal(number)
            assert terminal.wait() == -number, f"{number}: {terminal.text!r}"
            assert terminal.is_as_before, number
            assert "done" not in terminal.text


@test
def a_signal_that_sudo_catches_ends_the_wait_for_the_finger(world):
    """Until its own prompt sudo only notes signals (and holds SIGINT and SIGQUIT back); there they end it."""
    world.play(WAITING)
    for number in (signal.SIGTERM, signal.SIGHUP):
        with sudo("echo", "done") as terminal:
            terminal.expect(ASKS)
            terminal.signal(number)
            terminal.expect("\r\n" + PASSWORD)
            terminal.wait_for_echo(False)
            until(lambda: terminal.signal(number) or terminal.ended, "sudo's end")
            assert terminal.status != 0
            assert terminal.is_as_before, number
            assert "done" not in terminal.text


@test
def a_quit_key_quits(world):
    world.play(WAITING)
    with Terminal(["su", "-c", "echo done"]) as terminal:
        terminal.expect(asks("su"))
        terminal.type("\x1c")
        assert terminal.wait() == -signal.SIGQUIT
        assert terminal.is_as_before


@test
def killed_outright_the_reader_is_free_at_once(world):
    world.play(WAITING)
    for _ in range(3):
        with sudo("echo", "done") as terminal:
            terminal.expect(ASKS)
            terminal.signal(signal.SIGKILL)
            terminal.wait()


@test
def the_window_is_closed(world):
    world.play(WAITING)
    for command in (["su", "-c", "echo done"], ["sudo", "echo", "done"]):
        terminal = Terminal(command)
        terminal.expect("Touch")
        os.close(terminal.slave)
        os.close(terminal.master)
        pid, status = None, None

        def ended():
            nonlocal pid, status
            pid, status = os.waitpid(terminal.pid, os.WNOHANG)
            return pid
        until(ended, f"{command[0]}'s end")
        assert status != 0


@test
def stopped_and_going_on_it_asks_again(world):
    world.play(WAITING)
    with Terminal(["bash", "--norc", "-i"], environment={"PS1": "SHELL> "}) as terminal:
        terminal.expect("SHELL> ")
        terminal.type("sudo echo done\n")
        terminal.expect(ASKS)
        first = world.next_call()
        terminal.type("half\x1a")
        terminal.expect(r"Stopped.*\r\nSHELL> ")
        # The request has ended: a touch now is for something else.
        world.tell(MATCH)
        terminal.type("echo shell-is-$((1+1))\n")
        terminal.expect("shell-is-2\r\n")
        terminal.expect("SHELL> ")
        terminal.type("fg\n")
        terminal.expect(ASKS)
        assert first["user"] == world.next_call()["user"] == "alice"
        assert not terminal.echoes
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done\r\n")
        terminal.expect("SHELL> ")
        terminal.type("exit\n")
        terminal.wait()


@test
def in_the_background_it_asks_for_no_finger(world):
    world.play(WAITING)
    with Terminal(["bash", "--norc", "-i"], environment={"PS1": "SHELL> "}) as terminal:
        terminal.expect("SHELL> ")
        terminal.type("sudo echo done &\n")
        terminal.expect("SHELL> ")
        until(lambda: terminal.type("\n") or "Stopped" in terminal.text, "the job's stop")
        assert "Touch" not in terminal.text
        terminal.type("fg\n")
        terminal.expect("password for alice: ")
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        terminal.expect("done\r\n")


@test
def the_bus_is_stopped_in_the_middle_and_gone_before(world):
    world.play(WAITING)
    with sudo("echo", "done") as terminal:
        terminal.expect(ASKS)
        world.stop_bus()
        terminal.expect(PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        assert terminal.wait() == 0
    world.reset_sudo()
    with sudo("echo", "done") as terminal:
        terminal.expect("^" + PASSWORD)
        terminal.wait_for_echo(False)
        terminal.type(ALICE_PASSWORD + "\n")
        assert terminal.wait() == 0
        assert terminal.is_as_before
    world.stop_whorld()
    world.start_bus()


@test
def no_environment_changes_who_is_asked(world):
    """A set-user-ID program takes no bus from its caller, nor words that say where the person is."""
    world.play(["error", "org.whorl.Error.AuthenticationFailed", "no"])
    environment = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/run/whorl/evil", "XDG_SEAT": "seat0", "XDG_VTNR": "1",
                   "SSH_CONNECTION": "a b c d", "SSH_TTY": "/dev/pts/0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x"}
    with sudo("echo", "done", environment=environment) as terminal:
        terminal.expect(PASSWORD)
        assert world.next_call()["service"] == "sudo"


@test
def without_simultaneous_too_a_signal_finds_the_terminal_in_order(world):
    asks_first = r"Touch the fingerprint reader with your right index finger \(su\)"
    world.set_options("timeout=20", simultaneous=False)
    world.play(WAITING)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM):
        with Terminal(["su", "-c", "echo done"]) as terminal:
            terminal.expect(asks_first)
            assert not terminal.echoes
            terminal.type("half a pass\n")
            until(lambda: terminal.waiting, "the keys' arrival")
            terminal.signal(number)
            assert terminal.wait() == -number, f"{number}: {terminal.text!r}"
            assert terminal.is_as_before, number
            # Else a shell would run it.
            assert terminal.left_over == b"", number
            assert "half" not in terminal.text and "done" not in terminal.text, f"{number}: {terminal.text!r}"
    for key, number in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)):
        with Terminal(["su", "-c", "echo done"]) as terminal:
            terminal.expect(asks_first)
            terminal.type(key)
            assert terminal.wait() == -number
            assert terminal.is_as_before


@test
def without_simultaneous_stopped_and_going_on_it_asks_again(world):
    asks_first = r"Touch the fingerprint reader with your right index finger \(sudo\)"
    world.set_options("timeout=20", simultaneous=False)
    world.play(WAITING)
    with Terminal(["bash", "--norc", "-i"], environment={"PS1": "SHELL> "}) as terminal:
        terminal.expect("SHELL> ")
        terminal.type("sudo echo done\n")
        terminal.expect(asks_first)
        world.next_call()
        terminal.wait_for_echo(False)
        terminal.type("half\x1a")
        terminal.expect(r"Stopped.*\r\nSHELL> ")
        terminal.type("echo shell-is-$((1+1))\n")
        terminal.expect("shell-is-2\r\n")
        terminal.expect("SHELL> ")
        terminal.type("fg\n")
        terminal.expect(asks_first)
        world.next_call()
        terminal.wait_for_echo(False)
        world.tell(MATCH)
        terminal.expect("done\r\n")
        terminal.expect("SHELL> ")
        assert "half" not in terminal.text
        terminal.type("exit\n")
        terminal.wait()
