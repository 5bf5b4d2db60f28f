import Combine
import Untouched
import XCTest

final class WrapperTests: XCTestCase {
  func testItemsAreKeptReplacedAndForgotten() throws {
    let wrapper = Wrapper()
    try wrapper.set("one", for: "key")
    try wrapper.set("two", for: "key")
    XCTAssertEqual(try wrapper.text(for: "key"), "two")
    try wrapper.remove("key")
    XCTAssertThrowsError(try wrapper.text(for: "key")) { error in
      XCTAssertEqual((error as? Wrapper.Failure)?.status, errSecItemNotFound)
    }
  }

  @MainActor func testAModelTellsBeforeItChanges() {
    let model = Model()
    var heard: [String] = []
    var kept: Set<AnyCancellable> = []
    model.objectWillChange.sink { heard.append("was \(model.name)") }.store(in: &kept)
    model.$name.dropFirst().removeDuplicates().map { $0.uppercased() }.eraseToAnyPublisher()
      .sink { heard.append("becomes \($0)") }.store(in: &kept)
    model.show("ada")
    XCTAssertEqual(heard, ["was nobody", "becomes ADA", "was ada"])
    XCTAssertTrue(model.hasFinger)
    kept = []
    model.show("grace")
    XCTAssertEqual(heard.count, 3)
  }

  func testSubjectsGiveWhatIsSentUntilTheyEnd() {
    var heard: [String] = []
    let passing = PassthroughSubject<Int, Never>()
    let current = CurrentValueSubject<Int, Never>(5)
    passing.send(0)
    let first = passing.sink { heard.append("passing \($0)") }
    let second = current.filter { $0 > 4 }
      .sink(receiveCompletion: { heard.append("\($0)") }, receiveValue: { heard.append("current \($0)") })
    passing.send(1)
    current.value = 3
    current.send(7)
    current.send(completion: .finished)
    current.send(9)
    first.cancel()
    passing.send(2)
    XCTAssertEqual(heard, ["current 5", "passing 1", "current 7", "finished"])
    second.cancel()
  }
}
