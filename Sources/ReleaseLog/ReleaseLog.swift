internal import CPosix
internal import Glibc

/// Where whorld notes every release of a secret and every refusal: in the journal, and in files of its own, from which
/// users get what is about them.
///
/// Three files for each user (`Kind`), so that no program can push entries of one kind out by causing those of another: one
/// line of JSON each, at most `fileBytes` and as much again in `.old`. What asks for nothing can be had without end, and has
/// a file of its own. They are for whorld alone (0600). A full disk costs entries, never a request.
public actor ReleaseLog {
  /// The most bytes of a file before it becomes the old one.
  public static let fileBytes = 128 << 10
  /// Refusals of one user that are noted in a row; one more for each second after that.
  public static let refusalBurst: Int64 = 200

  /// The kinds of entries, by the ending of their file. Entries of one second are in this order.
  private enum Kind: String, CaseIterable {
    /// What became of requests for items that ask for nothing.
    case unguarded
    /// Releases of items that ask for something, and of the whole keychain.
    case released
    /// Refusals of those.
    case refused

    init(_ entry: ReleaseEntry) {
      // What has no item is about all of them.
      let isUnguarded = entry.constraints.isEmpty && !entry.item.isEmpty
      self = isUnguarded ? .unguarded : entry.isRelease ? .released : .refused
    }
  }

  private struct Refuser: Hashable {
    let user: UInt32
    let kind: Kind
  }

  private let folder: String
  private var refusals: [Refuser: (left: Int64, at: Int64)] = [:]

  /// A log under `folder`, which is made at the first need; the folder above it must be there.
  public init(folder: String) { self.folder = folder }

  /// Notes an entry. What cannot be written is left out.
  public func note(_ entry: ReleaseEntry) {
    let kind = Kind(entry)
    guard entry.isRelease || takeRefusal(of: Refuser(user: entry.user, kind: kind), at: entry.time) else { return }
    Journal.send(entry)
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { return }
    append(EntryLine.text(of: entry) + "\n", to: path(of: entry.user, kind))
  }

  /// A user's entries, the newest first.
  /// - Parameter limit: the most to give.
  public func entries(of user: UInt32, limit: Int) -> [ReleaseEntry] {
    var found: [ReleaseEntry] = []
    for kind in Kind.allCases {
      let path = path(of: user, kind)
      for file in [path + ".old", path] {
        for line in read(file).split(separator: UInt8(ascii: "\n")) {
          if let entry = EntryLine.entry(line), entry.user == user { found.append(entry) }
        }
      }
    }
    // Stable: entries of one second stay in their order.
    let sorted = found.enumerated().sorted { ($0.element.time, $0.offset) > ($1.element.time, $1.offset) }
    return sorted.prefix(max(0, limit)).map(\.element)
  }

  /// Removes all that is noted of a user.
  /// - Returns: whether it is gone.
  @discardableResult
  public func forget(_ user: UInt32) -> Bool {
    var isGone = true
    for kind in Kind.allCases {
      refusals[Refuser(user: user, kind: kind)] = nil
      let path = path(of: user, kind)
      for file in [path, path + ".old"] where unlink(file) != 0 && errno != ENOENT { isGone = false }
    }
    return isGone
  }

  // MARK: Parts

  private func path(of user: UInt32, _ kind: Kind) -> String { "\(folder)/\(user).\(kind.rawValue)" }

  private func takeRefusal(of refuser: Refuser, at time: Int64) -> Bool {
    var (left, at) = refusals[refuser] ?? (Self.refusalBurst, time)
    left = min(Self.refusalBurst, left + max(0, min(time - at, Self.refusalBurst)))
    at = time
    let isNoted = left > 0
    if isNoted { left -= 1 }
    if refusals.count > 4096 { refusals = [:] }
    refusals[refuser] = (left, at)
    return isNoted
  }

  private func append(_ line: String, to path: String) {
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | Int32(cposix_O_NOFOLLOW), 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return }
    let bytes = Array(line.utf8)
    if status.st_size + bytes.count > Self.fileBytes, status.st_size > 0 {
      guard rename(path, path + ".old") == 0 else { return }
      return append(line, to: path)
    }
    // One write: a line that a full disk cuts short is passed over when it is read.
    _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
  }

  private func read(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC | Int32(cposix_O_NOFOLLOW))
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.fileBytes)
    var filled = 0
    while filled < bytes.count {
      let got = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress.map { $0 + filled }, $0.count - filled) }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      filled += got
    }
    return Array(bytes.prefix(filled))
  }
}
