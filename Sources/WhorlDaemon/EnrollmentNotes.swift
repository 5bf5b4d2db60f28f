internal import GLibLoop

/// Why enrolments were refused, in words that `net.reactivated.Fprint` has no place for: the last one of each
/// connection, until that asks (`org.whorl.Authentication1.ExplainEnrollment`) or is gone.
@GLibActor
final class EnrollmentNotes {
  /// The most connections that are remembered.
  static let capacity = 256
  /// The most characters of a note.
  static let longest = 400

  private var notes: [String: String] = [:]
  private var order: [String] = []

  init() {}

  /// Notes why the last enrolment of a connection was refused: one line for people, with the remedy.
  func record(_ connection: String, _ text: String) {
    drop(connection)
    if order.count >= Self.capacity { drop(order[0]) }
    notes[connection] = String(text.prefix(Self.longest))
    order.append(connection)
  }

  /// What was noted for a connection; empty where nothing was.
  func note(for connection: String) -> String { notes[connection] ?? "" }

  /// Forgets a connection: it is gone, or begins another enrolment.
  func drop(_ connection: String) {
    guard notes.removeValue(forKey: connection) != nil else { return }
    order.removeAll { $0 == connection }
  }
}
