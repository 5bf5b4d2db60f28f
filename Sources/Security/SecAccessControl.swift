package import WhorlClient

/// What guards an item: when it can be read at all, and what has to be shown first. Made by
/// ``SecAccessControlCreateWithFlags(_:_:_:_:)``, given as ``kSecAttrAccessControl``; two of the same content are equal.
public final class SecAccessControl: Hashable, Sendable, CustomStringConvertible {
  /// As the enclave takes it.
  package let control: WhorlAccessControl

  /// That access control, as the enclave has it.
  package init(_ control: WhorlAccessControl) { self.control = control }

  /// Whether both ask for the same.
  public static func == (left: SecAccessControl, right: SecAccessControl) -> Bool { left.control == right.control }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(control) }

  /// The protection class and the constraints, such as `when-unlocked: user-presence`.
  public var description: String {
    let constraints = control.constraints.map(\.rawValue)
    return control.protection.rawValue + (constraints.isEmpty ? "" : ": " + constraints.joined(separator: " "))
  }
}

/// Makes an access control.
/// - Parameters:
///   - allocator: nil.
///   - protection: when the item can be read at all: one of the `kSecAttrAccessible…` strings.
///   - flags: what has to be shown first; none for nothing.
///   - refusal: takes the reason of a refusal, which names the flag: `errSecParam` in NSOSStatusErrorDomain for flags that
///     do not go together and for another `protection`; `errSecUnimplemented` for what Linux does not have.
/// - Returns: nil where it is refused.
public func SecAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: Any, _ flags: SecAccessControlCreateFlags,
  _ refusal: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
  do throws(ItemRequestError) {
    guard let name = protection as? String, let protection = WhorlProtection(accessible: name) else {
      throw ItemRequestError(errSecParam, "the protection must be one of the kSecAttrAccessible values")
    }
    return SecAccessControl(try WhorlAccessControl(protection: protection, flags: flags))
  } catch {
    refusal?.pointee = .passRetained(.status(error.status, "SecAccessControlCreateWithFlags: " + error.message))
    return nil
  }
}
