// A bridge that misbehaves on purpose. FAKE_FAULT names how; FAKE_ONCE names a file whose presence means "no more":
// the first process makes the file and misbehaves, those after it behave. FAKE_REPAIRED names a file that ends all
// misbehaviour, FAKE_PID one that gets the process number, FAKE_SEED the seed of what is random.
import Glibc
import ReaderLink

@main
struct Main {
  static func main() {
    var fault = getenv("FAKE_FAULT").map { String(cString: $0) } ?? ""
    if let once = getenv("FAKE_ONCE") {
      let file = open(once, O_CREAT | O_EXCL | O_WRONLY, 0o600)
      if file < 0 { fault = "" } else { close(file) }
    }
    if let repaired = getenv("FAKE_REPAIRED"), access(repaired, F_OK) == 0 { fault = "" }
    if let path = getenv("FAKE_PID"), let file = fopen(path, "w") {
      fputs("\(getpid())", file)
      fclose(file)
    }
    var bridge = FakeBridge(fault: fault)
    bridge.run()
  }
}

struct FakeBridge {
  let fault: String
  var decoder = FrameDecoder(limit: LinkLimits.requestBytes)
  /// What the fault does, and to which request.
  private let step: (request: Substring, what: Substring)?
  private var random: RandomFrames?

  init(fault: String) {
    self.fault = fault
    let parts = fault.split(separator: ": ")
    step = parts.count == 2 ? (parts[0], parts[1]) : nil
    if fault == "random frames" {
      random = RandomFrames(seed: getenv("FAKE_SEED").flatMap { UInt64(String(cString: $0)) } ?? 0)
      // Each process says something else.
      for _ in 0..<Int(getpid()) % 17 { _ = random?.next(below: 2) }
    }
  }

  mutating func run() {
    switch fault {
    case "silent": hang()
    case "ends at once": exit(3)
    case "noise": send(raw: [UInt8](repeating: 0xA5, count: 64))
    case "future version": send(.hello(version: 99, libfprint: ""))
    case "reply before hello": send(.reply(request: 1, .readers([])))
    default: send(.hello(version: LinkLimits.version, libfprint: "fake"))
    }
    if fault == "hello twice" { send(.hello(version: LinkLimits.version, libfprint: "fake")) }
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(3, &buffer, buffer.count)
      if count <= 0 {
        if fault == "deaf to the end" { hang() }
        exit(0)
      }
      decoder.append(buffer[..<count])
      while let message = try? decoder.next() {
        if let call = try? NumberedRequest(decoding: message) { answer(call) }
      }
    }
  }

  private mutating func answer(_ call: NumberedRequest) {
    let number = call.number
    if let step, step.request == call.request.name { return misbehave(number, step.what, good: good(call.request)) }
    if var frames = random {
      let list = frames.frames(for: number, good: good(call.request))
      random = frames
      guard let list else { exit(9) }
      for frame in list { send(raw: frame) }
      return
    }
    switch call.request {
    case .ping: if fault != "no pong" { send(.reply(request: number, .pong)) }
    case .enumerate: send(.reply(request: number, .readers(readers)))
    case .enroll:
      send(.event(.enrollProgress(request: number, stage: 1, of: 5)))
      misbehave(number, good: .print(Array("FP3".utf8)))
    case .verify: misbehave(number, good: .verdict(matched: true, index: 0))
    case .identify: misbehave(number, good: .verdict(matched: true, index: 1))
    case .storedPrints, .listPrints, .capture: send(.reply(request: number, good(call.request)))
    case .cancel(let request):
      if fault != "deaf to cancel" { send(.reply(request: request, .failed(.cancelled))) }
    default: send(.reply(request: number, .done))
    }
  }

  /// What an honest bridge answers.
  private func good(_ request: ReaderRequest) -> ReaderReply {
    switch request {
    case .ping: return .pong
    case .enumerate: return .readers(readers)
    case .enroll: return .print(Array("FP3".utf8))
    case .verify: return .verdict(matched: true, index: 0)
    case .identify: return .verdict(matched: true, index: 1)
    case .capture: return .image(width: 1, height: 1, pixels: [0])
    case .listPrints: return .prints([])
    case .storedPrints:
      let index = fault == "stored print out of range" ? 2 : 1
      return .storedPrints([
        StoredPrint(
          bytes: Array("FP3".utf8), user: "a\u{202e}b", finger: .leftThumb, driver: "fake", deviceID: "0",
          knownIndex: index)
      ])
    case .open, .close, .deletePrint, .clearStorage, .cancel: return .done
    }
  }

  /// What a fault of one kind of request does.
  private func misbehave(_ number: UInt64, _ what: Substring, good: ReaderReply) {
    switch what {
    case "exits": exit(7)
    case "dies of a signal":
      signal(SIGSEGV, SIG_DFL)
      raise(SIGSEGV)
    case "loops":
      send(.event(.fingerStatus(reader: 1, needed: true, present: false)))
      while true {}
    case "unplugged and silent": send(.event(.readersChanged([])))
    case "unplugged":
      send(.event(.readersChanged([])))
      send(.reply(request: number, .failed(.removed("it is gone"))))
    case "no such reader": send(.reply(request: number, .failed(.noSuchReader)))
    case "hot":
      send(.event(.temperature(reader: 1, .warm)))
      send(.event(.temperature(reader: 1, .hot)))
      send(.reply(request: number, .failed(.tooHot("it is hot"))))
    case "warm":
      send(.event(.temperature(reader: 1, .warm)))
      send(.reply(request: number, good))
    default: exit(64)
    }
  }

  /// What the fault does in the middle of a request.
  private func misbehave(_ number: UInt64, good: ReaderReply) {
    switch fault {
    case "deaf to cancel", "no pong", "waits":
      // The sign that the request has arrived.
      send(.event(.fingerStatus(reader: 1, needed: true, present: false)))
    case "noise in the middle": send(raw: [UInt8](repeating: 0xA5, count: 64))
    case "oversized": send(raw: [0xff, 0xff, 0xff, 0x7f, 2])
    case "unknown kind": send(raw: [1, 0, 0, 0, 200])
    case "half a message then the end":
      send(raw: [50, 0, 0, 0, 2, 1])
      exit(0)
    case "crash":
      signal(SIGABRT, SIG_DFL)
      abort()
    case "answer of another kind": send(.reply(request: number, .done))
    case "answer to a request never made": send(.reply(request: number + 1000, .verdict(matched: true, index: 0)))
    case "event of a request never made": send(.event(.verdict(request: number + 1000, matched: true, index: 0)))
    case "index out of range": send(.reply(request: number, .verdict(matched: true, index: 7)))
    case "stage of a verification":
      if case .verdict = good {
        send(.event(.enrollProgress(request: number, stage: 1, of: 5)))
      } else {
        send(raw: [0])
      }
      send(raw: [0, 0, 0, 0])
    case "two readers of one token": send(.event(.readersChanged(readers + readers)))
    case "flood": while true { send(.event(.fingerStatus(reader: 1, needed: true, present: false))) }
    case "flood of readers":
      // Fewer than what is too many of all kinds.
      for token in UInt32(2)..<2000 { send(.event(.readersChanged(readers + [other(token)]))) }
    case "flood of ignored devices":
      for _ in 0..<2000 { send(.event(.deviceIgnored(.general("it is broken")))) }
    case "unusable out of range": send(.event(.unusablePrints(request: number, indices: [3])))
    case "unusable twice in a list": send(.event(.unusablePrints(request: number, indices: [0, 0])))
    case "unusable told twice":
      send(.event(.unusablePrints(request: number, indices: [0])))
      send(.event(.unusablePrints(request: number, indices: [2])))
    case "unusable without any": send(.event(.unusablePrints(request: number, indices: [])))
    case "unusable of another request": send(.event(.unusablePrints(request: number + 1000, indices: [0])))
    case "unusable after a touch":
      send(.event(.retry(request: number, reason: .tooShort)))
      send(.event(.unusablePrints(request: number, indices: [0])))
    case "unusable and matched":
      send(.event(.unusablePrints(request: number, indices: [1])))
      send(.reply(request: number, good))
    case "all unusable and judged":
      send(.event(.unusablePrints(request: number, indices: [0, 1, 2])))
      send(.reply(request: number, .verdict(matched: false, index: 0)))
    case "early verdict then waits": send(.event(.verdict(request: number, matched: true, index: 0)))
    case "early verdict then the contrary":
      send(.event(.verdict(request: number, matched: false, index: 0)))
      send(.reply(request: number, .verdict(matched: true, index: 0)))
    case "endless retries":
      send(.event(.retry(request: number, reason: .tooShort)))
      send(.reply(request: number, .failed(.retry(.tooShort))))
    default: send(.reply(request: number, good))
    }
  }

  private var readers: [ReaderDescription] {
    if fault == "no readers" { return [] }
    let name = fault == "ugly names" ? "\u{1b}[31mred\u{202e}\n" : "Fake"
    return [
      ReaderDescription(
        token: 1, driver: "fake", deviceID: "0", name: name, scanType: .press, features: [.verify], enrollStages: 5)
    ]
  }

  private func other(_ token: UInt32) -> ReaderDescription {
    ReaderDescription(
      token: token, driver: "fake", deviceID: "n\(token)", name: "Another", scanType: .press, features: [.verify],
      enrollStages: 5)
  }

  private func hang() -> Never { while true { pause() } }

  private func send(_ answer: ReaderAnswer) {
    if let bytes = try? answer.encoded() { send(raw: bytes) }
  }

  private func send(raw bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(3, $0.baseAddress, $0.count) }
      if count <= 0 { exit(0) }
      rest = rest.dropFirst(count)
    }
  }
}

extension ReaderRequest {
  /// Its name in a fault.
  fileprivate var name: String {
    switch self {
    case .ping: "ping"
    case .enumerate: "enumerate"
    case .open: "open"
    case .close: "close"
    case .enroll: "enroll"
    case .verify: "verify"
    case .identify: "identify"
    case .capture: "capture"
    case .listPrints: "list"
    case .storedPrints: "stored"
    case .deletePrint: "delete"
    case .clearStorage: "clear"
    case .cancel: "cancel"
    }
  }
}
