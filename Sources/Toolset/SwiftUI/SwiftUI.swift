// What models of Apple's SwiftUI programs import SwiftUI for, although they show nothing: Foundation and Combine. Views there
// are none. The toolset brings this (ARCHITECTURE.md); packages that use it are built unmodified.
@_exported public import Combine
@_exported public import Foundation
