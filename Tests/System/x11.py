"""An X server without a screen, and the keys of its keyboard."""
import ctypes
import os
import subprocess

from world import PATH, until

RETURN, ESCAPE = 0xff0d, 0xff1b


class Screen:
    def __init__(self):
        number, told = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(told), "-nolock", "-nolisten", "tcp", "-screen", "0",
                                        "320x240x24"], pass_fds=[told], env={"PATH": PATH}, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(told)
        with open(number) as words:
            self.name = ":" + words.readline().strip()
        self.x = ctypes.CDLL("libX11.so.6")
        self.test = ctypes.CDLL("libXtst.so.6")
        self.x.XOpenDisplay.restype = ctypes.c_void_p
        self.x.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        self.x.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self.x.XGrabKeyboard.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                                         ctypes.c_ulong]
        self.x.XUngrabKeyboard.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
        self.x.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
        self.x.XDefaultRootWindow.restype = ctypes.c_ulong
        self.test.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
        self.display = self.x.XOpenDisplay(self.name.encode())
        assert self.display, self.name

    def press(self, key, shift=False):
        code = self.x.XKeysymToKeycode(self.display, key)
        held = self.x.XKeysymToKeycode(self.display, 0xffe1)
        events = [(code, 1), (code, 0)]
        if shift:
            events = [(held, 1), *events, (held, 0)]
        for each, down in events:
            self.test.XTestFakeKeyEvent(self.display, each, down, 0)
        self.x.XSync(self.display, 0)

    def type(self, text):
        for letter in text:
            self.press(ord(letter))

    @property
    def is_grabbed(self):
        """Whether somebody has the keyboard for himself, as a locker does."""
        if self.x.XGrabKeyboard(self.display, self.x.XDefaultRootWindow(self.display), 1, 1, 1, 0):
            return True
        self.x.XUngrabKeyboard(self.display, 0)
        self.x.XSync(self.display, 0)
        return False

    def close(self):
        self.server.terminate()
        self.server.wait()
