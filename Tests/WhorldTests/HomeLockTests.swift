import Foundation
import Glibc
import Keychain
import TestKit
import Testing

@testable import WhorlDaemon

/// Which homes need the password, in a folder that stands for the machine.
@Suite struct HomeLockTests {
  private let ada = Account(user: UserID(1001), name: "ada", home: "/home/ada")

  /// What is found of an account where these files are, and these mounts ("/home/ada ext4").
  private func state(
    of account: Account, files: [String: String] = [:], mounts: [String] = []
  ) throws -> HomeState? {
    let folder = try TemporaryFolder()
    let table = (["/ ext4", "/proc proc"] + mounts).enumerated().map { number, mount in
      let words = mount.split(separator: " ")
      return "\(20 + number) 1 8:1 / \(words[0]) rw,relatime shared:1 - \(words[1]) /dev/sda1 rw\n"
    }
    for (path, text) in files.merging(["proc/self/mountinfo": table.joined()], uniquingKeysWith: { $1 }) {
      var parent = ""
      for part in path.split(separator: "/").dropLast() {
        parent += parent.isEmpty ? part : "/\(part)"
        try folder.makeFolder(parent)
      }
      try folder.write(text, to: path)
    }
    return HomeLock(root: folder.path).state(of: account)
  }

  @Test func `An ordinary home is none of them`() throws {
    #expect(try state(of: ada) == nil)
    #expect(try state(of: ada, files: ["home/ada/.profile": ""], mounts: ["/home xfs", "/home/ada nfs4"]) == nil)
    #expect(HomeLock().state(of: Account(user: UserID(0), name: "root", home: "/root")) == nil, "this machine's root")
    #expect(HomeLock().state(of: Account(user: UserID(65534), name: "nobody", home: "/nonexistent")) == nil)
  }

  @Test(arguments: [
    ([], true), (["/home/ada ext4"], false), (["/home/bob ext4"], true), (["/home/ada/x ext4"], true),
  ])
  func `A home of systemd-homed's is closed where nothing is mounted on it`(mounts: [String], isLocked: Bool) throws {
    let files = ["var/lib/systemd/home/ada.identity": "{}"]
    #expect(try state(of: ada, files: files, mounts: mounts) == HomeState(keeper: .homed, isLocked: isLocked))
    let bob = Account(user: UserID(1002), name: "bob", home: "/home/bob")
    #expect(try state(of: bob, files: files, mounts: mounts) == nil)
  }

  @Test func `Nobody's many mounts hide another's home`() throws {
    let long = "/home/bob/" + String(repeating: "x", count: 4_000)
    let many = (0..<5_000).map { "\(long)\($0) fuse" }
    let files = ["var/lib/systemd/home/ada.identity": "{}"]
    #expect(
      try state(of: ada, files: files, mounts: many[..<1_000] + ["/home/ada ext4"])
        == HomeState(keeper: .homed, isLocked: false))
    #expect(try state(of: ada, files: files, mounts: many) == nil, "too much to be read")
  }

  @Test func `A home that a link leads to is known by where it is`() throws {
    let folder = try TemporaryFolder()
    for path in ["proc", "proc/self", "var", "var/lib", "var/lib/systemd", "var/lib/systemd/home", "data", "data/ada"] {
      try folder.makeFolder(path)
    }
    try folder.write("{}", to: "var/lib/systemd/home/ada.identity")
    try folder.link("data", to: "home")
    try folder.write("1 0 8:1 / /data/ada rw - ext4 /dev/mapper/home-ada rw\n", to: "proc/self/mountinfo")
    #expect(HomeLock(root: folder.path).state(of: ada) == HomeState(keeper: .homed, isLocked: false))
  }

  @Test(arguments: [
    (
      ["home/.ecryptfs/ada/.ecryptfs/auto-mount": "", "home/.ecryptfs/ada/.ecryptfs/Private.mnt": "/home/ada\n"],
      "/home/ada"
    ),
    (["home/ada/.ecryptfs/auto-mount": ""], "/home/ada/Private"),
    (
      ["home/ada/.ecryptfs/auto-mount": "", "home/ada/.ecryptfs/Private.mnt": "/home/ada/Secret\n"], "/home/ada/Secret"
    ),
  ])
  func `A folder of eCryptfs's is closed where it is not mounted as that`(
    files: [String: String], target: String
  ) throws {
    #expect(try state(of: ada, files: files) == HomeState(keeper: .ecryptfs, isLocked: true))
    #expect(
      try state(of: ada, files: files, mounts: ["\(target) ext4"]) == HomeState(keeper: .ecryptfs, isLocked: true))
    #expect(
      try state(of: ada, files: files, mounts: ["\(target) ecryptfs"])
        == HomeState(keeper: .ecryptfs, isLocked: false))
  }

  @Test func `An eCryptfs folder that the login does not mount is no home`() throws {
    #expect(try state(of: ada, files: ["home/ada/.ecryptfs/Private.mnt": "/home/ada/Private\n"]) == nil)
  }

  @Test(arguments: [
    ("<volume user=\"ada\" path=\"/dev/sdb1\" mountpoint=\"/home/ada\" />", true),
    ("<volume user='ada' fstype='crypt'\n path='/dev/x' mountpoint='/home/%(USER)'/>", true),
    ("<volume user=\"*\" mountpoint=\"~/Private\" path=\"a &gt; b\" options=\"x>y\" />", true),
    ("<volume path=\"/dev/sdb1\" mountpoint=\"/home\" />", true),
    ("<volume uid=\"1000-1999\" path=\"/dev/sdb1\" />", true),
    ("<volume user=\"bob\" mountpoint=\"/home/ada\" />", false), ("<volume uid=\"5\" mountpoint=\"~\" />", false),
    ("<volume user=\"ada\" mountpoint=\"/mnt/data\" />", false),
    ("<volume user=\"ada\" mountpoint=\"/home/adaline\" />", false),
    ("<volume sgrp=\"users\" mountpoint=\"~\" />", false), ("<volumes user=\"ada\" mountpoint=\"~\" />", false),
    ("<!-- <volume user=\"ada\" mountpoint=\"~\" /> -->", false), ("<volume user=\"ada\" mountpoint=\"~", false),
    ("<!-- <volume", false), ("<<<>>>==\"'", false), ("", false),
  ])
  func `A volume of pam_mount's on the home or in it counts`(text: String, counts: Bool) throws {
    let files = ["etc/security/pam_mount.conf.xml": "<?xml version=\"1.0\"?>\n<pam_mount>\n\(text)\n</pam_mount>\n"]
    let found = try state(of: ada, files: files)
    #expect(found == (counts ? HomeState(keeper: .pamMount, isLocked: true) : nil))
  }

  @Test func `A volume of pam_mount's that is mounted leaves the home open`() throws {
    let one = "<volume user=\"ada\" mountpoint=\"/home/ada\" />"
    let files = ["etc/security/pam_mount.conf.xml": "<pam_mount>\(one)</pam_mount>"]
    #expect(
      try state(of: ada, files: files, mounts: ["/home/ada fuse.gocryptfs"])
        == HomeState(keeper: .pamMount, isLocked: false))
    let two = one + "<volume user=\"ada\" mountpoint=\"~/More\" />"
    #expect(
      try state(
        of: ada, files: ["etc/security/pam_mount.conf.xml": "<pam_mount>\(two)</pam_mount>"],
        mounts: ["/home/ada fuse.gocryptfs"]) == HomeState(keeper: .pamMount, isLocked: true))
  }

  @Test func `Names and files that are none lead nowhere`() throws {
    for name in ["..", "a/b", "ada/../ada"] {
      let odd = Account(user: UserID(1001), name: name, home: "/home/ada")
      #expect(try state(of: odd, files: ["var/lib/systemd/home/ada.identity": "{}"]) == nil)
    }
    #expect(try state(of: Account(user: UserID(1001), name: "ada", home: "relative")) == nil)
    #expect(try state(of: ada, files: ["etc/security/pam_mount.conf.xml/x": ""]) == nil, "a folder in a file's place")
  }

  @Test(.enabled(if: EncryptedFolder.isPossible, "needs root, a loop device and a kernel with fscrypt"))
  func `A folder that the file system encrypts is closed where its key is gone`() throws {
    let folder = try #require(EncryptedFolder())
    // The home is closed to everybody else: whorld has no right to pass over that, and looks as its owner.
    let owner = Account(user: UserID(1001), name: "ada", home: folder.home)
    #expect(HomeLock().state(of: owner) == HomeState(keeper: .fscrypt, isLocked: false))
    try #require(folder.removeKey())
    #expect(HomeLock().state(of: owner) == HomeState(keeper: .fscrypt, isLocked: true))
    #expect(geteuid() == 0)
    #expect(HomeLock().state(of: Account(user: UserID(1001), name: "ada", home: folder.mount)) == nil)
  }
}

/// A file system of the test's own with a folder that it encrypts.
private final class EncryptedFolder {
  static let isPossible = EncryptedFolder() != nil

  let mount: String
  var home: String { mount + "/home" }
  private let folder: TemporaryFolder
  private var isMounted = false

  /// Nil where this machine cannot have one.
  init?() {
    guard geteuid() == 0, let folder = try? TemporaryFolder(open: true), let mount = try? folder.makeFolder("mount")
    else {
      return nil
    }
    self.folder = folder
    self.mount = mount
    let image = folder("image")
    guard Self.run("truncate", ["-s", "16M", image]), Self.run("mkfs.ext4", ["-q", "-O", "encrypt", image]),
      Self.run("mount", ["-o", "loop", image, mount])
    else { return nil }
    isMounted = true
    chmod(mount, 0o755)
    guard Self.run("python3", ["-c", Self.script, mount, "add"]) else { return nil }
    chown(home, 1001, 1001)
    chmod(home, 0o700)
  }

  func removeKey() -> Bool { Self.run("python3", ["-c", Self.script, mount, "remove"]) }

  deinit { if isMounted { _ = Self.run("umount", [mount]) } }

  private static func run(_ program: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.environment = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// FS_IOC_ADD_ENCRYPTION_KEY with FS_IOC_SET_ENCRYPTION_POLICY, and FS_IOC_REMOVE_ENCRYPTION_KEY.
  private static let script = """
    import fcntl, os, struct, sys
    mount, deed = sys.argv[1:]
    top = os.open(mount, os.O_RDONLY)
    if deed == "add":
        key = bytearray(struct.pack("<II32sII32x64s", 2, 0, b"", 64, 0, b"k" * 64))
        fcntl.ioctl(top, 0xC0506617, key)
        open(mount + "/key", "wb").write(key[8:24])
        os.mkdir(mount + "/home")
        home = os.open(mount + "/home", os.O_RDONLY)
        fcntl.ioctl(home, 0x800C6613, struct.pack("<BBBB4s16s", 2, 1, 4, 2, b"", bytes(key[8:24])))
    else:
        name = open(mount + "/key", "rb").read()
        fcntl.ioctl(top, 0xC0406618, bytearray(struct.pack("<II32s24x", 2, 0, name)))
    """
}
