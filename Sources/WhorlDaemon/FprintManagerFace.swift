internal import Bus
internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// `net.reactivated.Fprint.Manager`: which readers there are. Keeps one device object on the bus for each.
@GLibActor
final class FprintManagerFace: BusHandler {
  private let hall: ReaderHall
  private let bus: BusConnection
  private let limits: CallLimits
  private let makeDevice: (ReaderStation) throws(BusError) -> FprintDeviceFace
  private var devices: [Int: FprintDeviceFace] = [:]

  init(
    hall: ReaderHall, bus: BusConnection, limits: CallLimits,
    makeDevice: @escaping (ReaderStation) throws(BusError) -> FprintDeviceFace
  ) {
    self.hall = hall
    self.bus = bus
    self.limits = limits
    self.makeDevice = makeDevice
    hall.onDescriptionChange = { [weak self] station, old in
      self?.devices[station.number]?.descriptionChanged(from: old)
    }
    hall.onChange { [weak self] came, went in self?.follow(came, went) }
    follow(hall.stations, [])
  }

  private func follow(_ came: [ReaderStation], _ went: [ReaderStation]) {
    for station in went { devices[station.number]?.readerIsGone() }
    for station in came {
      let number = station.number
      if let known = devices[number] {
        known.readerIsBack()
        continue
      }
      do {
        let device = try makeDevice(station)
        device.onUnregistered = { [weak self] in self?.devices[number] = nil }
        devices[number] = device
      } catch {
        Log.failure("the reader \(station.description.name) could not be put on the bus: \(error)")
      }
    }
  }

  /// Hands what a reader waits for to its device object.
  func fingerStatus(_ reader: ReaderID, needed: Bool, present: Bool) {
    guard let station = hall.stations.first(where: { $0.id == reader }) else { return }
    devices[station.number]?.fingerStatus(needed: needed, present: present)
  }

  /// Ends the claims for users of whom this says true, and what runs under them.
  func endClaims(for isMeant: (FprintUser) -> Bool) async {
    for device in devices.values {
      if let claim = device.claim, isMeant(claim.user) { await device.release() }
    }
  }

  func handle(_ call: BusCall) async throws -> BusAnswer {
    let caller = try await Caller(ofFprint: call, on: bus)
    return try await limits.run(for: caller.user, wantsReader: true) { try await answer(call) }
  }

  private func answer(_ call: BusCall) async throws -> BusAnswer {
    do {
      try await hall.refresh()
    } catch {
      Log.warning("looking for readers failed: \(error.line)")
    }
    // One that was unplugged is named for as long as somebody holds it.
    let paths = devices.keys.sorted().map { BusValue.objectPath(FprintNames.devicePath($0)) }
    switch call.method {
    case "GetDevices":
      return BusAnswer([.array(element: "o", paths)])
    case "GetDefaultDevice":
      guard let first = paths.first else {
        throw BusMethodError.fprint(.noSuchDevice, "No devices available")
      }
      return BusAnswer([first])
    default:
      throw BusMethodError.fprint(.internalError, "This version of Whorl has no method \(call.method).")
    }
  }
}
