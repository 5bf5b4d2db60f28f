"""A screen locker, which runs as its user: i3lock on an X server without a screen."""
import subprocess

from sudo_tests import MATCH, WAITING
from world import ALICE, ALICE_PASSWORD, PATH, SOURCE, until
from x11 import RETURN, Screen

NEEDS = ("Xvfb", "i3lock")
TESTS = []
TIMED_OUT = ["error", "org.whorl.Error.TimedOut", "x"]


def test(function):
    TESTS.append(function)
    return function


class Locker:
    """i3lock of alice's, with the screen locked."""

    def __init__(self, screen):
        self.screen = screen
        self.process = subprocess.Popen(
            ["setpriv", "--reuid", ALICE, "--regid", ALICE, "--init-groups", "i3lock", "-n"], stdin=subprocess.DEVNULL,
            env={"PATH": PATH, "DISPLAY": screen.name, "HOME": "/home/alice", "USER": ALICE, "LANG": "C.UTF-8"})
        until(lambda: screen.is_grabbed, "the lock")
        # What i3lock 2.14 takes before its loop it answers, but stays.
        until(self.waits, "the locker's loop")

    def waits(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            sleeps = " S " in file.read()
        with open(f"/proc/{self.process.pid}/wchan") as file:
            where = file.read()
        # "0" where it does not sleep, or the kernel does not tell.
        return sleeps and ("epoll" in where or "ep_poll" in where or where in ("", "0"))

    def enter(self, text=""):
        self.screen.type(text)
        self.screen.press(RETURN)

    def opens(self):
        return self.process.wait(20) == 0

    @property
    def is_locked(self):
        return self.process.poll() is None and self.screen.is_grabbed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def with_screen(body):
    """The same for each stack: the common one, which asks for the finger first, and the example for lockers."""
    def run(world):
        screen = Screen()
        try:
            for example in (False, True):
                if example:
                    with open(f"{SOURCE}/pam/examples/screenlock") as file:
                        text = file.read().replace("pam_whorl.so", "/run/whorl/pam_whorl.so")
                    text = text.replace("@include common-account", "account required pam_unix.so")
                    with open("/etc/pam.d/i3lock", "w") as file:
                        file.write(text)
                world.play(WAITING)
                body(world, screen, example)
        finally:
            screen.close()
    run.__name__ = body.__name__
    return run


@test
@with_screen
def enter_alone_asks_for_the_finger_which_opens(world, screen, example):
    with Locker(screen) as locker:
        locker.enter()
        call = world.next_call()
        assert (call["user"], call["service"]) == (ALICE, "i3lock")
        assert locker.is_locked
        world.tell(MATCH)
        assert locker.opens()


@test
@with_screen
def the_password_opens_too(world, screen, example):
    with Locker(screen) as locker:
        locker.enter(ALICE_PASSWORD)
        if not example:
            world.next_call()
            assert locker.is_locked
            world.tell(TIMED_OUT)
        assert locker.opens()
        assert not world.was_called


@test
@with_screen
def neither_a_wrong_password_nor_another_finger_opens(world, screen, example):
    with Locker(screen) as locker:
        locker.enter("wrong")
        world.next_call()
        world.tell(["error", "org.whorl.Error.AuthenticationFailed", "x"])
        # It takes no Enter while it says that it was wrong.
        until(lambda: locker.enter() or world.was_called, "the next try")
        assert locker.is_locked
        world.next_call()
        world.tell(MATCH)
        assert locker.opens()


@test
@with_screen
def without_a_finger_to_ask_for_the_password_opens_at_once(world, screen, example):
    world.play(["error", "org.whorl.Error.BiometryNotEnrolled", "x"])
    with Locker(screen) as locker:
        locker.enter(ALICE_PASSWORD)
        assert locker.opens()
