internal import Bus
internal import GLibLoop
internal import ReaderKeeper
internal import ReaderLink

/// `net.reactivated.Fprint.Manager`: which readers there are. Keeps one device object on the bus for each.
@GLibActor
final class FprintManagerFace: BusHandler {
  private let hall: ReaderHall
  private let makeDevice: (ReaderStation) throws(BusError) -> FprintDeviceFace
  private var devices: [Int: FprintDeviceFace] = [:]

  init(hall: ReaderHall, makeDevice: @escaping (ReaderStation) throws(BusError) -> FprintDeviceFace) {
    self.hall = hall
    self.makeDevice = makeDevice
    hall.onChange { [weak self] came, went in self?.follow(came, went) }
    follow(hall.stations, [])
  }

  private func follow(_ came: [ReaderStation], _ went: [ReaderStation]) {
    for station in went { devices.removeValue(forKey: station.number)?.readerIsGone() }
    for station in came where devices[station.number] == nil {
      do {
        devices[station.number] = try makeDevice(station)
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

  func handle(_ call: BusCall) async throws -> BusAnswer {
    do {
      try await hall.refresh()
    } catch {
      Log.warning("looking for readers failed: \(error.line)")
    }
    let paths = hall.stations.map { BusValue.objectPath(FprintNames.devicePath($0.number)) }
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
