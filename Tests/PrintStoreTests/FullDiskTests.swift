import Foundation
import PrintStore
import ReaderLink
import TestKit
import Testing

/// Takes the calling process into a mount namespace of its own; Glibc's module leaves it out.
@_silgen_name("unshare") private func unshare(_ flags: Int32) -> Int32

private let newMounts: Int32 = 0x20000
private let readOnly: UInt = 1
private let remount: UInt = 32
private let recursiveAndPrivate: UInt = 16384 | 1 << 18

/// Whether this machine lets root have mounts that nobody else sees; tried in a process of its own.
private func canMount() async -> Bool {
  guard getuid() == 0 else { return false }
  let tried = try? await RunningProgram.run("/usr/bin/unshare", ["--mount", "/bin/mount", "-t", "tmpfs", "x", "/mnt"])
  return tried?.status == 0
}

/// In a process of its own: puts a small file system of its own over `folder`. False where that failed.
private func mountSmallDisk(_ folder: String, size: String) -> Bool {
  unshare(newMounts) == 0 && mount("none", "/", nil, recursiveAndPrivate, nil) == 0
    && mount("tmpfs", folder, "tmpfs", 0, "size=\(size),mode=700") == 0
}

@Suite struct FullDiskTests {
  @Test(.enabled("needs root and mount namespaces") { await canMount() })
  func `On a full disk the old print stays, and the error says so`() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      try #require(mountSmallDisk(path, size: "256k"))
      let store = PrintStore(root: path + "/prints")
      try store.save(Sample.print(1), for: Sample.key)
      let large = Array("FP3".utf8) + [UInt8](repeating: 1, count: 400_000)
      let error = storeError { () throws(PrintStoreError) in try store.save(large, for: Sample.key) }
      guard case .system(_, _, ENOSPC) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(error?.description.contains("the disk is full") == true)
      #expect(try store.load(Sample.key) == Sample.print(1))
      let names = try FileManager.default.contentsOfDirectory(atPath: path + "/prints/anna/virtual_image/0")
      #expect(names == ["7"])
    }
  }

  @Test(.enabled("needs root and mount namespaces") { await canMount() })
  func `On a read-only disk prints can be read, and every change is refused by name`() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      try #require(mountSmallDisk(path, size: "256k"))
      let store = PrintStore(root: path + "/prints")
      try store.save(Sample.print(1), for: Sample.key)
      #expect(storeError { () throws(PrintStoreError) in try store.checkDeletion(user: "anna") } == nil)
      try #require(mount("none", path, nil, remount | readOnly, nil) == 0)
      let errors = [
        // It shows before anything is tried.
        storeError { () throws(PrintStoreError) in try store.checkDeletion(user: "anna") },
        storeError { () throws(PrintStoreError) in try store.save(Sample.print(2), for: Sample.key) },
        storeError { () throws(PrintStoreError) in _ = try store.delete(Sample.key) },
        storeError { () throws(PrintStoreError) in
          _ = try store.deleteAll(user: "anna", driver: "virtual_image", deviceID: "0")
        },
      ]
      for error in errors {
        guard case .system(_, _, EROFS) = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(error?.description.contains(path) == true)
      }
      #expect(try store.load(Sample.key) == Sample.print(1))
    }
  }

  @Test(.enabled(if: getuid() == 0, "only root can become another user"))
  func `Another user gets permission denied and no print`() async throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(1), for: Sample.key)
    chmod(sample.folder.path, 0o755)
    await #expect(processExitsWith: .success) { [root = sample.store.root as String] in
      try #require(setgid(65534) == 0 && setuid(65534) == 0)
      let store = PrintStore(root: root)
      for error in [
        storeError({ () throws(PrintStoreError) in _ = try store.load(Sample.key) }),
        storeError({ () throws(PrintStoreError) in try store.save(Sample.print(2), for: Sample.key) }),
        storeError({ () throws(PrintStoreError) in _ = try store.users() }),
      ] {
        #expect(error == .system(operation: "open", path: root, code: EACCES))
      }
    }
  }
}
