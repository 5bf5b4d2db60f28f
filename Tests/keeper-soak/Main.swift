// keeper-soak BRIDGE OPERATIONS SEED: random requests to a bridge with a virtual reader, with bridges killed and stopped,
// readers unplugged and requests cancelled meanwhile. Prints what is left at the end. A program of its own, so that the
// descriptors and children are its own.
import Foundation
import GLibLoop
import ReaderKeeper
import ReaderLink
import TestKit

@main
struct Main {
  static func main() {
    let words = CommandLine.arguments
    guard words.count == 4, let operations = Int(words[2]), let seed = UInt64(words[3]) else { exit(64) }
    let report = GLibLoop.run { () async -> String? in
      do {
        return try await Soak(bridge: words[1], seed: seed).run(operations)
      } catch {
        return nil
      }
    }
    print(report ?? "the soak could not start")
  }
}

@GLibActor
final class Soak {
  private let folder: TemporaryFolder
  private let device: VirtualDevice
  private let keeper: ReaderKeeper
  private var random: UInt64
  private var print: [UInt8] = []
  private var reader = ReaderID(driver: "virtual_device_storage", deviceID: "0", ordinal: 0)
  private var outcomes: [String: Int] = [:]

  init(bridge: String, seed: UInt64) throws {
    folder = try TemporaryFolder()
    device = VirtualDevice(socket: folder("device"), seconds: 1)
    random = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1
    var limits = ReaderKeeper.Limits.standard
    limits.pong = 3_000
    limits.pingInterval = 100
    limits.cancel = 1_000
    limits.answer = 3_000
    limits.settle = 500
    limits.idle = 50
    limits.failuresPerMinute = 10_000
    keeper = ReaderKeeper(
      program: bridge, arguments: ["--private"],
      environment: [
        "FP_VIRTUAL_DEVICE_STORAGE": folder("device"), "FP_DRIVERS_WHITELIST": "virtual_device_storage",
      ], limits: limits)
  }

  func run(_ operations: Int) async throws -> String {
    // A busy machine may not answer in the short time that is given here.
    var found: ReaderID?
    for _ in 0..<50 where found == nil {
      found = (try? await keeper.readers()).flatMap { ReaderID.ids(of: $0).first }
      if found == nil { try await glibSleep(milliseconds: 200) }
    }
    reader = found ?? reader
    await keeper.stop()
    let descriptors = Self.descriptors()
    let changes = keeper.events()
    let listener = Task { for await _ in changes {} }
    var ended = 0
    var lanes: [Task<Void, Never>] = []
    for number in 0..<operations {
      if lanes.count == 4 {
        await lanes.removeFirst().value
        ended += 1
      }
      let lane = Task { await self.operation(number) }
      lanes.append(lane)
      for _ in 0..<below(20) { await Task.yield() }
      await disturb(lanes)
    }
    for lane in lanes {
      lane.cancel()
      await lane.value
      ended += 1
    }
    listener.cancel()
    await listener.value
    await keeper.stop()
    // Timers of requests that have ended let go of their descriptors with the next turn of the loop.
    for _ in 0..<100 { await Task.yield() }
    let left = Self.descriptors() - descriptors
    let kinds = outcomes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return "ended=\(ended) descriptors=\(left) children=\(Self.children()) bridge=\(keeper.processID ?? 0)\n\(kinds)"
  }

  private func operation(_ number: Int) async {
    do throws(ReaderError) {
      switch below(10) {
      case 0: _ = try await keeper.readers()
      case 1...2: try await keeper.open(reader)
      case 3: try await keeper.close(reader)
      case 4:
        feed("finger", times: 5)
        print = try await keeper.enroll(reader, finger: .leftIndex, user: "u") { _ in }
      case 5:
        feed("finger", times: 1)
        _ = try await keeper.verify(reader, print: print)
      case 6: _ = try await keeper.identify(reader, prints: [print, print])
      case 7: _ = try await keeper.listPrints(reader)
      case 8: _ = try await keeper.storedPrints(reader, known: [print])
      default: try await keeper.deletePrint(reader, print: print)
      }
      outcomes["done", default: 0] += 1
    } catch {
      outcomes[String(String(describing: error).prefix { $0 != "(" }), default: 0] += 1
    }
  }

  private func disturb(_ lanes: [Task<Void, Never>]) async {
    let device = device
    switch below(12) {
    case 0: signal(SIGKILL)
    case 1: signal(SIGSEGV)
    case 2: if below(4) == 0 { signal(SIGSTOP) }
    case 3: Task { _ = try? await device.command("UNPLUG") }
    case 4: if below(4) == 0 { await keeper.stop(milliseconds: 200) }
    case 5...7: lanes[below(lanes.count)].cancel()
    case 8: Task { _ = try? await device.command("SET_CANCELLATION_ENABLED 0") }
    default: break
    }
  }

  private func feed(_ finger: String, times: Int) {
    let device = device
    Task { for _ in 0..<times { _ = try? await device.scan(finger) } }
  }

  /// To the bridge alone, which is our child.
  private func signal(_ number: Int32) {
    if let bridge = keeper.processID { kill(bridge, number) }
  }

  private func below(_ bound: Int) -> Int {
    random ^= random >> 12
    random ^= random << 25
    random ^= random >> 27
    return Int((random &* 0x2545_F491_4F6C_DD1D) >> 33) % bound
  }

  private static func descriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
  }

  private static func children() -> Int {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.reduce(0) { count, task in
      let list = (try? String(contentsOfFile: "/proc/self/task/\(task)/children", encoding: .utf8)) ?? ""
      return count + list.split(separator: " ").count
    }
  }
}
