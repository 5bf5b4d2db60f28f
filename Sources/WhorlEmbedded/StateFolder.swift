internal import Glibc

/// The folder of an enclave's state: the user's own, and nobody else's to change or to read.
struct StateFolder {
  /// Its real path.
  let path: String

  private static let systems = ["/var/lib/whorl", "/var/lib/fprint"]

  /// Makes it where it is missing, with mode 0700, and looks at it and at all folders above it.
  init(_ given: String) throws(EmbeddedError) {
    guard !given.isEmpty, !given.utf8.contains(0), !given.contains("\n"), !given.contains(":") else {
      throw EmbeddedError(.unsafeFolder, "The state folder's name is empty or has a colon or a line's end in it.")
    }
    try Self.refuseSystems(given)
    try Self.make(given)
    guard let resolved = realpath(given, nil) else { throw Self.failed(given) }
    path = String(cString: resolved)
    free(resolved)
    guard !path.contains(":"), !path.contains("\n") else {
      throw EmbeddedError(.unsafeFolder, "\(given) leads to a name with a colon or a line's end in it.")
    }
    try Self.look(at: path)
    try Self.makeOwn(path + "/state")
    try Self.makeOwn(path + "/state/.whorl")
    try offerPasscodeService()
  }

  private static func failed(_ path: String) -> EmbeddedError {
    EmbeddedError(.unsafeFolder, "The folder \(path) cannot be used: \(String(cString: strerror(errno)))")
  }

  /// Before anything is made there: what is the installed daemon's is left alone.
  private static func refuseSystems(_ given: String) throws(EmbeddedError) {
    var place = given
    while !place.isEmpty {
      var status = stat()
      let isThere = stat(place, &status) == 0
      try refuseSystem(place, isThere ? status : nil)
      guard let slash = place.lastIndex(of: "/") else { return }
      place = String(place[..<slash])
    }
  }

  private static func refuseSystem(_ place: String, _ status: stat?) throws(EmbeddedError) {
    for system in systems {
      var other = stat()
      let isSame = status.map {
        stat(system, &other) == 0 && other.st_dev == $0.st_dev && other.st_ino == $0.st_ino
      }
      if place == system || isSame == true {
        throw EmbeddedError(.unsafeFolder, "\(system) is the installed daemon's; name another folder.")
      }
    }
  }

  /// Makes a folder, and those above it.
  private static func make(_ path: String) throws(EmbeddedError) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += (made.isEmpty || made == "/" ? "" : "/") + part
      guard mkdir(made, 0o700) == 0 || errno == EEXIST || access(made, F_OK) == 0 else { throw failed(path) }
    }
  }

  private static func makeOwn(_ path: String) throws(EmbeddedError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failed(path) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw failed(path) }
    try checkOwn(path, status)
  }

  private static func checkOwn(_ path: String, _ status: stat) throws(EmbeddedError) {
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw EmbeddedError(.unsafeFolder, "\(path) is no folder; name another one.")
    }
    guard status.st_uid == geteuid() else {
      throw EmbeddedError(.unsafeFolder, "The folder \(path) belongs to another user; name one of your own.")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw EmbeddedError(.unsafeFolder, "The folder \(path) is open to other users; close it with: chmod 700")
    }
  }

  /// Who can replace a folder on the way can replace this one.
  private static func look(at path: String) throws(EmbeddedError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw failed(path) }
    try checkOwn(path, status)
    var place = path
    while true {
      try refuseSystem(place, status)
      guard place != "/", let slash = place.lastIndex(of: "/") else { return }
      place = slash == place.startIndex ? "/" : String(place[..<slash])
      guard stat(place, &status) == 0 else { throw failed(place) }
      let isSticky = status.st_mode & S_ISVTX != 0
      let othersWrite =
        status.st_mode & S_IWOTH != 0
        || (status.st_mode & S_IWGRP != 0 && status.st_gid != getegid() && status.st_gid != 0)
      guard status.st_uid == geteuid() || status.st_uid == 0, !othersWrite || isSticky else {
        throw EmbeddedError(
          .unsafeFolder, "Others can replace \(path), since they may write to \(place); name another folder.")
      }
    }
  }

  /// Where Whorl is not installed, PAM does not know how to check a passcode for it: as the installed service does, by
  /// pam_unix alone. The enclave honours such a file in its own folder.
  private func offerPasscodeService() throws(EmbeddedError) {
    let service = "whorl-passcode"
    for folder in ["/etc/pam.d", "/usr/lib/pam.d"] where access("\(folder)/\(service)", R_OK) == 0 { return }
    let folder = path + "/state/.whorl/pam.d"
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Self.failed(folder) }
    let file = open("\(folder)/\(service)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    // One that is there is the user's.
    guard file >= 0 else { if errno == EEXIST { return } else { throw Self.failed("\(folder)/\(service)") } }
    defer { close(file) }
    let text = "auth     required  pam_unix.so\naccount  required  pam_unix.so\n"
    guard write(file, text, text.utf8.count) == text.utf8.count else { throw Self.failed("\(folder)/\(service)") }
  }
}
