import Foundation
import PrintStore
import ReaderLink
import TestKit
import Testing

@Suite struct ConcurrencyTests {
  @Test func `Whoever reads while others save sees one whole print`() async throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(0), for: Sample.key)
    let store = sample.store
    let wholes = Set((0...255).map(Sample.print))
    // Threads of their own, so that they really overlap whatever else runs.
    let done = Counter()
    async let bad = offPool {
      var bad = 0
      while done.value == 0 {
        let found = try store.load(Sample.key)
        if found.map(wholes.contains) != true { bad += 1 }
      }
      return bad
    }
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          await #expect(throws: Never.self) {
            try await offPool {
              for number in 0..<60 { try store.save(Sample.print(writer * 60 + number), for: Sample.key) }
            }
          }
        }
      }
    }
    done.increment()
    #expect(try await bad == 0)
    #expect(try sample.tree().count == 4)
  }

  @Test func `A save that meets deletions of the whole folder still keeps its print`() async throws {
    let sample = try Sample()
    let store = sample.store
    var other = Sample.key
    other.finger = .leftThumb
    let thumb = other
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await offPool {
          for number in 0..<150 {
            try store.save(Sample.print(number), for: Sample.key)
            #expect(try store.load(Sample.key) == Sample.print(number))
            _ = try store.delete(Sample.key)
          }
          try store.save(Sample.print(7), for: Sample.key)
        }
      }
      group.addTask {
        try await offPool {
          for number in 0..<150 {
            try store.save(Sample.print(number), for: thumb)
            #expect(try store.delete(thumb))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.load(Sample.key) == Sample.print(7))
    #expect(try store.fingers(user: "anna", driver: "virtual_image", deviceID: "0") == [.rightIndex])
  }

  @Test func `Two processes may save and read at once`() async throws {
    let sample = try Sample()
    try sample.store.save(Sample.print(0), for: Sample.key)
    let (store, root) = (sample.store, sample.store.root)
    async let other: Void = {
      _ = await #expect(processExitsWith: .success) { [root = root as String] in
        let store = PrintStore(root: root)
        for number in 0..<100 {
          try store.save(Sample.print(number), for: Sample.key)
          #expect(try store.load(Sample.key) != nil)
        }
      }
    }()
    let wholes = (0...255).map(Sample.print)
    for number in 100..<200 {
      try store.save(Sample.print(number), for: Sample.key)
      #expect(wholes.contains(try #require(try store.load(Sample.key))))
    }
    await other
    #expect(try sample.tree().count == 4)
  }
}
