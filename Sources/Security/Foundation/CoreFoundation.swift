// The names of Core Foundation that code for the keychain uses, over Swift's Foundation.
//
// Which type stands for which was tried on real packages: strings are Swift's, so that `kSecClass as String`,
// `[CFString: Any]` and `switch` work; the rest are Foundation's classes, so that `as CFDictionary` works; and CFTypeRef is
// AnyObject, so that a `var result: AnyObject?` can be handed to SecItemCopyMatching.
@_exported public import Foundation

/// A string.
public typealias CFString = String
/// A dictionary; `[String: Any]` becomes one by `as`.
public typealias CFDictionary = NSDictionary
/// A dictionary that can be changed.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array.
public typealias CFArray = NSArray
/// An array that can be changed.
public typealias CFMutableArray = NSMutableArray
/// Bytes; `Data` becomes it by `as`.
public typealias CFData = NSData
/// Bytes that can be changed.
public typealias CFMutableData = NSMutableData
/// A number.
public typealias CFNumber = NSNumber
/// Yes or no.
public typealias CFBoolean = NSNumber
/// A date.
public typealias CFDate = NSDate
/// An error.
public typealias CFError = NSError
/// The domain of an error.
public typealias CFErrorDomain = CFString
/// Any object.
public typealias CFTypeRef = AnyObject
/// A set of flags.
public typealias CFOptionFlags = UInt
/// A number of elements, or the place of one.
public typealias CFIndex = Int
/// The result of a call: `errSecSuccess`, or a code that says what went wrong.
public typealias OSStatus = Int32

/// A place for an error: `&error` of a `var error: NSError?`, or nil.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// What memory comes from. There are none of one's own here: give ``kCFAllocatorDefault`` or nil.
public final class CFAllocator: Sendable {
  private init() {}
}

// Implicitly unwrapped, as Apple's are: real code writes both `kCFBooleanTrue` and `kCFBooleanTrue!`.

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The usual memory.
public let kCFAllocatorDefault: CFAllocator! = nil
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Yes.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// No.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// The status of a call that worked.
public let noErr: OSStatus = 0

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// What an error carries besides its domain and code; nil for no error.
public func CFErrorCopyUserInfo(_ error: CFError!) -> CFDictionary! {
  error.map { $0.userInfo as NSDictionary }
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// An error's code; 0 for no error.
public func CFErrorGetCode(_ error: CFError!) -> CFIndex { error?.code ?? 0 }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// An error's domain; nil for no error.
public func CFErrorGetDomain(_ error: CFError!) -> CFErrorDomain! { error?.domain }

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// An error's text for people; nil for no error.
public func CFErrorCopyDescription(_ error: CFError!) -> CFString! { error?.localizedDescription }

extension NSError {
  /// An error of no domain with code 0, as `NSError()` makes on Apple's systems.
  ///
  /// An initialiser without arguments cannot be added here, since it would override NSObject's; one whose argument is
  /// left out can.
  public convenience init(nothing: Void = ()) { self.init(domain: "", code: 0, userInfo: nil) }
}
