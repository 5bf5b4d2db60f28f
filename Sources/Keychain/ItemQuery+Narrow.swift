extension ItemQuery {
  /// Whether it names what tells items apart, so that a deletion by it is not one of everything.
  public var isNarrow: Bool { service != nil || account != nil || applicationTag != nil || applicationLabel != nil }
}
