/// What may name a folder of the store. fprintd takes the names as they are, and so must this.
enum Names {
  /// The longest name of a file or folder on Linux, in bytes of UTF-8.
  static let longest = 255

  static func check(user: String, driver: String, deviceID: String) throws(PrintStoreError) {
    try check(user: user)
    try check(driver, what: "the driver's name")
    try check(deviceID, what: "the reader's identifier")
  }

  /// A user's name must not begin with a dot either: such folders of the root are not users' (Whorl's own is one).
  static func check(user: String) throws(PrintStoreError) {
    try check(user, what: "the user name")
    if user.utf8.first == UInt8(ascii: ".") {
      throw .invalidName(what: "the user name", name: user, reason: "it begins with a dot")
    }
  }

  private static func check(_ name: String, what: String) throws(PrintStoreError) {
    let reason: String? =
      switch name {
      case "": "it is empty"
      case ".", "..": "it means another folder"
      case _ where name.utf8.contains(UInt8(ascii: "/")): "it contains a slash"
      case _ where name.utf8.contains(0): "it contains a zero byte"
      case _ where name.utf8.count > longest: "it is longer than \(longest) bytes"
      default: nil
      }
    if let reason { throw .invalidName(what: what, name: name, reason: reason) }
  }
}

extension PrintStore {
  /// Whether a user of that name can have prints here.
  /// - Throws: `.invalidName`, saying why not.
  public static func check(user: String) throws(PrintStoreError) { try Names.check(user: user) }

  /// Whether a reader of that driver and identifier can have prints here.
  /// - Throws: `.invalidName`, saying why not.
  public static func check(driver: String, deviceID: String) throws(PrintStoreError) {
    try Names.check(user: "anybody", driver: driver, deviceID: deviceID)
  }
}
