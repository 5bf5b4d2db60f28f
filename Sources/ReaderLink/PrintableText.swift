extension String {
  /// This text cut to what the link carries and to printable characters, for text that a driver or a device wrote.
  ///
  /// Control characters, and the invisible ones that turn the direction of writing round, become `?`.
  public var printable: String {
    var result = ""
    var bytes = 0
    for scalar in unicodeScalars {
      let shown = scalar.isPrintable ? scalar : "?"
      bytes += UTF8.width(shown)
      if bytes > LinkLimits.textBytes { break }
      result.unicodeScalars.append(shown)
    }
    return result
  }
}

extension Unicode.Scalar {
  fileprivate var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
