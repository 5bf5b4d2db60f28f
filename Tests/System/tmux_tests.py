"""sudo within a pane of tmux, and where such a pane is."""
import fcntl
import re
import struct
import subprocess
import termios

from sessions import TOUCH, Sessions
from sudo_tests import ASKS, MATCH, PASSWORD, WAITING
from terminal import Terminal
from world import ALICE_PASSWORD, until

NEEDS = ("tmux",)
TESTS = []
# What the shell shows where it waits; the typed line has it not.
READY = "ready-2"


def test(function):
    TESTS.append(function)
    return function


class Tmux(Terminal):
    """A server of its own, begun in that one of logind's sessions, and attached to from there."""

    count = 0

    def __init__(self, session="here"):
        Tmux.count += 1
        self.socket = f"/home/alice/tmux-{Tmux.count}"
        super().__init__(["tmux", "-f", "/dev/null", "-S", self.socket, "new-session"],
                         environment={"TERM": "xterm", "SHELL": "/bin/sh", "PS1": "$ ", "XDG_SESSION_ID": session})

    def attached(self, session):
        """Another terminal with the same pane."""
        return Terminal(["tmux", "-S", self.socket, "attach"], environment={"TERM": "xterm", "XDG_SESSION_ID": session})

    @property
    def screen(self):
        """What the pane shows; what tmux sends to its terminals is only what has changed."""
        self.settle()
        shown = subprocess.run(["tmux", "-S", self.socket, "capture-pane", "-pJ"], capture_output=True, text=True)
        return shown.stdout.rstrip("\n")

    def shows(self, text):
        """Waits for a text (a regular expression) and gives the whole screen."""
        try:
            until(lambda: re.search(text, self.screen), text)
        except AssertionError as error:
            raise AssertionError(f"{error}; shown: {self.screen}") from None
        return self.screen

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)
        self.close()


@test
def in_a_pane_there_is_one_prompt_for_either_and_the_pane_is_as_before(world):
    world.play(WAITING)
    for key in (None, ALICE_PASSWORD + "\n", "\x03", "\n"):
        world.reset_sudo()
        with Tmux() as pane:
            pane.type("stty -g; sudo echo do''ne; stty -g; echo ready-$((1+1))\n")
            pane.shows(ASKS)
            if key is None:
                world.tell(MATCH)
            else:
                pane.type(key)
            if key in ("\x03", "\n"):
                pane.shows(PASSWORD)
                pane.type(ALICE_PASSWORD + "\n")
            shown = pane.shows(READY)
            assert shown.count("Touch") == 1, shown
            assert "done" in shown and ALICE_PASSWORD not in shown, shown
            before, after = re.findall(r"[0-9a-f]+(?::[0-9a-f]+){20,}", shown)
            assert before == after, shown


@test
def a_pane_that_changes_its_size_asks_on(world):
    world.play(WAITING)
    with Tmux() as pane:
        pane.type("sudo echo do''ne; echo ready-$((1+1))\n")
        pane.shows(ASKS)
        fcntl.ioctl(pane.slave, termios.TIOCSWINSZ, struct.pack("4H", 50, 132, 0, 0))
        pane.type(ALICE_PASSWORD + "\n")
        shown = pane.shows(READY)
        assert "done" in shown and shown.count("Touch") == 1, shown


@test
def a_pane_is_where_its_server_was_started(world):
    """Where somebody attaches from, nobody tells sudo; see pam/examples/README.md."""
    with Sessions(world, "here", "afar") as sessions:
        for server, client, expected in (("here", "here", TOUCH), ("here", "afar", TOUCH), ("afar", "here", PASSWORD),
                                         ("ended", "afar", PASSWORD)):
            world.reset_sudo()
            if server == "ended":
                server = "here"
                sessions.end("here")
            with Tmux(session=server) as first:
                first.shows(r"\$")
                with first.attached(client) as second:
                    # Attached once it shows something.
                    second.expect(r"\$")
                    second.type("sudo echo do''ne; echo ready-$((1+1))\n")
                    first.shows(expected)
                    if expected == TOUCH:
                        sessions.touch()
                    else:
                        second.type(ALICE_PASSWORD + "\n")
                    shown = first.shows(READY)
                    assert "done" in shown and ("Swipe" in shown) == (expected == TOUCH), shown
