internal import Fingerprint
internal import GLibLoop
internal import ReaderLink

/// The prints of a list that a reader can check a touch against. One damaged file must not end the checks against a
/// person's other prints.
@GLibActor
struct Gallery {
  private(set) var prints: [Print] = []
  /// The index in the list of each of ``prints``.
  private(set) var indices: [UInt32] = []
  /// The indices of those left out.
  private(set) var unusable: [UInt32] = []
  /// Why the first of those was left out.
  private var reason: ReaderError?

  init(_ list: [[UInt8]], for reader: Reader) {
    for (index, bytes) in list.enumerated() {
      do throws(ReaderError) {
        let print = try Print(deserializing: bytes)
        try reader.requireFit(print)
        prints.append(print)
        indices.append(UInt32(index))
      } catch {
        unusable.append(UInt32(index))
        reason = reason ?? error
      }
    }
  }

  /// Why there is nothing to check against; nil where there is, and for an empty list, which is the reader's to judge.
  var failure: ReaderError? { prints.isEmpty ? reason : nil }
}
