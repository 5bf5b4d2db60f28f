import Foundation

/// Stands in for the service that the program logs in to.
struct Server {
  struct WrongPassword: LocalizedError {
    var errorDescription: String? { "The name or the password is wrong." }
  }

  private let passwords = ["ada": "analytical", "grace": "compiler"]

  /// What a right password is exchanged for.
  func token(for name: String, password: String) throws -> String {
    guard passwords[name] == password else { throw WrongPassword() }
    return "token-of-" + name
  }

  /// Whose a token is.
  func owner(of token: String) -> String? {
    passwords.keys.first { "token-of-" + $0 == token }
  }
}
