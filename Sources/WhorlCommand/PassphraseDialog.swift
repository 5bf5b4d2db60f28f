internal import Glibc
import GLibLoop
import KeychainArchive
import SecretMemory

/// Gets the passphrase of an export file, from the terminal or from a descriptor.
@GLibActor
struct PassphraseDialog {
  let console: any Console

  /// For a file to be written: twice from the terminal.
  func new(from descriptor: Int32?) async throws(CommandFailure) -> SecretBytes {
    if let descriptor { return try await read(descriptor) }
    let first = try checked(try await ask("Passphrase for the export: "))
    let second = try await ask("The same again: ")
    guard SecretBytes.constantTimeEqual(first, second) else {
      throw CommandFailure(.failed, "the two were not the same; nothing was exported, try again")
    }
    return first
  }

  /// For a file that is there.
  func existing(for subject: String, from descriptor: Int32?) async throws(CommandFailure) -> SecretBytes {
    if let descriptor { return try await read(descriptor) }
    return try checked(try await ask("Passphrase of \(subject): "))
  }

  private func ask(_ prompt: String) async throws(CommandFailure) -> SecretBytes {
    guard console.hasTerminal else {
      throw CommandFailure(
        .noTerminal,
        "the passphrase is needed and there is no terminal to ask on; run whorl on one, or use --passphrase-fd")
    }
    return try await console.ask(prompt)
  }

  /// All of it, but for a line's end at its end.
  private func read(_ descriptor: Int32) async throws(CommandFailure) -> SecretBytes {
    guard fcntl(descriptor, F_GETFD) >= 0 else {
      throw CommandFailure(
        .usage, "descriptor \(descriptor) is not open; give the passphrase with, say, \(descriptor)< FILE")
    }
    let all = try await DescriptorIO.readToEnd(
      descriptor, limit: ArchiveLimits.passphraseBytes + 1, what: "the passphrase on descriptor \(descriptor)")
    let hasEnd = all.withUnsafeBytes { $0.last == UInt8(ascii: "\n") }
    return try checked(try DescriptorIO.prefix(all, all.count - (hasEnd ? 1 : 0)))
  }

  private func checked(_ passphrase: consuming SecretBytes) throws(CommandFailure) -> SecretBytes {
    guard passphrase.count > 0 else {
      throw CommandFailure(.failed, "the passphrase is empty; give one of several words")
    }
    guard passphrase.count <= ArchiveLimits.passphraseBytes else {
      throw CommandFailure(
        .failed, "the passphrase has more than \(ArchiveLimits.passphraseBytes) bytes; give a shorter one")
    }
    return passphrase
  }
}
