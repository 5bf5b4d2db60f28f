"""A machine in a mount namespace: its own /run, /etc, /var/lib, /home, a real system bus, polkitd, and users."""
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SYSTEM_BUS = "unix:path=/run/dbus/system_bus_socket"
# A second door of the same bus: whorld goes into private mode there, and has virtual readers.
PRIVATE_BUS = "unix:path=/run/whorl/bus"
ALICE, ALICE_UID, ALICE_PASSWORD = "alice", 1501, "alice's password"
BOB, BOB_UID = "bob", 1502
ROOT_PASSWORD = "root's password"
# A program that authenticates through PAM, with whatever property a test wants: pam/tests/pam_host.c.
HOST = "/run/whorl/pam_host"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

COMMON = """auth [success=2 default=ignore] pam_whorl.so simultaneous always-prompt {options}
auth [success=1 default=ignore] pam_unix.so nullok try_first_pass
auth requisite pam_deny.so
auth required pam_permit.so
account required pam_unix.so
session required pam_permit.so
"""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options)


def build_host():
    run("cc", "-std=c17", "-O1", "-g", "-o", HOST, f"{SOURCE}/pam/tests/pam_host.c", "-lpam")


class World:
    def __init__(self, module, programs, more):
        self.module, self.programs, self.more = module, programs, more
        self.children = []
        self.whorld = self.polkit = None
        self.mount()
        self.add_users()
        self.set_options()
        self.start_bus()

    # The machine

    def mount(self):
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
        os.makedirs("/run/layers")
        for name in ("etc", "var/lib", "home"):
            upper, work = f"/run/layers/{name}/upper", f"/run/layers/{name}/work"
            os.makedirs(upper)
            os.makedirs(work)
            run("mount", "-t", "overlay", "overlay", "-o",
                f"lowerdir=/{name},upperdir={upper},workdir={work}", f"/{name}")
        if os.path.isdir(f"{self.more}/usr"):
            # The programs that programs.sh has fetched.
            run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={self.more}/usr:/usr", "/usr")
        os.makedirs("/run/dbus")
        os.makedirs("/run/whorl")
        os.makedirs("/run/lock", exist_ok=True)
        os.makedirs("/run/sudo", exist_ok=True)
        shutil.rmtree("/var/lib/whorl", ignore_errors=True)
        shutil.rmtree("/var/lib/fprint", ignore_errors=True)
        # Where users can read it, whatever the folder of the build is.
        shutil.copy(self.module, "/run/whorl/pam_whorl.so")
        os.chmod("/run/whorl/pam_whorl.so", 0o644)

    def add_users(self):
        def hashed(password):
            return run("openssl", "passwd", "-6", "-stdin", input=password).stdout.strip()
        run("useradd", "-m", "-u", str(ALICE_UID), "-s", "/bin/sh", "-p", hashed(ALICE_PASSWORD), ALICE)
        run("useradd", "-m", "-u", str(BOB_UID), "-s", "/bin/sh", BOB)
        run("usermod", "-p", hashed(ROOT_PASSWORD), "root")
        self.set_sudoers("")

    def set_sudoers(self, defaults):
        """alice may do all with a password; `defaults` is another line."""
        with open("/etc/sudoers", "w") as file:
            file.write(f"Defaults !fqdn\nDefaults lecture=never\nDefaults passwd_tries=3\n{defaults}\n"
                       f"root ALL=(ALL:ALL) ALL\n{ALICE} ALL=(ALL:ALL) ALL\n")
        os.chmod("/etc/sudoers", 0o440)
        with open("/etc/hosts", "a") as file:
            file.write(f"127.0.0.1 {os.uname().nodename}\n")

    def set_options(self, options="", text=COMMON, simultaneous=True):
        """Writes the service files anew, with these options of the module's."""
        if not simultaneous:
            text = text.replace("simultaneous ", "")
        shutil.rmtree("/etc/pam.d")
        os.mkdir("/etc/pam.d")
        text = text.format(options=options).replace("pam_whorl.so", "/run/whorl/pam_whorl.so")
        for name in ("sudo", "sudo-i", "su", "su-l", "login", "polkit-1", "other", "cron", "doas", "i3lock",
                     "greetd", "greetd-greeter"):
            with open(f"/etc/pam.d/{name}", "w") as file:
                file.write(("auth sufficient pam_rootok.so\n" if name.startswith("su") and "sudo" not in name else "")
                           + text)

    def start_bus(self):
        with open("/run/whorl/bus.conf", "w") as file:
            file.write(f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <include>/usr/share/dbus-1/system.conf</include>
  <listen>{PRIVATE_BUS}</listen>
  <include>{SOURCE}/data/dbus/org.whorl.conf</include>
</busconfig>
""")
        self.bus = self.start(["dbus-daemon", "--config-file=/run/whorl/bus.conf", "--nofork", "--nopidfile",
                               "--print-address=1"], stdout=subprocess.PIPE)
        self.bus.stdout.readline()

    def stop_bus(self):
        self.bus.terminate()
        self.bus.wait()
        self.children.remove(self.bus)

    def start_polkit(self):
        """Starts the real polkitd; whoever asks is let in by root's finger or password."""
        if self.polkit and self.polkit.poll() is None:
            return
        os.makedirs("/etc/polkit-1/rules.d", exist_ok=True)
        with open("/etc/polkit-1/rules.d/10-test.rules", "w") as file:
            file.write('polkit.addAdminRule(function(action, subject) { return ["unix-user:root"]; });\n')
        self.polkit = self.start(["/usr/lib/polkit-1/polkitd", "--no-debug"])
        self.wait_for_name("org.freedesktop.PolicyKit1")

    def wait_for_name(self, name):
        until(lambda: "true" in run("dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                                    "org.freedesktop.DBus.NameHasOwner", f"string:{name}").stdout, f"{name} on the bus")

    def start(self, command, environment=None, **options):
        child = subprocess.Popen(command, env={"PATH": PATH, **(environment or {})}, stdin=options.pop(
            "stdin", subprocess.DEVNULL), **options)
        self.children.append(child)
        return child

    # whorld

    def play(self, *steps, options=()):
        """Has a scripted whorld answer each call with these steps; see pam/tests/fake_whorl.py."""
        self.stop_whorld()
        self.whorld = self.start(["/usr/bin/python3", f"{SOURCE}/pam/tests/fake_whorl.py", *options, json.dumps(steps)],
                                 {"DBUS_SYSTEM_BUS_ADDRESS": SYSTEM_BUS}, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        # Room for what nobody reads.
        fcntl.fcntl(self.whorld.stdout, fcntl.F_SETPIPE_SZ, 1 << 20)
        assert self.whorld.stdout.readline() == "ready\n"

    def next_call(self):
        """What the scripted whorld was asked next."""
        return json.loads(self.whorld.stdout.readline())

    @property
    def was_called(self):
        """Whether the scripted whorld was asked for more than `next_call` has given."""
        return bool(select.select([self.whorld.stdout], [], [], 0)[0])

    def tell(self, *steps):
        """Has the scripted whorld do more in the call that runs."""
        self.whorld.stdin.write(json.dumps(steps) + "\n")
        self.whorld.stdin.flush()

    def stop_whorld(self):
        if self.whorld is None:
            return
        self.whorld.kill()
        self.whorld.wait()
        self.children.remove(self.whorld)
        self.whorld = None

    def reset(self):
        """As it was at the beginning, for the next test."""
        self.stop_whorld()
        self.set_sudoers("")
        self.set_options()
        self.reset_sudo()

    def reset_sudo(self):
        """Whoever asked sudo before has to be asked again."""
        shutil.rmtree("/run/sudo", ignore_errors=True)
        os.makedirs("/run/sudo")

    def close(self):
        for child in reversed(self.children):
            child.kill()
            child.wait()


def until(condition, what, seconds=20):
    """Waits for something that comes by itself."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.01)
