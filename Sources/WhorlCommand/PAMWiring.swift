import PAMStacks

/// Which of the machine's logins offer the finger, by its PAM files. Reads only; whatever is in them.
struct PAMWiring: Sendable, Equatable {
  /// The services whose `auth` stack comes to pam_whorl.so, in the order of the alphabet.
  var services: [String] = []
  /// Files that could not be read, by path.
  var unreadable: [String] = []
  /// Whether there are PAM files at all.
  var hasFiles = false
  /// Whether pam-auth-update writes the stack that all services share.
  var hasPAMAuthUpdate = false
  /// pam_whorl.so is asked for somewhere but lies in none of the module folders.
  var moduleIsMissing = false

  static let module = "pam_whorl.so"

  static func read(_ places: PAMPlaces) -> PAMWiring {
    let files = PAMFiles(places)
    var wiring = PAMWiring()
    wiring.hasFiles = files.isThere
    wiring.hasPAMAuthUpdate = places.folders.first.map { files.isManaged("\($0)/common-auth") } ?? false
    var unreadable: Set<String> = []
    for service in files.services {
      let stack = PAMStack(service: service, in: files)
      unreadable.formUnion(stack.unreadable)
      let steps = stack.steps.filter(\.asksForFinger)
      // Where a service has no auth line of its own it is told of "other", which is in the list itself.
      guard let step = steps.first, !stack.isOthers else { continue }
      wiring.services.append(service)
      if step.isMissing { wiring.moduleIsMissing = true }
    }
    wiring.unreadable = unreadable.sorted()
    return wiring
  }
}
