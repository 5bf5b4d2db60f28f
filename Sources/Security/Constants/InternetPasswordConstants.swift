// Attributes of internet passwords.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// The realm of an internet password, as a string.
public let kSecAttrSecurityDomain: CFString = "sdmn"
/// The server's name or address, as a string.
public let kSecAttrServer: CFString = "srvr"
/// The protocol: one of the `kSecAttrProtocol…` values, or another four-character code.
public let kSecAttrProtocol: CFString = "ptcl"
/// How to authenticate: one of the `kSecAttrAuthenticationType…` values, or another four-character code.
public let kSecAttrAuthenticationType: CFString = "atyp"
/// The server's port, 0 to 65535.
public let kSecAttrPort: CFString = "port"
/// The path of the URL, as a string.
public let kSecAttrPath: CFString = "path"
/// Distributed password authentication.
public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// Whatever is usual.
public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
/// A form on a page.
public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// HTTP's basic scheme.
public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// HTTP's digest scheme.
public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// MSN's scheme.
public let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// Windows NT LAN Manager.
public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// Remote password authentication.
public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
