import Foundation
import NotesWire
import Synchronization

/// Where new notes come from: their ids and times.
final class Paper: Sendable {
  private struct State {
    /// For a session that looks the same each time; nil for real life.
    var seed: UInt64?
    var last = 0
  }

  private let state: Mutex<State>

  init(seed: UInt64? = nil) {
    state = Mutex(State(seed: seed))
  }

  func note(_ text: String) -> Note {
    state.withLock { state in
      // Notes that are made at once remain in their order.
      let now = state.seed == nil ? Int(Date().timeIntervalSince1970 * 1000) : 0
      state.last = max(now, state.last + 1)
      return Note(id: Self.id(&state.seed), created: state.last, text: text)
    }
  }

  private static func id(_ seed: inout UInt64?) -> String {
    var bits = UInt64.random(in: 0 ... .max)
    if let old = seed {
      // SplitMix64 (Steele, Lea, Flood, 2014).
      bits = old &+ 0x9E37_79B9_7F4A_7C15
      seed = bits
      bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
      bits ^= bits >> 31
    }
    let digits = String(bits, radix: 32)
    return String(digits.reversed()) + String(repeating: "0", count: 13 - digits.count)
  }
}
