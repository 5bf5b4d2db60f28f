// How a search matches, and how many it finds.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// Certificates that meet a policy. It has no meaning for other classes.
public let kSecMatchPolicy: CFString = "m_Policy"
/// Only items of this list: an array of persistent references.
public let kSecMatchItemList: CFString = "m_ItemList"
/// Keychains to search, on macOS. It has no meaning here and is refused.
public let kSecMatchSearchList: CFString = "m_SearchList"
/// Certificates of these issuers. It has no meaning for other classes.
public let kSecMatchIssuers: CFString = "m_Issuers"
/// Certificates with an e-mail address. It has no meaning for other classes.
public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Certificates whose subject has this text in it. It has no meaning for other classes.
public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Certificates whose subject begins so. It has no meaning for other classes.
public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Certificates whose subject ends so. It has no meaning for other classes.
public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Certificates whose subject is this. It has no meaning for other classes.
public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Whether texts match in capital and small letters alike.
public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Whether texts match with and without accents alike.
public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Whether texts match in wide and narrow letters alike.
public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Certificates that are trusted. It has no meaning for other classes.
public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Certificates that are in force on a date. It has no meaning for other classes.
public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// How many to find at most: ``kSecMatchLimitOne``, ``kSecMatchLimitAll`` or a number from 1 on.
public let kSecMatchLimit: CFString = "m_Limit"
/// The first one, in the order of adding. What ``SecItemCopyMatching(_:_:)`` finds by default.
public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All of them.
public let kSecMatchLimitAll: CFString = "m_LimitAll"
