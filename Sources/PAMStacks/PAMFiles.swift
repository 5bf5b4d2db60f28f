internal import Glibc

/// Where PAM's files and modules are.
public struct PAMPlaces: Sendable, Equatable {
  /// The folders with a file for each service, the most important first.
  public var folders: [String]
  /// The one file of old, read where none of the folders is there.
  public var oneFile: String?
  /// Where modules that are named without a path lie. Empty: every module is taken to be there.
  public var moduleFolders: [String]
  /// Whether this libpam knows `@include`, which is Debian's own.
  public var knowsAtInclude = true
  /// Whether what is included is looked for in the first folder alone, as Debian's libpam does.
  public var includesFromFirstOnly = false

  /// Folders of one's own, with a libpam that knows `@include`.
  public init(folders: [String], oneFile: String? = nil, moduleFolders: [String]) {
    self.folders = folders
    self.oneFile = oneFile
    self.moduleFolders = moduleFolders
  }

  /// Those of the system below a folder.
  ///
  /// - Parameter root: `/`, or where another system's tree is.
  public init(root: String) {
    let top = root.hasSuffix("/") ? String(root.dropLast()) : root
    let libraries = [
      "/usr/lib/\(Self.multiarch)", "/lib/\(Self.multiarch)", "/usr/lib64", "/lib64", "/usr/lib", "/lib",
    ]
    .map { top + $0 }
    let modules = libraries.map { "\($0)/security" }.filter(PAMFiles.isFolder)
    self.init(
      folders: ["\(top)/etc/pam.d", "\(top)/usr/lib/pam.d"], oneFile: "\(top)/etc/pam.conf", moduleFolders: modules)
    // Debian's libpam can be told by the word that only it reads.
    for folder in libraries {
      guard let library = PAMFiles.contents("\(folder)/libpam.so.0", limit: 1 << 22) else { continue }
      knowsAtInclude = PAMFiles.holds("@include", in: library)
      includesFromFirstOnly = knowsAtInclude
      break
    }
  }

  private static var multiarch: String {
    #if arch(arm64)
      "aarch64-linux-gnu"
    #else
      "x86_64-linux-gnu"
    #endif
  }
}

/// PAM's files as they are on the disk, with some of them as they would be.
public struct PAMFiles: Sendable {
  /// What is where a file is looked for.
  enum Found: Sendable, Equatable {
    case text(StackText)
    case absent
    case unreadable
  }

  /// Where the files are.
  public internal(set) var places: PAMPlaces
  /// Files that are to be thought of as having this text, by path.
  var proposed: [String: [UInt8]] = [:]

  private static let sizeLimit = 1 << 16
  private static let serviceLimit = 512

  /// All of them as they are on the disk.
  public init(_ places: PAMPlaces) { self.places = places }

  /// The same with one file as it would be.
  public func with(_ path: String, as text: [UInt8]) -> PAMFiles {
    var files = self
    files.proposed[path] = text
    return files
  }

  /// The names of all files in the folders, in the order of the alphabet.
  func names() -> [String] {
    var names: Set<String> = []
    for folder in places.folders {
      guard let directory = opendir(folder) else { continue }
      defer { closedir(directory) }
      while let entry = readdir(directory), names.count < Self.serviceLimit {
        // d_name is a NUL-ended array inside the entry, valid until the next readdir.
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
        }
        guard let name, !name.hasPrefix("."), Self.isFile("\(folder)/\(name)") else { continue }
        names.insert(name)
      }
    }
    return names.sorted()
  }

  /// The path at which libpam finds that name; nil where there is none.
  func path(of name: String, included: Bool = false) -> String? {
    if name.hasPrefix("/") { return exists(name) ? name : nil }
    let folders =
      included && places.includesFromFirstOnly ? Array(places.folders.prefix(1)) : places.folders
    return folders.map { "\($0)/\(name)" }.first(where: exists)
  }

  func text(at path: String) -> Found {
    if let bytes = proposed[path] { return .text(StackText(bytes)) }
    guard exists(path) else { return .absent }
    guard let bytes = Self.contents(path, limit: Self.sizeLimit) else { return .unreadable }
    return .text(StackText(bytes))
  }

  /// The line of a file that Whorl put in, the first being 1; nil where there is none.
  func markedLine(at path: String) -> Int? {
    guard case .text(let text) = text(at: path) else { return nil }
    return WiringEdit.markedLine(in: text)
  }

  /// Whether a tool of the distribution's says in the file that it writes it.
  public func isManaged(_ path: String) -> Bool {
    Self.contents(path, limit: Self.sizeLimit).map { Self.holds("pam-auth-update", in: $0) } ?? false
  }

  /// Whether any of the folders is there.
  var hasFolder: Bool { places.folders.contains(where: Self.isFolder) }

  /// Whether libpam finds the module of that name or path.
  func hasModule(_ module: String) -> Bool {
    let name = module.replacing("$ISA", with: ".")
    if name.contains("\r") { return false }
    if name.hasPrefix("/") { return access(name, F_OK) == 0 }
    return places.moduleFolders.isEmpty || places.moduleFolders.contains { access("\($0)/\(name)", F_OK) == 0 }
  }

  private func exists(_ path: String) -> Bool { proposed[path] != nil || Self.isFile(path) }

  static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// What the file holds; nil where it cannot be read or is larger than `limit` bytes.
  static func contents(_ path: String, limit: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var filled = 0
    while filled < bytes.count {
      let got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress.map { $0 + filled }, $0.count - filled) }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { return nil }
      if got == 0 { return Array(bytes[..<filled]) }
      filled += got
    }
    return nil
  }

  static func holds(_ word: String, in bytes: [UInt8]) -> Bool {
    let word = Array(word.utf8)
    guard let first = word.first, bytes.count >= word.count else { return false }
    return (0...(bytes.count - word.count)).contains { start in
      bytes[start] == first && bytes[start..<(start + word.count)].elementsEqual(word)
    }
  }
}
