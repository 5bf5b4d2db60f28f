#!/usr/bin/python3
"""Writes 70-whorl.rules on standard output: access to the readers of the installed libfprint for whorl-reader's group.

The list is libfprint's own: the table of devices of each driver, read from the library. That table is no part of its
interface, so the result is compared with the two files that libfprint installs for udev: the USB devices must be those
of its hwdb, the SPI devices those of its rules. Where they differ, nothing is written.

    udev/make-rules.py > udev/70-whorl.rules
"""
import ctypes
import os
import re
import sys

HWDB = "60-autosuspend-libfprint-2.hwdb"
RULES = "70-libfprint-2.rules"
# Devices with a driver that the hwdb, which is about power management, leaves out.
LEFT_OUT = {(0x045E, 0x00BB), (0x0483, 0x2016)}
UDEV, USB = 1, 2  # FpDeviceType
SPIDEV, HIDRAW = 1, 2  # the kinds of node that a driver of type UDEV asks for

HEAD = """\
# Gives the fingerprint readers that libfprint has drivers for to whorl-reader, and to no user: what a sensor sends is
# not for programs. Made by udev/make-rules.py from libfprint's list of devices; do not edit it here, put what overrides
# it into /etc/udev/rules.d. Power management is in libfprint's own files.
ACTION=="remove", GOTO="whorl_end"
"""
GIVE = 'GROUP="whorl-reader", MODE="0660", TAG="whorl"'


class DeviceClass(ctypes.Structure):
    """The head of a driver's class, after GObjectClass."""
    _fields_ = [("parent", ctypes.c_byte * 136), ("id", ctypes.c_char_p), ("name", ctypes.c_char_p),
                ("type", ctypes.c_int), ("table", ctypes.c_void_p)]


class Usb(ctypes.Structure):
    _fields_ = [("product", ctypes.c_uint), ("vendor", ctypes.c_uint)]


class Udev(ctypes.Structure):
    _fields_ = [("kinds", ctypes.c_uint), ("acpi", ctypes.c_char_p), ("hid", Usb)]


class Ids(ctypes.Union):
    _fields_ = [("usb", Usb), ("udev", Udev)]


class Entry(ctypes.Structure):
    _fields_ = [("ids", Ids), ("driver_data", ctypes.c_uint64)]


def drivers():
    """Each driver's name, kind and the address of its table."""
    for name in [name for name in os.environ if name.startswith("FP_")]:
        del os.environ[name]
    gobject = ctypes.CDLL("libgobject-2.0.so.0")
    fprint = ctypes.CDLL("libfprint-2.so.2")
    gobject.g_type_children.restype = ctypes.POINTER(ctypes.c_size_t)
    gobject.g_type_children.argtypes = [ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint)]
    gobject.g_type_class_ref.restype = ctypes.POINTER(DeviceClass)
    gobject.g_type_class_ref.argtypes = [ctypes.c_size_t]
    fprint.fp_device_get_type.restype = ctypes.c_size_t
    fprint.fp_context_new.restype = ctypes.c_void_p
    if not fprint.fp_context_new():  # registers the drivers' types
        sys.exit("make-rules.py: libfprint does not start")

    def below(kind):
        count = ctypes.c_uint()
        children = gobject.g_type_children(kind, ctypes.byref(count))
        for index in range(count.value):
            yield children[index]
            yield from below(children[index])

    found = {}
    for kind in below(fprint.fp_device_get_type()):
        driver = gobject.g_type_class_ref(kind).contents
        if driver.id and driver.table and driver.type in (UDEV, USB):
            found[driver.id.decode()] = (driver.type, driver.table)
    return sorted(found.items())


def entries(table):
    """The entries of a table up to the empty one."""
    for index in range(1000):
        entry = Entry.from_address(table + index * ctypes.sizeof(Entry))
        if not any(bytes(entry.ids)):
            return
        yield entry
    sys.exit("make-rules.py: a table of libfprint has no end; its layout has changed")


def udev_file(folder, name):
    """A file that libfprint's package installs for udev."""
    for root in ("/usr/lib/udev", "/lib/udev"):
        path = f"{root}/{folder}/{name}"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    sys.exit(f"make-rules.py: {name} is not there; install libfprint-2-2")


def compare(what, found, expected):
    if found != expected:
        sys.exit(f"make-rules.py: libfprint's tables and its udev files do not agree on {what}: "
                 f"only in the tables: {sorted(found - expected)}; only in the files: {sorted(expected - found)}")


def main():
    usb, spi, hid = {}, {}, {}
    for driver, (kind, table) in drivers():
        for entry in entries(table):
            if kind == USB:
                usb.setdefault(driver, set()).add((entry.ids.usb.vendor, entry.ids.usb.product))
                continue
            ids = entry.ids.udev
            if ids.kinds & SPIDEV:
                spi.setdefault(driver, set()).add(ids.acpi.decode())
            if ids.kinds & HIDRAW:
                hid.setdefault(driver, set()).add((ids.hid.vendor, ids.hid.product))

    supported = udev_file("hwdb.d", HWDB).split("# Known unsupported devices")[0]
    compare("USB devices", set().union(*usb.values()) - LEFT_OUT,
            {(int(v, 16), int(p, 16)) for v, p in re.findall(r"^usb:v([0-9A-F]{4})p([0-9A-F]{4})\*", supported, re.M)})
    compare("SPI devices", set().union(*spi.values()),
            set(re.findall(r'ENV\{MODALIAS\}=="acpi:(\w+):"', udev_file("rules.d", RULES))))

    lines = [HEAD]
    for driver, ids in sorted(usb.items()):
        lines.append(f"# {driver}")
        for vendor in sorted({vendor for vendor, _ in ids}):
            products = "|".join(f"{product:04x}" for other, product in sorted(ids) if other == vendor)
            lines.append(f'SUBSYSTEM=="usb", ENV{{DEVTYPE}}=="usb_device", ATTR{{idVendor}}=="{vendor:04x}", '
                         f'ATTR{{idProduct}}=="{products}", {GIVE}')
    for driver, names in sorted(spi.items()):
        lines.append(f"# {driver}")
        lines += [f'SUBSYSTEM=="spidev", SUBSYSTEMS=="spi", ATTRS{{modalias}}=="acpi:{name}:*", {GIVE}'
                  for name in sorted(names)]
        # The HID device beside it, by which the sensor is reset.
        lines += [f'SUBSYSTEM=="hidraw", SUBSYSTEMS=="hid", KERNELS=="*:{vendor:04X}:{product:04X}.*", {GIVE}'
                  for vendor, product in sorted(hid.get(driver, ()))]
    for driver in sorted(set(hid) - set(spi)):
        sys.exit(f"make-rules.py: {driver} has HID devices alone, which this script has no rule for yet")
    lines.append('\nLABEL="whorl_end"')
    print("\n".join(lines))


main()
