"""What a person does with the programs of Examples/, on a terminal: fingers are pressed, passcodes typed.

usage: examples.py BUILT-EXAMPLES PROGRAMS FINGER-SOCKET PASSCODE STATE-FOLDER     with whorld on DBUS_SYSTEM_BUS_ADDRESS
"""
import os
import pwd
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "System"))
from terminal import Terminal  # noqa: E402

EXAMPLES, PROGRAMS, SOCKET, PASSCODE, STATE = sys.argv[1:]
RIGHT, WRONG = "left-loop", "whorl"
TOUCH, ASKED = "Touch the fingerprint reader", "Your login password: "
PROMPT = r"> "


class Program(Terminal):
    """An example on a terminal, and the reader beside it."""
    presses = 0

    def __init__(self, name):
        super().__init__(
            [f"{EXAMPLES}/{name}"], user=pwd.getpwuid(os.getuid()).pw_name,
            environment={"DBUS_SYSTEM_BUS_ADDRESS": os.environ["DBUS_SYSTEM_BUS_ADDRESS"],
                         "WHORL_AGENT_PROGRAM": f"{PROGRAMS}/whorl"})

    def press(self, finger):
        Program.presses += 1
        subprocess.run([f"{PROGRAMS}/press-finger", SOCKET, finger, str(Program.presses)], check=True)

    def touch(self, finger):
        self.expect(TOUCH)
        self.press(finger)

    def give_passcode(self, passcode=PASSCODE):
        self.expect(ASKED)
        self.wait_for_echo(False)
        self.type(passcode + "\n")

    def say(self, command, *shown):
        """Types a command, and waits for what comes of it and for the next question."""
        self.type(command + "\n")
        for text in shown:
            self.expect(text)
        if shown:
            self.expect(PROMPT)

    def quit(self):
        self.say("quit")
        self.expect("Bye.")
        if self.wait() != 0:
            raise AssertionError("LoginFlow did not end well")


def login_flow():
    with Program("LoginFlow") as program:
        program.expect("Nobody is logged in.")
        program.expect(PROMPT)
        program.say("login ada")
        program.expect("Password of ada:")
        program.say("wrong", "Not done: The name or the password is wrong.")
        program.say("login ada")
        program.expect("Password of ada:")
        program.say("analytical", "ada is logged in, without a finger.")
        program.say("lock", "Not done: ")
        program.say("whoami", "You are ada.")

        program.say("finger on")
        program.touch(RIGHT)
        program.expect("Logged in, behind a finger.")
        program.expect(PROMPT)
        program.say("whoami", "You are ada.")
        program.say("lock", "Locked.")
        program.say("whoami", "Not done: ")

        program.say("unlock")
        program.touch(RIGHT)
        program.expect("Welcome back, ada.")
        program.expect(PROMPT)
        program.quit()

    # The next start is locked, and knows whose it is only after a finger.
    with Program("LoginFlow") as program:
        program.expect("Locked.")
        program.expect(PROMPT)
        program.say("unlock")
        program.expect(TOUCH)
        program.wait_for_echo(False)
        program.type("\x03")
        program.expect("Cancelled; nothing has changed.")
        program.expect(PROMPT)

        # Three tries in a request; fingers are off after five.
        for tries, end in ((3, "Not done: "), (2, "Too many fingers that were not yours")):
            program.say("unlock")
            program.expect(TOUCH)
            for _ in range(tries):
                program.press(WRONG)
            program.expect(end)
            program.expect(PROMPT)
        program.say("unlock", "Too many fingers that were not yours")
        program.say("passcode")
        program.give_passcode()
        program.expect("Fingers count again.")
        program.expect(PROMPT)
        program.say("unlock")
        program.touch(RIGHT)
        program.expect("Welcome back, ada.")
        program.expect(PROMPT)

        program.say("switch grace")
        program.expect("Password of grace:")
        program.say("wrong", "Not done: The name or the password is wrong.")
        program.say("whoami", "You are ada.")
        program.say("switch grace")
        program.expect("Password of grace:")
        program.say("compiler", "grace is logged in, without a finger.")
        program.say("finger on")
        program.touch(RIGHT)
        program.expect("Logged in, behind a finger.")
        program.expect(PROMPT)
        program.say("finger off", "grace is logged in, without a finger.")
        program.say("logout", "Nobody is logged in.")
        program.quit()


def touch_id_keychain():
    with Program("TouchIDKeychain") as program:
        program.expect("sign in to www.example.com")
        program.touch(RIGHT)
        program.expect("The password of ada: correct horse")
        program.wait()
    with Program("TouchIDKeychain") as program:
        program.expect("Enter: give your login password instead")
        program.wait_for_echo(False)
        program.type("\n")
        program.give_passcode()
        program.expect("The password of ada: correct horse")
        program.wait()
    # An account without a passcode: there is nothing that such an item could be bound to.
    os.rename(f"{STATE}/.whorl", f"{STATE}/.whorl-kept")
    try:
        with Program("TouchIDKeychain") as program:
            program.expect(r"\(-25293\)")
            if TOUCH in program.text:
                raise AssertionError("somebody was asked")
            program.wait()
    finally:
        os.rename(f"{STATE}/.whorl-kept", f"{STATE}/.whorl")


for story in (touch_id_keychain, login_flow):
    story()
    print(f"{story.__name__}: as it should be")
