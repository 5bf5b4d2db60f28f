// How a call goes about it.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// The `LAContext` in which the user is asked, or has been.
public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Whether the user may be asked: one of the `kSecUseAuthenticationUI…` values.
public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// The user may be asked. The default.
public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// The user is not asked: where that would be needed the call fails with `errSecInteractionNotAllowed`.
public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// The user is not asked: items for which that would be needed are left out.
public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Which of macOS's keychains to use. There is one here, so that it is accepted and changes nothing.
public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// True is the same as ``kSecUseAuthenticationUIFail``. Deprecated on Apple's systems.
public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// Why the user is asked, for the user, as a string.
public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Items to work on, on macOS. It has no meaning here and is refused.
public let kSecUseItemList: CFString = "u_ItemList"
/// The keychain to add to, on macOS. It has no meaning here and is refused.
public let kSecUseKeychain: CFString = "u_Keychain"
