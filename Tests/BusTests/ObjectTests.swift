import GLibLoop
import Testing

@testable import Bus

@Suite(.timeLimit(.minutes(5))) struct ObjectTests {
  @GLibActor
  private static func introspect(_ scene: Scene, _ path: String) async throws -> String {
    let reply = try await scene.client.call(
      destination: scene.service.uniqueName, path: path, interface: "org.freedesktop.DBus.Introspectable",
      method: "Introspect", expecting: "s")
    return reply.arguments[0].asString ?? ""
  }

  @Test func `an object says what it has`() async throws {
    try await withScene { scene in
      let xml = try await Self.introspect(scene, "/example")
      #expect(xml.contains("org.example.First") && xml.contains("\"Echo\"") && xml.contains("\"Colour\""))
      #expect(!xml.contains("org.example.Second"))
      #expect(try await Self.introspect(scene, "/").contains("\"example\""))
    }
  }

  @Test func `several interfaces live at one path, and objects come and go`() async throws {
    try await withScene { scene in
      let second = Example(["Name": { BusAnswer([.string($0.path)]) }])
      func name(_ path: String) async -> Result<String?, BusError> {
        do throws(BusError) {
          let reply = try await scene.client.call(
            destination: scene.service.uniqueName, path: path, interface: "org.example.Second", method: "Name")
          return .success(reply.arguments.first?.asString)
        } catch {
          return .failure(error)
        }
      }
      let beside = try scene.service.export(
        path: "/example", interfaceXML: exampleXML, interface: "org.example.Second", handler: second)
      let below = try scene.service.export(
        path: "/example/7", interfaceXML: exampleXML, interface: "org.example.Second", handler: second)
      #expect(await name("/example") == .success("/example"))
      #expect(await name("/example/7") == .success("/example/7"))
      #expect(try await scene.call("Who").arguments.count == 2)
      #expect(try await Self.introspect(scene, "/example").contains("<node name=\"7\""))
      below.unregister()
      below.unregister()
      #expect(try await Self.introspect(scene, "/example").contains("<node name=\"7\"") == false)
      guard case .failure = await name("/example/7") else { return #expect(Bool(false), "the object is still there") }
      #expect(await name("/example") == .success("/example"))
      let again = try scene.service.export(
        path: "/example/7", interfaceXML: exampleXML, interface: "org.example.Second", handler: second)
      #expect(await name("/example/7") == .success("/example/7"))
      beside.unregister()
      again.unregister()
    }
  }

  @Test func `a handler goes when its object does, after its last call`() async throws {
    try await withScene { scene in
      weak var handler: Example?
      let arrived = Gate()
      let gate = Gate()
      @GLibActor func export() throws -> BusRegistration {
        let example = Example([
          "Name": { _ in
            arrived.open()
            await gate.wait()
            return BusAnswer([.string("done")])
          }
        ])
        handler = example
        return try scene.service.export(
          path: "/gone", interfaceXML: exampleXML, interface: "org.example.Second", handler: example)
      }
      let registration = try export()
      #expect(handler != nil)
      async let reply = scene.client.call(
        destination: scene.service.uniqueName, path: "/gone", interface: "org.example.Second", method: "Name")
      await arrived.wait()
      registration.unregister()
      gate.open()
      #expect(try await reply.arguments == [.string("done")])
      // GDBus lets the registration go from the loop.
      for _ in 0..<1000 where handler != nil { await Task.yield() }
      #expect(handler == nil)
    }
  }

  @Test func `properties are read one by one and all together`() async throws {
    try await withScene { scene in
      let get = try await scene.callProperties("Get", [.string("org.example.First"), .string("Colour")])
      #expect(get.arguments == [.variant(.string("blue"))])
      // Size is not known now: it is left out.
      let all = try await scene.callProperties("GetAll", [.string("org.example.First")])
      #expect(all.arguments == [.options(["Colour": .string("blue")])])
      scene.example.properties["Size"] = .uint32(3)
      let more = try await scene.callProperties("GetAll", [.string("org.example.First")])
      #expect(more.arguments == [.options(["Colour": .string("blue"), "Size": .uint32(3)])])
    }
  }

  @Test func `a property of the wrong type, unknown or set is an error`() async throws {
    try await withScene { scene in
      scene.example.properties["Broken"] = .string("no number")
      var faults = 0
      scene.service.onFault = { _ in faults += 1 }
      let broken = await busError { () throws(BusError) in
        try await scene.callProperties("Get", [.string("org.example.First"), .string("Broken")])
      }
      #expect(broken?.remoteName == "org.freedesktop.DBus.Error.Failed")
      #expect(faults == 1)
      let unknown = await busError { () throws(BusError) in
        try await scene.callProperties("Get", [.string("org.example.First"), .string("Nothing")])
      }
      #expect(unknown?.remoteName == "org.freedesktop.DBus.Error.InvalidArgs")
      let set = await busError { () throws(BusError) in
        try await scene.callProperties(
          "Set", [.string("org.example.First"), .string("Colour"), .variant(.string("red"))])
      }
      #expect(set?.remoteName == "org.freedesktop.DBus.Error.InvalidArgs")
    }
  }

  @Test(arguments: [
    ("relative", exampleXML, "org.example.First"), ("/x", "<node", "org.example.First"),
    ("/x", "", "org.example.First"),
    ("/x", exampleXML, "org.example.Third"), ("/example", exampleXML, "org.example.First"),
  ])
  func `an export that cannot be is refused`(_ path: String, _ xml: String, _ interface: String) async throws {
    try await withScene { scene in
      weak var handler: Example?
      @GLibActor func export() {
        let example = Example()
        handler = example
        #expect(throws: BusError.self) {
          _ = try scene.service.export(path: path, interfaceXML: xml, interface: interface, handler: example)
        }
      }
      export()
      #expect(handler == nil, "a handler that was refused is kept")
    }
  }
}
