"""A match and the right password at the same moment, over and over, in one process: exactly one of them lets in."""
import fcntl
import os
import random
import re
import select
import struct
import termios
import time

from sudo_tests import MATCH, WAITING
from terminal import Terminal
from world import ALICE_PASSWORD, HOST, build_host

TESTS = []
# Each way in says which it was.
STACK = """auth [success=2 default=ignore] /run/whorl/pam_whorl.so simultaneous timeout=60
auth [success=2 default=ignore] pam_unix.so try_first_pass
auth requisite pam_deny.so
auth [default=1] pam_echo.so in by finger
auth [default=ignore] pam_echo.so in by password
auth required pam_permit.so
"""
PROMPT = r"or type your password .whorl-test.: "
# Typed after each race: once it is shown, what was typed before has come through the kernel as well.
MARK = "#\n"
TYPED = (ALICE_PASSWORD + "\n").encode()
RACES = int(os.environ.get("WHORL_RACES", "1000"))
SEED = int(os.environ.get("WHORL_RACE_SEED", "0")) or random.randrange(1, 1 << 30)


def test(function):
    TESTS.append(function)
    return function


def waiting_bytes(terminal):
    """How much was typed that nobody has read: of whole lines, as long as the terminal is in order."""
    return struct.unpack("i", fcntl.ioctl(terminal.slave, termios.FIONREAD, b"\0\0\0\0"))[0]


class Race:
    def __init__(self, world):
        self.world = world
        world.play(WAITING, options=["--farewell"])
        os.makedirs("/run/whorl/pam.d", exist_ok=True)
        with open("/run/whorl/pam.d/whorl-test", "w") as file:
            file.write(STACK)
        build_host()
        taken, self.gate = os.pipe()
        self.terminal = Terminal([HOST, "--tty", "--alone", "--paced", f"--repeat={RACES}", "/run/whorl/pam.d",
                                  "whorl-test", "alice"], user="root", third=taken)
        os.close(taken)

    def line(self):
        """What the scripted whorld says next."""
        ready, _, _ = select.select([self.world.whorld.stdout], [], [], 20)
        assert ready, f"whorld hears nothing; shown: {self.terminal.text[-500:]!r}"
        return self.world.whorld.stdout.readline()

    def begin(self):
        """The next authentication asks for either."""
        os.write(self.gate, b"x")
        call = self.line()
        assert call.startswith("{"), call
        self.terminal.expect(PROMPT)
        assert not self.terminal.echoes
        # What came too late for the last one answers nothing now.
        self.terminal.read(0)
        assert b"in by" not in self.terminal.seen[self.terminal.position:], self.terminal.seen[-500:]

    def end(self):
        """Who was let in by what."""
        way = self.terminal.expect(r"info in by (finger|password)").split()[-1]
        # The loser has gone: whorld's client has left the bus, and waits for no finger any more.
        assert self.line() == "gone\n"
        self.terminal.type(MARK)
        self.terminal.expect("#\r\n")
        return way

    def run(self, distance):
        """One race: the touch so many seconds before the password, or after it."""
        def touch():
            self.world.tell(MATCH)

        def type_password():
            self.terminal.type(TYPED)
        self.begin()
        first, second = (touch, type_password) if distance >= 0 else (type_password, touch)
        first()
        end = time.monotonic() + abs(distance)
        while time.monotonic() < end:
            pass
        second()
        return self.end()


@test
def races_of_a_match_and_the_right_password_let_in_exactly_once(world):
    """REPORTS.md A05: both within 10 ms."""
    chance = random.Random(SEED)
    ways = {"finger": 0, "password": 0}
    longest = late = 0
    race = Race(world)
    with race.terminal as terminal:
        for number in range(RACES):
            where = f"seed {SEED}, race {number}"
            distance = chance.choice((0, 0, chance.uniform(-0.001, 0.001), chance.uniform(-0.01, 0.01)))
            start = time.monotonic()
            way = race.run(distance)
            longest = max(longest, time.monotonic() - start)
            ways[way] += 1
            # A password that was typed is taken, or dropped, or comes when the program has its terminal back; never a part.
            left = waiting_bytes(terminal) - len(MARK)
            assert left in (0, len(TYPED)), f"{where}: {left} bytes"
            assert left == 0 or way == "finger", f"{where}: let in by the password, which is still there"
            late += left > 0
            if left and chance.random() < 0.5:
                terminal.left_over
        assert terminal.wait(60) == 0, terminal.seen[-500:]
        assert terminal.is_as_before
        text = terminal.text
    # One way in for each, the one result of all, and nothing that was left: descriptors, memory, signals. The terminal
    # shows what is typed once it is the program's again, perhaps in the middle of a line.
    assert text.count("info in by ") == text.count("Touch the fingerprint reader") == RACES, f"seed {SEED}"
    assert text.count(ALICE_PASSWORD) <= late, f"seed {SEED}: {text.count(ALICE_PASSWORD)} shown, {late} late"
    known = "|".join((ALICE_PASSWORD, "#", "info in by (finger|password)", "Touch the [^:]*" + PROMPT))
    rest = re.sub(known, "", text).split()
    assert rest == ["result", "0"], f"seed {SEED}: {rest[-9:]}"
    assert min(ways.values()) > 0, f"no race: {ways}"
    print(f"   {RACES} races, seed {SEED}: {ways['finger']} by finger, {ways['password']} by password, {late} "
          f"typed too late; the longest took {longest * 1000:.0f} ms", flush=True)
