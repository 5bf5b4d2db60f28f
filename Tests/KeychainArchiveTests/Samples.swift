import CPosix
import Glibc
import SecretMemory

@testable import KeychainArchive

/// A memory file, closed when it ends.
final class TestFile {
  let descriptor: Int32

  init(_ bytes: [UInt8] = []) {
    descriptor = cposix_memfd_create("test", UInt32(cposix_MFD_CLOEXEC))
    _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  deinit { close(descriptor) }

  var bytes: [UInt8] {
    var status = stat()
    fstat(descriptor, &status)
    var all = [UInt8](repeating: 0, count: status.st_size)
    _ = pread(descriptor, &all, all.count, 0)
    return all
  }
}

func secret(_ bytes: [UInt8]) throws(SecretMemoryError) -> SecretBytes {
  try SecretBytes(copying: bytes.span.bytes)
}

func secret(_ text: String) throws(SecretMemoryError) -> SecretBytes { try secret(Array(text.utf8)) }

func array(_ secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// One item as a test writes and compares it.
struct Sample: Equatable {
  var attributes: [UInt8]
  var accessControl: [UInt8] = []
  var secret: [UInt8]
}

/// An export file of these items.
func archive(_ samples: [Sample], passphrase: String = "right", cost: ArchiveCost = .none) throws -> TestFile {
  let file = TestFile()
  let key = try ArchiveKey.make(passphrase: try secret(passphrase), cost: cost)
  let writer = try ArchiveWriter(to: file.descriptor, key: key)
  for sample in samples {
    try writer.write(
      attributes: sample.attributes, accessControl: sample.accessControl, secret: try secret(sample.secret))
  }
  try writer.finish()
  return file
}

/// What an export file gives, read to its end.
func content(of file: TestFile, passphrase: String = "right") throws -> [Sample] {
  let key = try ArchiveKey.open(file.descriptor, passphrase: try secret(passphrase))
  let reader = try ArchiveReader(file.descriptor, key: key)
  var samples: [Sample] = []
  while let record = try reader.next() {
    samples.append(
      Sample(attributes: record.attributes, accessControl: record.accessControl, secret: array(record.secret)))
  }
  return samples
}
