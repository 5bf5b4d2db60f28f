/// The version of Whorl that this command belongs to.
enum Version {
  static let current = "0.1.0"
}
