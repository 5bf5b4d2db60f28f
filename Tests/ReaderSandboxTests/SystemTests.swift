import Foundation
import GLibLoop
import Glibc
import ReaderKeeper
import ReaderLink
import TestKit
import Testing

/// whorl-reader as whorld starts it on the system, seen from outside, in a mount namespace with an account of its own.
@Suite(.timeLimit(.minutes(3)), .enabled(if: geteuid() == 0, "a mount namespace and an account need root"))
struct SystemTests {
  private static let user: UInt32 = 60987
  private static let group: UInt32 = 60988
  private static let account = "whorl-reader:x:\(user):\(group):Whorl:/:/usr/sbin/nologin\n"
  private static let groupLine = "whorl-reader:x:\(group):\n"

  init() { GLibLoop.startThread() }

  @Test @GLibActor func `the bridge has a user of its own, no right left and nothing of its parent`() async throws {
    let machine = try Machine(passwd: Self.account, group: Self.groupLine)
    let keeper = try machine.keeper()
    #expect(try await keeper.readers().allSatisfy { !$0.driver.hasPrefix("virtual_") })
    let pid = try #require(keeper.processID)
    let status = try Process.status(of: pid)
    #expect(status["Uid"] == [String](repeating: "\(Self.user)", count: 4))
    #expect(status["Gid"] == [String](repeating: "\(Self.group)", count: 4))
    #expect(status["Groups"] == [])
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] { #expect(status[set] == ["0000000000000000"]) }
    #expect(status["NoNewPrivs"] == ["1"])
    try Process.expectShut(pid)
    await keeper.stop()
  }

  @Test @GLibActor func `in private mode the user stays and everything else goes`() async throws {
    let keeper = ReaderKeeper(
      program: try BuiltPrograms.path("whorl-reader"), arguments: ["--private"], environment: [:])
    _ = try await keeper.readers()
    let pid = try #require(keeper.processID)
    let status = try Process.status(of: pid)
    #expect(status["Uid"] == ["0", "0", "0", "0"])
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] { #expect(status[set] == ["0000000000000000"]) }
    #expect(status["NoNewPrivs"] == ["1"])
    try Process.expectShut(pid)
    await keeper.stop()
  }

  @Test(arguments: [
    ("", "", "missing"),
    ("whorl-reader:x:0:0::/:/bin/sh\n", groupLine, "missing"),
    (account, "", "missing"),
    ("whorl-reader:x:\(user):100::/:/bin/sh\n", groupLine, "missing"),
  ])
  @GLibActor func `without a fit account it refuses, and whorld says what to do`(
    _ passwd: String, _ group: String, _ words: String
  ) async throws {
    let machine = try Machine(passwd: passwd, group: group)
    let keeper = try machine.keeper()
    for _ in 1...2 {
      do {
        _ = try await keeper.readers()
        Issue.record("the bridge runs")
      } catch .bridgeUnable(let text) {
        #expect(text.contains("account whorl-reader") && text.contains(words) && text.contains("systemd-sysusers"))
      } catch {
        Issue.record("\(error)")
      }
    }
  }

  @Test(arguments: [
    "read /etc/shadow", "read /etc/passwd", "write /etc/passwd", "socket 2", "socket 1", "fork", "kill", "list /root",
    "write /dev/other", "read /dev/other", "write /dev/hidraw7.d/x",
  ])
  func `on the system it is refused it`(_ attempt: String) async throws {
    let result = try await Machine(passwd: Self.account, group: Self.groupLine).probe(attempt)
    #expect(["Operation not permitted\n", "Permission denied\n"].contains(result.text), "\(result.text)")
  }

  @Test(arguments: [
    "write /dev/bus/usb/001/002", "write /dev/spidev9.9", "write /dev/hidraw7", "deviceEvents", "thread",
  ])
  func `on the system it reaches the nodes of readers`(_ attempt: String) async throws {
    let result = try await Machine(passwd: Self.account, group: Self.groupLine).probe(attempt)
    #expect(result.text == "allowed\n", "\(result.text)")
  }

  @Test(arguments: ["execute", "trace", "becomeRoot"])
  func `on the system it is ended at once`(_ attempt: String) async throws {
    let result = try await Machine(passwd: Self.account, group: Self.groupLine).probe(attempt)
    #expect(result.status == 128 + SIGSYS || result.end == .signalled(SIGSYS), "\(result.end)")
  }
}

/// A mount namespace with other accounts, and with device nodes of readers that the account's group may use.
private struct Machine {
  private let folder: TemporaryFolder

  init(passwd: String, group: String) throws {
    folder = try TemporaryFolder(open: true)
    func others(_ path: String) throws -> String {
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("whorl-reader:") }
        .joined(separator: "\n") + "\n"
    }
    try folder.write(try others("/etc/passwd") + passwd, to: "passwd")
    try folder.write(try others("/etc/group") + group, to: "group")
  }

  @GLibActor
  func keeper() throws -> ReaderKeeper {
    // With a descriptor that nobody closed.
    let script = "\(head)exec '\(try BuiltPrograms.path("whorl-reader"))' 7</etc/hostname\n"
    return ReaderKeeper(
      program: try folder.writeProgram(script, to: "bridge"), environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"])
  }

  func probe(_ attempt: String) async throws -> RunningProgram.Result {
    let nodes = """
      mount -t tmpfs -o mode=755 tmpfs /dev
      mknod -m 666 /dev/null c 1 3
      mkdir -p /dev/bus/usb/001 /dev/hidraw7.d
      for node in bus/usb/001/002 spidev9.9 hidraw7 other hidraw7.d/x; do
        mknod -m 660 /dev/$node c 1 3; chgrp whorl-reader /dev/$node; done

      """
    let script = "\(head)\(nodes)exec '\(try BuiltPrograms.path("sandbox-probe"))' system \(attempt)\n"
    return try await RunningProgram.run(
      try folder.writeProgram(script, to: "probe"), environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"])
  }

  /// A script that goes on in a namespace of its own and in other groups, with the link still on its descriptor.
  private var head: String {
    """
    #!/bin/sh
    set -e
    [ -n "$INSIDE" ] || exec env INSIDE=1 setpriv --groups 6,24 unshare --mount --propagation private "$0"
    mount --bind '\(folder("passwd"))' /etc/passwd
    mount --bind '\(folder("group"))' /etc/group

    """
  }
}

/// What /proc tells about a process.
private enum Process {
  static func status(of pid: Int32) throws -> [String: [String]] {
    let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    return text.split(separator: "\n").reduce(into: [:]) { found, line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { found[String(parts[0])] = parts[1].split(whereSeparator: \.isWhitespace).map(String.init) }
    }
  }

  /// The filter is on every thread; no core dumps, no tracing, no descriptor but its own.
  static func expectShut(_ pid: Int32) throws {
    for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task") {
      // A thread may have ended since.
      guard let text = try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/status", encoding: .utf8) else {
        continue
      }
      #expect(text.contains("Seccomp:\t2\n"))
      #expect(text.contains("CapEff:\t0000000000000000\n"))
    }
    let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
    let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
    #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
    // The files of a process that cannot be dumped are root's.
    let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(pid)/environ")[.ownerAccountID] as? Int
    #expect(owner == 0)
    var sockets = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd") {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(name)") else {
        continue
      }
      if let number = Int(name), number < 3 { #expect(target == "/dev/null") }
      if target.hasPrefix("socket:") { sockets += 1 }
      #expect(
        target == "/dev/null" || target.hasPrefix("socket:") || target.hasPrefix("anon_inode:"), "\(name): \(target)")
    }
    // The link; udev's messages for libusb and for libgudev.
    #expect((1...3).contains(sockets))
  }
}
