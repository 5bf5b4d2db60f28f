import CGabor
import Foundation

/// A made-up finger: drawn from a seed, never taken from a person. libfprint's matcher finds two presses of one
/// finger alike and presses of different fingers different. The same seed and press number give the same image.
public struct SyntheticFinger: Sendable {
  /// The course of the ridges.
  public enum Pattern: String, Sendable, CaseIterable {
    /// Ridges come from the left, turn round a core and leave to the left.
    case leftLoop
    /// The mirror image of a left loop.
    case rightLoop
    /// Ridges run round the middle.
    case whorl
    /// Two loops that wind into each other.
    case twinLoop
    /// Ridges cross from side to side over a hill.
    case arch
  }

  /// The course of its ridges.
  public let pattern: Pattern
  /// What it was drawn from.
  public let seed: UInt64
  /// The whole finger: `side` x `side` values from -1 (valley) to 1 (ridge).
  private let ridges: [Float]

  private static let side = 320
  private static let pressSide = 256
  private static let directions = 24
  private static let rounds = 14

  /// Draws the finger; about half a second in a debug build, so keep it.
  public init(pattern: Pattern, seed: UInt64) {
    self.pattern = pattern
    self.seed = seed
    var random = SmallRandom(seed: seed)
    let field = OrientationField(pattern: pattern, random: &random)
    let period = random.number(6.5, 8.5)
    self.ridges = Self.draw(field, period: period, random: &random)
  }

  /// The finger laid on the reader for the `number`th time: each number turns, moves and dirties it differently.
  /// 256 x 256 pixels, ridges to the edges (a round rim would make the same false minutiae in every finger).
  public func press(_ number: Int) -> FingerImage {
    var random = SmallRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(bitPattern: Int64(number)) &+ 1)
    let turn = random.number(-8, 8) * Float.pi / 180
    let (dx, dy) = (random.number(-12, 12), random.number(-12, 12))
    let (cosine, sine) = (cos(turn), sin(turn))
    let middle = Float(Self.side) / 2
    let half = Float(Self.pressSide) / 2
    var pixels = [UInt8](repeating: 0, count: Self.pressSide * Self.pressSide)
    pixels.withUnsafeMutableBufferPointer { pixels in
      ridges.withUnsafeBufferPointer { ridges in
        var at = 0
        for row in 0..<Self.pressSide {
          for column in 0..<Self.pressSide {
            let (x, y) = (Float(column) - half, Float(row) - half)
            let fromX = cosine * x - sine * y + middle + dx
            let fromY = sine * x + cosine * y + middle + dy
            let left = min(max(Int(fromX), 0), Self.side - 2)
            let top = min(max(Int(fromY), 0), Self.side - 2)
            let (right, down) = (fromX - Float(left), fromY - Float(top))
            let first = top * Self.side + left
            let second = first + Self.side
            let upper = ridges[first] * (1 - right) + ridges[first + 1] * right
            let lower = ridges[second] * (1 - right) + ridges[second + 1] * right
            let ridge = upper * (1 - down) + lower * down
            let grey = 128 - 96 * ridge + random.number(-12, 12)
            pixels[at] = UInt8(min(max(grey, 0), 255))
            at += 1
          }
        }
      }
    }
    return FingerImage(width: Self.pressSide, height: Self.pressSide, pixels: pixels)
  }

  /// Grows ridges out of noise: filtered again and again along the field, they arrange themselves as in skin, with
  /// endings and forks wherever the noise wants them.
  private static func draw(_ field: OrientationField, period: Float, random: inout SmallRandom) -> [Float] {
    let kernels = gaborKernels(period: period)
    let rim = Int(cgabor_radius)
    let stride = side + Int(cgabor_kernel_width)
    var direction = [UInt8](repeating: 0, count: side * side)
    var image = [Float](repeating: 0, count: side * side)
    var padded = [Float](repeating: 0, count: stride * stride)
    direction.withUnsafeMutableBufferPointer { direction in
      for y in 0..<side {
        for x in 0..<side {
          let angle = field.angle(x: Float(x - side / 2), y: Float(side / 2 - y))
          let step = Int((angle / Float.pi * Float(directions)).rounded()) % directions
          direction[y * side + x] = UInt8((step + directions) % directions)
        }
      }
    }
    image.withUnsafeMutableBufferPointer { image in
      padded.withUnsafeMutableBufferPointer { padded in
        direction.withUnsafeBufferPointer { direction in
          kernels.withUnsafeBufferPointer { kernels in
            // The pointers are there: none of these arrays is empty.
            guard let from = padded.baseAddress, let to = image.baseAddress, let which = direction.baseAddress,
              let weights = kernels.baseAddress
            else { return }
            for at in 0..<(side * side) { to[at] = random.number(-1, 1) }
            for _ in 0..<rounds {
              for y in 0..<side {
                (from + (y + rim) * stride + rim).update(from: to + y * side, count: side)
              }
              cgabor_filter(from, to, which, weights, Int32(side))
              for at in 0..<(side * side) { to[at] = tanhf(to[at]) }
            }
          }
        }
      }
    }
    return image
  }

  /// One filter for each of the directions; each sums to zero, and a full-contrast ridge comes out at about 2.
  private static func gaborKernels(period: Float) -> [Float] {
    let radius = Int(cgabor_radius)
    var kernels = [Float](repeating: 0, count: directions * Int(cgabor_kernel_size))
    for step in 0..<directions {
      let angle = Float(step) * Float.pi / Float(directions)
      let base = step * Int(cgabor_kernel_size)
      var sum: Float = 0
      var strength: Float = 0
      for y in -radius...radius {
        for x in -radius...radius {
          let across = -Float(x) * sin(angle) + Float(-y) * cos(angle)
          let squared = Float(x * x + y * y)
          let value = exp(-squared / 18) * cos(2 * Float.pi * across / period)
          kernels[base + (y + radius) * Int(cgabor_kernel_width) + x + radius] = value
          sum += value
        }
      }
      let mean = sum / Float((2 * radius + 1) * (2 * radius + 1))
      for y in 0...(2 * radius) {
        for x in 0...(2 * radius) {
          let at = base + y * Int(cgabor_kernel_width) + x
          kernels[at] -= mean
          strength += abs(kernels[at])
        }
      }
      for at in base..<(base + Int(cgabor_kernel_size)) { kernels[at] *= 3 / strength }
    }
    return kernels
  }
}

/// Which way the ridges run at each place: the zero-pole model (each core turns the field by half a turn, each delta
/// turns it back), or a hill of lines for an arch. Origin in the middle of the finger, y upwards, in pixels.
private struct OrientationField {
  private var cores: [(x: Float, y: Float)] = []
  private var deltas: [(x: Float, y: Float)] = []
  private var hill: (height: Float, width: Float, middle: Float)?

  init(pattern: SyntheticFinger.Pattern, random: inout SmallRandom) {
    func near(_ x: Float, _ y: Float) -> (x: Float, y: Float) {
      (x + random.number(-12, 12), y + random.number(-12, 12))
    }
    switch pattern {
    case .leftLoop:
      cores = [near(0, 20)]
      deltas = [near(85, -85)]
    case .rightLoop:
      cores = [near(0, 20)]
      deltas = [near(-85, -85)]
    case .whorl:
      cores = [near(0, 35), near(0, -15)]
      deltas = [near(-100, -95), near(100, -95)]
    case .twinLoop:
      cores = [near(-28, 30), near(28, -20)]
      deltas = [near(-105, -90), near(105, -90)]
    case .arch:
      hill = (random.number(45, 75), random.number(60, 90), random.number(-20, 20))
    }
  }

  /// The angle of the ridges in radians; multiples of pi mean the same.
  func angle(x: Float, y: Float) -> Float {
    if let hill {
      // The lines are y = c + height * bump(x): steepest in the lower middle, flat at the top.
      let from = (x - hill.middle) / hill.width
      let share = min(max((140 - y) / 220, 0), 1)
      let slope = -2 * from / hill.width * exp(-from * from) * hill.height * share
      return atan(slope)
    }
    var angle: Float = 0
    for core in cores { angle += atan2(y - core.y, x - core.x) / 2 }
    for delta in deltas { angle -= atan2(y - delta.y, x - delta.x) / 2 }
    return angle
  }
}

/// SplitMix64: small, and the same on every machine.
struct SmallRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from `low` up to `high`.
  mutating func number(_ low: Float, _ high: Float) -> Float {
    low + (high - low) * Float(next() >> 40) / Float(1 << 24)
  }
}
