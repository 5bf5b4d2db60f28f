import Foundation
import GLibLoop
import ReaderKeeper
import TestKit

/// One recording of a real reader in shared/recordings, replayed by umockdev around the real whorl-reader.
struct Recording {
  let name: String
  private let path: String
  private let folder: TemporaryFolder

  /// The folder of that name; throws where it is not there.
  init(_ name: String) throws {
    guard let path = SharedMaterial.path("recordings/\(name)") else { throw CocoaError(.fileNoSuchFile) }
    self.name = name
    self.path = path
    folder = try TemporaryFolder()
  }

  /// A keeper whose bridge sees this reader alone. Keep the recording for as long as the keeper.
  @GLibActor
  func keeper() throws -> ReaderKeeper {
    var arguments: [String] = []
    for file in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
      let whole = "\(path)/\(file)"
      if file.hasPrefix("device") { arguments += ["-d", whole] }
      if file.hasSuffix(".pcapng") { arguments += ["-p", "/sys\(try word(1, of: "device"))=\(whole)"] }
      if file.hasSuffix(".ioctl") { arguments += ["-i", "\(try word(1, of: file))=\(whole)"] }
    }
    // umockdev-run hands on the standard descriptors and no others, so the link takes the way over number 0.
    let script = """
      #!/bin/sh
      exec /usr/bin/umockdev-run \(arguments.map { "'\($0)'" }.joined(separator: " ")) \
      -- /bin/sh -c 'exec "$0" --private 3<&0' '\(try BuiltPrograms.path("whorl-reader"))' <&3

      """
    return ReaderKeeper(
      program: try folder.writeProgram(script, to: "bridge"),
      environment: [
        // What umockdev-run makes is gone with the recording.
        "PATH": "/usr/bin:/bin", "TMPDIR": folder.path, "FP_DEVICE_EMULATION": "1",
        "FP_DRIVERS_WHITELIST": String(name.prefix { $0 != "-" }),
      ], limits: .patient)
  }

  /// What the sensor's image must be: capture.png as width, height and one byte a pixel.
  func expectedImage() throws -> Image {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", Self.decoder, "\(path)/capture.png"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    guard process.terminationStatus == 0, bytes.count > 8 else { throw CocoaError(.fileReadCorruptFile) }
    func number(at start: Int) -> Int { bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
    return Image(width: number(at: 0), height: number(at: 4), pixels: Array(bytes[8...]))
  }

  /// A word of the first line of a file.
  private func word(_ index: Int, of file: String) throws -> String {
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: "\(path)/\(file)"))
    defer { try? handle.close() }
    let head = String(decoding: try handle.read(upToCount: 1000) ?? Data(), as: UTF8.self)
    let line = head.prefix { $0 != "\n" }
    return String(line.split(separator: " ")[index])
  }

  /// Python's standard library has zlib: reads an 8-bit RGB or RGBA PNG, writes width, height and the first channel.
  private static let decoder = """
    import struct, sys, zlib
    data = open(sys.argv[1], "rb").read()
    assert data[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
    at, body = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        part = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", part)
            assert depth == 8 and colour in (2, 6) and interlace == 0
            step = 3 if colour == 2 else 4
        if kind == b"IDAT":
            body += part
        at += size + 12
    body = zlib.decompress(body)
    row = width * step
    before, pixels = bytearray(row), bytearray()
    for y in range(height):
        how = body[y * (row + 1)]
        line = bytearray(body[y * (row + 1) + 1:(y + 1) * (row + 1)])
        for x in range(row):
            left = line[x - step] if x >= step else 0
            up = before[x]
            corner = before[x - step] if x >= step else 0
            if how == 1:
                line[x] = (line[x] + left) & 255
            elif how == 2:
                line[x] = (line[x] + up) & 255
            elif how == 3:
                line[x] = (line[x] + (left + up) // 2) & 255
            elif how == 4:
                p = left + up - corner
                near = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
                line[x] = (line[x] + near) & 255
        pixels += line[::step]
        before = line
    sys.stdout.buffer.write(struct.pack(">II", width, height) + pixels)
    """
}
