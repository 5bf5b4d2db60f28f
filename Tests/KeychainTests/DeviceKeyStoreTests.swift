import Foundation
import SecretMemory
import TestKit
import Testing

@testable import Keychain

/// Against the real systemd-creds, with a host key of the test's own.
@Suite(.enabled(if: access("/usr/bin/systemd-creds", X_OK) == 0, "systemd-creds is missing: apt install systemd"))
struct DeviceKeyStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder("state/device.key") }
  private var hostKey: String { folder("host.secret") }

  init() throws { folder = try TemporaryFolder() }

  private func store(program: String = "/usr/bin/systemd-creds", seconds: Int = 60) -> DeviceKeyStore {
    DeviceKeyStore(path: path, credentialSecret: hostKey, program: program, secondsToWait: seconds)
  }

  /// A program of the test's own in the place of systemd-creds.
  private func script(_ lines: String) throws -> String {
    try folder.writeProgram("#!/bin/sh\n\(lines)\n", to: "creds")
  }

  private func deviceKeyError(_ body: () throws -> Void) throws -> String {
    let error = try #require(#expect(throws: KeychainError.self) { try body() })
    switch error {
    case .deviceKey, .deviceKeyUnavailable: break
    default: Issue.record("\(error)")
    }
    #expect(!error.description.contains("\n"))
    return error.description
  }

  @Test func `a systemd-creds that cannot be run to its end says nothing of the key: that is another error`() throws {
    _ = try store().load()
    for (program, seconds) in [
      (try script("exec sleep 600"), 1), (try script("kill -KILL $$"), 60), ("/nonexistent/systemd-creds", 60),
    ] {
      let error = try #require(
        #expect(throws: KeychainError.self) { _ = try store(program: program, seconds: seconds).load() })
      guard case .deviceKeyUnavailable(let why) = error else {
        Issue.record("\(error)")
        continue
      }
      #expect(!why.contains("recover"), "\(why)")
    }
  }

  @Test func `the first use makes a key of 32 random bytes, which later uses give again`() throws {
    #expect(try store().sealing() == nil)
    let key = array(try store().load())
    #expect(key.count == 32 && Set(key).count > 8)
    #expect(array(try store().load()) == key)
    #expect(array(try store().load(create: false)) == key)
    #expect(try store().sealing() == .host)
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("state")) == ["device.key"])
  }

  @Test func `the key is not in the file`() throws {
    let key = Data(array(try store().load()))
    let content = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(content.range(of: key) == nil)
    #expect(content.range(of: key.base64EncodedData()) == nil)
  }

  @Test func `another machine's host key does not open it, and it stays as it is`() throws {
    let key = array(try store().load())
    let sealed = try Data(contentsOf: URL(fileURLWithPath: path))
    let secret = try Data(contentsOf: URL(fileURLWithPath: hostKey))
    unlink(hostKey)
    _ = try deviceKeyError { _ = try store().load() }
    // One that systemd-creds made for another machine.
    _ = try DeviceKeyStore(path: folder("other/device.key"), credentialSecret: hostKey).load()
    #expect(try deviceKeyError { _ = try store().load() }.contains("it was left as it is"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == sealed)
    unlink(hostKey)
    try secret.write(to: URL(fileURLWithPath: hostKey))
    chmod(hostKey, 0o400)
    #expect(array(try store().load()) == key)
  }

  @Test func `no damage to the sealed file leads to another key`() throws {
    let key = array(try store().load())
    let content = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func put(_ bytes: [UInt8]) throws {
      let file = open(path, O_WRONLY | O_TRUNC)
      defer { close(file) }
      #expect(write(file, bytes, bytes.count) == bytes.count)
    }
    var damaged: [[UInt8]] = [
      [], Array(content.prefix(10)), Array(content.prefix(content.count / 2)), Array(content.dropLast(30)),
    ]
    damaged.append([UInt8](repeating: 0x41, count: 100_000))
    damaged.append(Array("whorl-device-key 1 host+tpm2\n".utf8) + content.dropFirst(24))
    damaged.append(Array("whorl-device-key 2 host\n".utf8) + content.dropFirst(24))
    for index in stride(from: 0, to: content.count - 4, by: 17) {
      var copy = content
      copy[index] = copy[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      damaged.append(copy)
    }
    for bytes in damaged {
      try put(bytes)
      #expect(throws: KeychainError.self) { _ = try store().load() }
      #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
    }
    try put(content)
    #expect(array(try store().load()) == key)
  }

  @Test func `a link, an open file or a folder in the file's place is refused`() throws {
    _ = try store().load()
    chmod(path, 0o644)
    #expect(throws: KeychainError.refusedFile("\(path) is open to other users (chmod 600)")) { _ = try store().load() }
    #expect(rename(path, path + "2") == 0 && symlink(path + "2", path) == 0)
    #expect(throws: KeychainError.refusedFile("\(path) is a symbolic link")) { _ = try store().load() }
    #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
    #expect(throws: KeychainError.refusedFile("\(path) is not a plain file")) { _ = try store().load() }
  }

  @Test func `a missing key is an error where none may be made`() throws {
    try folder.makeFolder("state")
    #expect(try deviceKeyError { _ = try store().load(create: false) }.contains("is missing"))
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a missing program is named, and nothing is stored`() throws {
    let text = try deviceKeyError { _ = try store(program: folder("nothing")).load() }
    #expect(text.contains(folder("nothing")) && text.contains("install"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder("state")).isEmpty)
  }

  @Test func `a program that fails, with its own words, stores nothing`() async throws {
    let program = try script("echo 'no \u{1b}[31mhost key' >&2; exit 3")
    let text = try deviceKeyError { _ = try store(program: program).load() }
    #expect(text.contains("no ?[31mhost key"))
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a program that does not give back what it sealed stores nothing`() async throws {
    let program = try script("case \"$*\" in *encrypt*) cat;; *) head -c 32 /dev/zero;; esac")
    #expect(try deviceKeyError { _ = try store(program: program).load() }.contains("did not come back the same"))
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a program that floods, hangs or dies is ended and named`() async throws {
    let flood = try script("exec cat /dev/zero")
    #expect(try deviceKeyError { _ = try store(program: flood).load() }.contains("gave more than"))
    let hang = try script("exec sleep 1000")
    #expect(try deviceKeyError { _ = try store(program: hang, seconds: 1).load() }.contains("did not end within 1"))
    let dead = try script("kill -9 $$")
    _ = try deviceKeyError { _ = try store(program: dead).load() }
    #expect(access(path, F_OK) != 0)
  }

  @Test func `the program gets a fixed environment and no descriptor but the standard ones`() async throws {
    let program = try script("env > \(folder("env")); ls /proc/self/fd > \(folder("fds")); exit 1")
    let stray = open("/dev/null", O_RDONLY)
    defer { close(stray) }
    _ = try deviceKeyError { _ = try store(program: program).load() }
    let environment = try String(contentsOfFile: folder("env"), encoding: .utf8).split(separator: "\n")
    #expect(
      Set(environment.map { $0.prefix { $0 != "=" } }).subtracting(["PWD", "_", "SHLVL", "OLDPWD"])
        == ["PATH", "LC_ALL", "SYSTEMD_CREDENTIAL_SECRET"])
    let descriptors = try String(contentsOfFile: folder("fds"), encoding: .utf8).split(separator: "\n")
    // ls has one of its own open.
    #expect(descriptors == ["0", "1", "2", "3"])
  }

  @Test func `two processes that come first at the same time get one key`() async throws {
    func child(_ number: Int) async {
      await #expect(processExitsWith: .success) { [root = folder.path as String, number = number as Int] in
        let store = DeviceKeyStore(path: root + "/state/device.key", credentialSecret: root + "/host.secret")
        let key = array(try store.load())
        try Data(key).write(to: URL(fileURLWithPath: root + "/key\(number)"))
      }
    }
    async let first: Void = child(1)
    async let second: Void = child(2)
    _ = await (first, second)
    let keys = try [1, 2].map { try Data(contentsOf: URL(fileURLWithPath: folder("key\($0)"))) }
    #expect(keys[0] == keys[1] && keys[0].count == 32)
    #expect(Data(array(try store().load())) == keys[0])
  }

  @Test(.enabled(if: geteuid() == 0)) func `without root and a host key of one's own, the error says so`() async throws
  {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder(open: true)
      let own = try folder.makeFolder("nobody")
      guard chown(own, 65534, 65534) == 0, setgid(65534) == 0, setuid(65534) == 0 else { exit(9) }
      // With a host key of one's own it works for anyone.
      _ = try DeviceKeyStore(path: own + "/state/device.key", credentialSecret: own + "/secret").load()
      do throws(KeychainError) {
        _ = try DeviceKeyStore(path: own + "/state2/device.key").load()
        exit(8)
      } catch {
        #expect(error.description.contains("run as root, or in private mode"))
      }
    }
  }
}
