public import ReaderLink

/// A reader by what stays the same when the bridge is replaced, unlike its token.
public struct ReaderID: Sendable, Hashable {
  /// libfprint's driver identifier.
  public let driver: String
  /// libfprint's device identifier.
  public let deviceID: String
  /// A number from 0 among readers of the same driver and device identifier. It stays with the place that the reader is
  /// plugged into: with one of two alike gone, the other keeps its own.
  public let ordinal: Int

  /// The reader with these values.
  public init(driver: String, deviceID: String, ordinal: Int) {
    self.driver = driver
    self.deviceID = deviceID
    self.ordinal = ordinal
  }

  /// The identities of the readers in a list that a keeper gave, in its order.
  public static func ids(of readers: [ReaderDescription]) -> [ReaderID] {
    var ids: [ReaderID] = []
    for reader in readers {
      let ordinal =
        reader.ordinal ?? ids.count { $0.driver == reader.driver && $0.deviceID == reader.deviceID }
      ids.append(ReaderID(driver: reader.driver, deviceID: reader.deviceID, ordinal: ordinal))
    }
    return ids
  }
}
