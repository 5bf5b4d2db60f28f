// In place of Security and LocalAuthentication on Apple's platforms, which have them (see Package.swift). Not built on Linux.
@_exported public import LocalAuthentication
@_exported public import Security
