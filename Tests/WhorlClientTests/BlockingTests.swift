import Bus
import Foundation
import GLibLoop
import SecretMemory
import TestKit
import Testing

@testable import WhorlClient

/// The transport for threads that wait.
@Suite(.timeLimit(.minutes(1))) struct BlockingTests {
  private var query: WhorlAttributes { WhorlAttributes(itemClass: "generic-password", service: "mail") }

  @Test func `Items, secrets and what is stored go both ways, byte for byte`() async throws {
    let stored: [UInt8] = [0, 1, 255, 0]
    try await withScene([
      "Add": { call in
        let secret = try received(call, call.arguments[2])
        #expect(secret == [9, 0, 9])
        #expect(call.arguments[0].asOptions?["account"]?.asString == "ada")
        return BusAnswer()
      },
      "CopyMatching": { _ in
        BusAnswer([.array(element: "a{sv}", [.options(["class": .string("key"), "created": .int64(5)])])])
      },
      "CopySecret": { _ in
        BusAnswer([.handle(0)], descriptors: [try SecretFile.seal(try secret(stored), name: "test")])
      },
      "Delete": { _ in BusAnswer([.uint32(3)]) },
    ]) { scene in
      let transport = BlockingBusTransport(address: scene.bus.address, asksOnTerminal: false)
      try await onThread { [query] in
        try transport.add(
          WhorlAttributes(service: "mail", account: "ada"), accessControl: WhorlAccessControl(), context: nil,
          secret: try secret([9, 0, 9]))
        let items = try transport.items(matching: query, limit: 0, includingInvalidated: false, after: nil)
        #expect(items.map(\.attributes.itemClass) == ["key"] && items.map(\.created) == [5])
        let context = WhorlContext(number: 1, daemon: scene.daemon.bus.uniqueName)
        let got = try transport.secret(
          matching: query, in: context, prompt: WhorlPrompt(reason: "to test"), token: nil)
        #expect(bytes(got) == stored)
        let count = try transport.delete(matching: query, all: true)
        #expect(count == 3)
      }
      let options = scene.daemon.called("CopySecret").first?.arguments[2].asOptions
      #expect(options?["reason"]?.asString == "to test")
      #expect(options?["interaction-not-allowed"] == nil)
    }
  }

  @Test func `Calls from more tasks than there are threads all come back`() async throws {
    try await withScene(["CopyMatching": { _ in BusAnswer([.array(element: "a{sv}", [])]) }]) { scene in
      let transport = BlockingBusTransport(address: scene.bus.address, asksOnTerminal: false)
      let found = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<64 {
          group.addTask { [query] in
            try transport.items(matching: query, limit: 0, includingInvalidated: false, after: nil).count
          }
        }
        var answers = 0
        for try await count in group { answers += count + 1 }
        return answers
      }
      #expect(found == 64)
    }
  }

  @Test func `A token ends what is running, in the daemon too, and what was not begun is not begun`() async throws {
    let running = Gate()
    let ended = Gate()
    try await withScene([
      "EvaluatePolicy": { _ in
        running.open()
        await ended.wait()
        throw BusMethodError(name: "org.whorl.Error.AppCancel", message: "ended")
      },
      "Cancel": { call in
        #expect(call.arguments == [.uint32(1), .string("app")])
        ended.open()
        return BusAnswer()
      },
    ]) { scene in
      let transport = BlockingBusTransport(address: scene.bus.address, asksOnTerminal: false)
      let context = WhorlContext(number: 1, daemon: scene.daemon.bus.uniqueName)
      let token = CallToken()
      async let code = onThread {
        blockingCode { () throws(WhorlError) in
          _ = try transport.evaluate(.owner, in: context, prompt: WhorlPrompt(reason: "r"), token: token)
        }
      }
      await running.wait()
      token.cancel()
      let outcome = try await code
      #expect(outcome == .cancelled)
      // The same token again: it is used up.
      let second = CallToken()
      second.cancel()
      let late = try await onThread {
        blockingCode { () throws(WhorlError) in
          _ = try transport.evaluate(.owner, in: context, prompt: WhorlPrompt(reason: "r"), token: second)
        }
      }
      #expect(late == .cancelled)
      #expect(scene.daemon.called("EvaluatePolicy").count == 1)
      #expect(scene.daemon.called("Cancel").count == 1)
    }
  }

  @Test func `A daemon that comes back is found again; contexts of the one before have ended`() async throws {
    let answers: [String: Answer] = [
      "CreateContext": { _ in BusAnswer([.uint32(1)]) }, "InvalidateContext": { _ in BusAnswer() },
      "CopyMatching": { _ in BusAnswer([.array(element: "a{sv}", [])]) },
    ]
    try await withScene(answers) { scene in
      let transport = BlockingBusTransport(address: scene.bus.address, asksOnTerminal: false)
      let context = try await onThread { try transport.createContext(reuseSeconds: 5) }
      scene.daemon.crash()
      let second = try await FakeDaemon(address: scene.bus.address, answers)
      let outcome = try await onThread { [query] in
        // Nobody has told this process yet, which the call itself finds out.
        _ = try? transport.items(matching: query, limit: 0, includingInvalidated: false, after: nil)
        _ = try transport.items(matching: query, limit: 0, includingInvalidated: false, after: nil)
        return blockingCode { () throws(WhorlError) in
          _ = try transport.secret(
            matching: query, in: context, prompt: WhorlPrompt(reason: ""), token: nil)
        }
      }
      #expect(outcome == .invalidContext)
      #expect(!second.called("CopyMatching").isEmpty)
    }
  }

  @Test func `Without a daemon, and without a bus, that is what is said`() async throws {
    GLibLoop.startThread()
    let bus = try await PrivateBus()
    let code = try await onThread {
      blockingCode { () throws(WhorlError) in _ = try BlockingBusTransport(address: bus.address).status() }
    }
    #expect(code == .noDaemon)
    let none = try await onThread {
      blockingCode { () throws(WhorlError) in
        _ = try BlockingBusTransport(address: "unix:path=/nonexistent/bus").status()
      }
    }
    #expect(none == .noDaemon)
  }
}

/// The code of the error that `body` throws; nil where it throws none.
func blockingCode(_ body: () throws(WhorlError) -> Void) -> WhorlError.Code? {
  do throws(WhorlError) {
    try body()
    return nil
  } catch {
    return error.code
  }
}
