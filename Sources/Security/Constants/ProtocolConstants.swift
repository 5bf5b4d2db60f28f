// Protocols: what `kSecAttrProtocol` of an internet password can be.
// The values are Apple's: they are what is found in dictionaries that were saved or printed.

/// AFP.
public let kSecAttrProtocolAFP: CFString = "afp "
/// AppleTalk.
public let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// DAAP.
public let kSecAttrProtocolDAAP: CFString = "daap"
/// Remote Apple events.
public let kSecAttrProtocolEPPC: CFString = "eppc"
/// FTP.
public let kSecAttrProtocolFTP: CFString = "ftp "
/// FTP, of a client's account.
public let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// A proxy for FTP.
public let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// FTP over TLS.
public let kSecAttrProtocolFTPS: CFString = "ftps"
/// HTTP.
public let kSecAttrProtocolHTTP: CFString = "http"
/// A proxy for HTTP.
public let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// HTTP over TLS.
public let kSecAttrProtocolHTTPS: CFString = "htps"
/// A proxy for HTTPS.
public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// IMAP.
public let kSecAttrProtocolIMAP: CFString = "imap"
/// IMAP over TLS.
public let kSecAttrProtocolIMAPS: CFString = "imps"
/// IPP.
public let kSecAttrProtocolIPP: CFString = "ipp "
/// IRC.
public let kSecAttrProtocolIRC: CFString = "irc "
/// IRC over TLS.
public let kSecAttrProtocolIRCS: CFString = "ircs"
/// LDAP.
public let kSecAttrProtocolLDAP: CFString = "ldap"
/// LDAP over TLS.
public let kSecAttrProtocolLDAPS: CFString = "ldps"
/// NNTP.
public let kSecAttrProtocolNNTP: CFString = "nntp"
/// NNTP over TLS.
public let kSecAttrProtocolNNTPS: CFString = "ntps"
/// POP3.
public let kSecAttrProtocolPOP3: CFString = "pop3"
/// POP3 over TLS.
public let kSecAttrProtocolPOP3S: CFString = "pops"
/// RTSP.
public let kSecAttrProtocolRTSP: CFString = "rtsp"
/// A proxy for RTSP.
public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// SMB.
public let kSecAttrProtocolSMB: CFString = "smb "
/// SMTP.
public let kSecAttrProtocolSMTP: CFString = "smtp"
/// SOCKS.
public let kSecAttrProtocolSOCKS: CFString = "sox "
/// SSH.
public let kSecAttrProtocolSSH: CFString = "ssh "
/// Telnet.
public let kSecAttrProtocolTelnet: CFString = "teln"
/// Telnet over TLS.
public let kSecAttrProtocolTelnetS: CFString = "tels"
