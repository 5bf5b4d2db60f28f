import GLibLoop
internal import Glibc
import KeychainArchive
import SecretMemory
import WhorlClient

/// What an import hands to the daemon: an export file in memory, and for a list, from which that was made here, its
/// passphrase, which nobody else knows.
struct ImportSource: ~Copyable {
  /// The most bytes of a list.
  static let listLimit = 16 << 20

  let file: WhorlFile
  /// Nil for an export file that the user has the passphrase of.
  var passphrase: SecretBytes?

  /// Reads what the order names.
  @GLibActor
  static func read(_ order: ImportOrder, _ console: any Console) async throws(CommandFailure) -> ImportSource {
    let subject = subject(of: order)
    let isInput = order.file == "-"
    let descriptor = isInput ? console.inputDescriptor : open(order.file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(
        errno == ENOENT ? .notFound : .failed,
        "\(subject) cannot be opened: \(SystemText.error(errno)); check the name")
    }
    defer { if !isInput { close(descriptor) } }
    switch order.format {
    case .archive: return ImportSource(file: try await archive(descriptor, subject))
    case .csv: return try await list(descriptor, .csv, subject)
    case .pairs: return try await list(descriptor, .pairs, subject)
    }
  }

  /// What messages are about.
  static func subject(of order: ImportOrder) -> String {
    order.file == "-" ? "standard input" : Escaping.quoted(order.file)
  }

  @GLibActor
  private static func archive(_ descriptor: Int32, _ subject: String) async throws(CommandFailure) -> WhorlFile {
    let memory = try memoryFile(subject)
    let target = memory.withDescriptor { $0 }
    try await DescriptorIO.copy(from: descriptor, to: target, limit: ArchiveLimits.fileBytes, what: subject)
    // Looked at before the passphrase is asked for: nobody types one for nothing.
    do throws(ArchiveError) { try ArchiveReader.checkStart(of: target) } catch { throw notArchive(error, subject) }
    return try sealed(memory, subject)
  }

  /// Why that is no file to import.
  static func notArchive(_ problem: ArchiveError, _ subject: String) -> CommandFailure {
    switch problem {
    case .notAnExportFile:
      CommandFailure(
        .failed,
        "\(subject) is no export file of Whorl's; name one, or say with --csv or --pairs what kind of list it is")
    case .tooNew: CommandFailure(.failed, "\(subject) was written by a newer version; update Whorl")
    default: CommandFailure(.failed, "\(subject) is damaged or not whole; copy it again, or use another backup")
    }
  }

  /// Turns a list into an export file under a random passphrase, so that the daemon takes all of it or nothing.
  @GLibActor
  private static func list(
    _ descriptor: Int32, _ format: PlainListReader.Format, _ subject: String
  ) async throws(CommandFailure) -> ImportSource {
    let text = try await DescriptorIO.readToEnd(descriptor, limit: listLimit, what: subject)
    let memory = try memoryFile(subject)
    let passphrase: SecretBytes
    do throws(SecretMemoryError) { passphrase = try SecretBytes.random(count: 32) } catch {
      throw CommandFailure(.failed, "\(subject): \(error.description)")
    }
    let reader = PlainListReader(text, format: format)
    let count = try convert(reader, to: memory.withDescriptor { $0 }, passphrase, subject)
    guard count > 0 else { throw CommandFailure(.failed, "\(subject) has no secret in it; nothing was imported") }
    return ImportSource(file: try sealed(memory, subject), passphrase: passphrase)
  }

  /// Gives how many secrets there were.
  private static func convert(
    _ list: PlainListReader, to target: Int32, _ passphrase: borrowing SecretBytes, _ subject: String
  ) throws(CommandFailure) -> Int {
    do {
      let writer = try ArchiveWriter(to: target, key: try ArchiveKey.make(passphrase: passphrase, cost: .none))
      while let entry = try list.next() {
        let attributes = PlainAttributes.bytes(service: CommandItems.service, name: entry.name)
        try writer.write(attributes: attributes, secret: entry.secret)
      }
      try writer.finish()
      return writer.count
    } catch {
      // Both kinds of error say what is wrong without a word of what stands there.
      throw CommandFailure(.failed, "\(subject): \(error)\(error is PlainListError ? "; nothing was imported" : "")")
    }
  }

  private static func memoryFile(_ subject: String) throws(CommandFailure) -> WhorlFile {
    do throws(SecretMemoryError) { return WhorlFile(owning: try MemoryFile.make(name: "whorl-import")) } catch {
      throw CommandFailure(.failed, "\(subject): \(error.description)")
    }
  }

  private static func sealed(_ file: WhorlFile, _ subject: String) throws(CommandFailure) -> WhorlFile {
    do throws(SecretMemoryError) {
      try file.withDescriptor { file throws(SecretMemoryError) in try MemoryFile.seal(file) }
    } catch {
      throw CommandFailure(.failed, "\(subject): \(error.description)")
    }
    return file
  }
}
