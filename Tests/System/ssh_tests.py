"""Logins over ssh, and sudo in them: whoever sits far away is asked for no finger."""
import os
import socket
import subprocess

from sessions import TOUCH, Sessions
from sudo_tests import ASKS, PASSWORD, WAITING
from terminal import Terminal
from world import ALICE, ALICE_PASSWORD, PATH

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
