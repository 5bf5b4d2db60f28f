import Combine
import LocalAuthentication
import SwiftUI

/// A model as a view has it.
@MainActor
public final class Model: ObservableObject {
  /// What is shown.
  @Published public private(set) var name = "nobody"
  /// Whether a finger could be used.
  @Published public var hasFinger = false

  /// An empty one.
  public init() {}

  /// Shows another name, and looks for a finger.
  public func show(_ name: String) {
    self.name = name
    var error: NSError?
    hasFinger = LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
  }
}
