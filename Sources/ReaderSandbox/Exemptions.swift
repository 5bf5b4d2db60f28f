/// What private mode allows beyond the system's rules, for each kind of reader that is not there.
struct Exemptions {
  /// The folders of the sockets on which libfprint's virtual readers listen.
  private(set) var socketFolders: [String] = []
  /// umockdev's stand-in for /dev, /sys and the kernel, where its library is preloaded.
  private(set) var mockFolder: String?

  init(_ place: ReaderSandbox.Place) {
    guard case .ownFolder(let environment) = place else { return }
    for name in ReaderSandbox.socketVariables {
      guard let socket = environment[name], socket.hasPrefix("/"), let slash = socket.lastIndex(of: "/") else {
        continue
      }
      socketFolders.append(slash == socket.startIndex ? "/" : String(socket[..<slash]))
    }
    if let folder = environment["UMOCKDEV_DIR"], folder.hasPrefix("/") { mockFolder = folder }
  }

  /// Whether a virtual reader listens.
  var hasVirtualReaders: Bool { !socketFolders.isEmpty }
}
