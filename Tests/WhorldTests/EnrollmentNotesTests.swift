import GLibLoop
import Testing

@testable import WhorlDaemon

@Suite struct EnrollmentNotesTests {
  init() { GLibLoop.startThread() }

  @Test @GLibActor func `each connection has its own last note, until it is dropped`() {
    let notes = EnrollmentNotes()
    #expect(notes.note(for: ":1.1") == "")
    notes.record(":1.1", "a")
    notes.record(":1.1", "b")
    notes.record(":1.2", "c")
    #expect(notes.note(for: ":1.1") == "b")
    #expect(notes.note(for: ":1.2") == "c")
    notes.drop(":1.1")
    #expect(notes.note(for: ":1.1") == "")
    #expect(notes.note(for: ":1.2") == "c")
  }

  @Test @GLibActor func `notes are bounded in number and length`() {
    let notes = EnrollmentNotes()
    for number in 0...EnrollmentNotes.capacity { notes.record(":1.\(number)", String(repeating: "x", count: 5000)) }
    #expect(notes.note(for: ":1.0") == "")
    #expect(notes.note(for: ":1.1").count == EnrollmentNotes.longest)
  }
}
