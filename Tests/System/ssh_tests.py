"""Logins over ssh, and sudo in them: whoever sits far away is asked for no finger."""
import os
import re
import socket
import subprocess
import termios

from sessions import TOUCH, Sessions
from sudo_tests import PASSWORD, WAITING
from terminal import Terminal
from world import ALICE, ALICE_PASSWORD, PATH, ROOT_PASSWORD, until

NEEDS = ("sshd", "ssh", "ssh-keygen")
TESTS = []
FOLDER = "/run/whorl/ssh"
ALICES = rf"\({ALICE}@127.0.0.1\) Password: "


def test(function):
    TESTS.append(function)
    return function


class Login(Terminal):
    """ssh on a terminal, and an sshd of its own that serves it alone, over the loopback device."""

    def __init__(self, command, options="", forced=()):
        prepare(options)
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(20)
            super().__init__(
                ["ssh", "-F", "none", "-tt", "-p", str(server.getsockname()[1]), "-o", "StrictHostKeyChecking=no", "-o",
                 "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "PubkeyAuthentication=no", *forced,
                 f"{ALICE}@127.0.0.1", command], user="root")
            connection, _ = server.accept()
        with connection, open(f"{FOLDER}/log", "w") as log:
            connection.setblocking(True)
            self.server = subprocess.Popen(["/usr/sbin/sshd", "-i", "-e", "-f", f"{FOLDER}/config"], stdin=connection,
                                           stdout=connection, stderr=log, env={"PATH": PATH})

    def __exit__(self, *_):
        self.close()
        self.server.kill()
        self.server.wait()


def prepare(options):
    os.makedirs("/run/sshd", exist_ok=True)
    os.makedirs(FOLDER, exist_ok=True)
    if not os.path.exists(f"{FOLDER}/key"):
        subprocess.run(["useradd", "-r", "-d", "/run/sshd", "-s", "/usr/sbin/nologin", "sshd"], check=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{FOLDER}/key"], check=True)
    with open(f"{FOLDER}/config", "w") as file:
        file.write(f"HostKey {FOLDER}/key\nUsePAM yes\nKbdInteractiveAuthentication yes\nPidFile none\n{options}\n")
    # What pam_systemd would say.
    with open(f"{FOLDER}/session", "w") as file:
        file.write("XDG_SESSION_ID=afar\n")
    with open("/etc/pam.d/sshd", "w") as file, open("/etc/pam.d/other") as other:
        file.write(other.read() + f"session required pam_env.so envfile={FOLDER}/session\n")


def echoes(name):
    """Whether that terminal shows what is typed."""
    with open(name, "rb", buffering=0, opener=lambda path, flags: os.open(path, flags | os.O_NOCTTY)) as terminal:
        return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


@test
def a_login_from_afar_is_asked_for_the_password_at_once(world):
    """Also one that comes through a tunnel, of whom sshd says "localhost" where it looks names up."""
    password = ("-o", "PreferredAuthentications=password")
    for options, forced in (("", ()), ("UseDNS yes", ()), ("UseDNS yes\nPasswordAuthentication yes", password)):
        world.set_options()
        world.play(WAITING)
        with Login("tty; id -un", options, forced) as login:
            login.expect("password: " if forced else ALICES)
            login.wait_for_echo(False)
            login.type(ALICE_PASSWORD + "\n")
            login.expect("/dev/pts/.*\r\nalice\r\n")
            assert login.wait() == 0
            assert login.is_as_before
            assert "Touch" not in login.text and not world.was_called, options


@test
def a_wrong_password_is_asked_for_again_without_a_finger(world):
    world.play(WAITING)
    with Login("true") as login:
        login.expect(ALICES)
        login.wait_for_echo(False)
        login.type("wrong\n")
        login.expect(ALICES)
        login.wait_for_echo(False)
        login.type("\x03")
        assert login.wait() != 0
        assert login.is_as_before and not world.was_called


@test
def sudo_and_su_in_a_session_from_afar_take_the_password(world):
    """While a finger is enrolled, and would do for the same user at the seat."""
    with Sessions(world, "here", "afar") as sessions:
        with Login("tty; stty -g; sudo echo do''ne; stty -g; su -c 'echo su-do''ne'") as login:
            login.expect(ALICES)
            login.wait_for_echo(False)
            login.type(ALICE_PASSWORD + "\n")
            far = login.expect("/dev/pts/[0-9]+")
            login.expect(PASSWORD)
            until(lambda: not echoes(far), "sudo's reading")
            login.type(ALICE_PASSWORD + "\n")
            login.expect("done\r\n")
            login.expect("Password: ")
            # su drops what was typed before it reads.
            until(lambda: not echoes(far), "su's reading")
            login.type(ROOT_PASSWORD + "\n")
            login.expect("su-done\r\n")
            assert login.wait() == 0
            assert "finger" not in login.text, login.text
            before, after = re.findall(r"[0-9a-f]+(?::[0-9a-f]+){20,}", login.text)
            assert before == after
        world.reset_sudo()
        with Terminal(["sudo", "echo", "done"], environment={"XDG_SESSION_ID": "here"}) as here:
            here.expect(TOUCH)
            sessions.touch()
            here.expect("done")
            assert here.wait() == 0
