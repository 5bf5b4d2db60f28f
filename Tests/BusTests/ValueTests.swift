import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct ValueTests {
  static let values: [BusValue] = [
    .byte(255), .boolean(true), .boolean(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max), .int64(.min),
    .uint64(.max), .double(-0.5), .string(""), .string("Ünïcödé 👆"), .objectPath("/a/b_1"), .signature("a{sv}(ii)"),
    .signature(""), .bytes([]), .bytes([0, 1, 255]), .array(element: "s", []), .strings(["a", "b"]),
    .array(element: "ay", [.bytes([1]), .bytes([])]), .array(element: "a{sv}", [.options([:])]),
    .dictionary(key: "s", value: "v", []), .options(["b": .uint32(1), "a": .strings(["x"])]),
    .dictionary(
      key: "u", value: "(sb)", [BusEntry(key: .uint32(1), value: .structure([.string("x"), .boolean(true)]))]),
    .dictionary(key: "s", value: "a{ss}", [BusEntry(key: .string("x"), value: .dictionary(key: "s", value: "s", []))]),
    .structure([.int32(1), .structure([.string("x")])]), .variant(.variant(.string("x"))),
    .dictionary(key: "s", value: "s", [1, 2].map { BusEntry(key: .string("k"), value: .string("\($0)")) }),
  ]

  @Test(arguments: values) func `a value comes back from GVariant as it was`(_ value: BusValue) throws {
    let tuple = try Variant.tuple([value, .uint32(7)])
    #expect(try Variant.arguments(tuple.pointer, .unasked) == [value, .uint32(7)])
  }

  @Test func `values travel over a real bus`() async throws {
    try await withScene { scene in
      for value in Self.values {
        let reply = try await scene.call("Echo", [.variant(value)])
        #expect(reply.arguments == [.variant(value)])
      }
    }
  }

  @Test(
    arguments: [
      .string("a\0b"), .objectPath("nowhere"), .objectPath("/a/"), .objectPath("/\0"), .signature("a"), .signature("m"),
      .array(element: "", []), .array(element: "ii", []), .array(element: "mi", []), .array(element: "*", []),
      .array(element: "s\0", []), .array(element: "s", [.int32(1)]), .dictionary(key: "v", value: "s", []),
      .dictionary(key: "ss", value: "s", []), .dictionary(key: "", value: "s", []),
      .dictionary(key: "s", value: "ss", []), .dictionary(key: "s", value: "", []),
      .dictionary(key: "s", value: "s", [BusEntry(key: .int32(1), value: .string(""))]), .structure([]),
      .array(element: "(ii)", [.structure([.int32(1)])]), .array(element: "{sv}", []),
    ] as [BusValue])
  func `a value that D-Bus does not have is refused`(_ value: BusValue) {
    #expect(throws: BusError.self) { _ = try Variant(value).pointer }
  }

  @Test func `nesting is bounded both ways`() throws {
    func nested(_ depth: Int) -> BusValue {
      (0..<depth).reduce(.byte(1)) { value, _ in .variant(value) }
    }
    let deepest = try Variant.tuple([nested(MessageLimits.depth - 1)])
    #expect(try Variant.arguments(deepest.pointer, .unasked) == [nested(MessageLimits.depth - 1)])
    #expect(throws: BusError.self) { _ = try Variant.tuple([nested(MessageLimits.depth)]).pointer }
    // What another program may send: made here by counting from below the surface.
    let hostile = try Variant(.structure([nested(MessageLimits.depth)]), depth: -10)
    #expect(throws: BusError.self) { try Variant.arguments(hostile.pointer, .unasked) }
  }

  @Test func `a message of too many values or bytes is refused`() throws {
    let many = BusValue.array(element: "b", Array(repeating: .boolean(true), count: MessageLimits.unasked.values + 1))
    let large = BusValue.bytes(Array(repeating: 0, count: MessageLimits.unasked.bytes + 1))
    for value in [many, large] {
      let tuple = try Variant.tuple([value])
      // Not inside the expectation, which would print a value of that size.
      let isAccepted = (try? Variant.arguments(tuple.pointer, .unasked)) != nil
      #expect(!isAccepted)
    }
  }

  @Test func `options with a key twice are no options`() {
    let entry = BusEntry(key: .string("a"), value: .variant(.byte(1)))
    #expect(BusValue.dictionary(key: "s", value: "v", [entry, entry]).asOptions == nil)
    #expect(BusValue.dictionary(key: "s", value: "v", [entry]).asOptions == ["a": .byte(1)])
    #expect(BusValue.strings([]).asOptions == nil)
  }
}
