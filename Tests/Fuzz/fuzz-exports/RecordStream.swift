import KeychainArchive
import SecretMemory

@testable import FuzzKit
@testable import KeychainArchive

/// One item of an export file.
struct Sample: Equatable {
  var attributes: [UInt8]
  var accessControl: [UInt8] = []
  var secret: [UInt8]

  init(attributes: [UInt8], accessControl: [UInt8] = [], secret: [UInt8]) {
    self.attributes = attributes
    self.accessControl = accessControl
    self.secret = secret
  }

  init(_ record: borrowing ArchiveRecord) {
    let secret = record.secret.withUnsafeBytes { Array($0) }
    self.init(attributes: record.attributes, accessControl: record.accessControl, secret: secret)
  }

  /// As the stream of records has it: a form of the test's own, by ARCHITECTURE.md.
  var bytes: [UInt8] {
    var result: [UInt8] = [1]
    for (tag, field) in [(UInt8(1), attributes), (2, accessControl), (3, secret)] where tag != 2 || !field.isEmpty {
      result.append(tag)
      result += withUnsafeBytes(of: UInt32(field.count).littleEndian) { Array($0) }
      result += field
    }
    return result + [0]
  }

  /// All items of a stream; nil where it is none. Written a second time so that one can be held against the other.
  static func all(in stream: [UInt8]) -> [Sample]? {
    var rest = stream[...]
    var samples: [Sample] = []
    while let kind = rest.popFirst() {
      guard kind == 1 else { return nil }
      var fields: [UInt8: [UInt8]] = [:]
      var last: UInt8 = 0
      while true {
        guard let tag = rest.popFirst() else { return nil }
        if tag == 0 { break }
        guard tag > last, tag <= 3, rest.count >= 4 else { return nil }
        last = tag
        let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        guard count <= [0, 256 << 10, 4096, 1 << 20][Int(tag)], rest.count >= count else { return nil }
        fields[tag] = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      guard let secret = fields[3] else { return nil }
      samples.append(Sample(attributes: fields[1] ?? [], accessControl: fields[2] ?? [], secret: secret))
    }
    return samples
  }
}
