import GLibLoop
import WhorlClient

@testable import WhorlCommand

extension FakeService {
  func kept(_ query: WhorlAttributes, after reference: [UInt8]?) async throws(WhorlError) -> (
    items: [KeptItem], next: [UInt8]?
  ) {
    try enter("kept", query.accessGroup ?? "all")
    let all = everything.filter { item in
      (query.accessGroup == nil || query.accessGroup == item.attributes.accessGroup ?? "")
        && (query.account == nil || query.account == item.attributes.account)
    }
    let start = Int(reference?.first ?? 0)
    let part = all.dropFirst(start).prefix(partSize)
    return (part.map(KeptItem.init), start + part.count < all.count ? [UInt8(start + part.count)] : nil)
  }

  func remove(_ item: KeptItem) async throws(WhorlError) {
    try enter("remove one", "\(item.group) \(item.name) \(item.account)")
    guard let index = everything.firstIndex(of: item.item) else { throw WhorlError(.itemNotFound, "") }
    everything.remove(at: index)
  }

  func removeAll(ofApp app: String) async throws(WhorlError) -> Int {
    try enter("remove all", app)
    let left = everything.filter { $0.attributes.accessGroup ?? "" != app }
    defer { everything = left }
    guard left.count < everything.count else { throw WhorlError(.itemNotFound, "") }
    return everything.count - left.count
  }
}
