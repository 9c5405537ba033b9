import UseCase

/// The text that is in the field after a key was struck.
struct Keystroke: Sendable {
  static let longestText = 200

  /// From 1, in each session.
  let number: Int
  let text: String
  let weather: Weather
}

/// How slow and how bad the answers are. For the same keystroke they are the same in every row, so
/// that the rows can be compared.
struct Weather: Codable, Checked, Hashable, Sendable {
  /// In milliseconds.
  var latency = 500
  /// In percent of the latency, more or less.
  var jitter = 60
  /// In percent of the answers.
  var failures = 0
  /// Whether a body goes on after its cancellation as if nothing had happened.
  var ignoresCancellation = false

  var complaint: String? {
    let isFine =
      (0...5000).contains(latency) && (0...100).contains(jitter) && (0...100).contains(failures)
    return isFine ? nil : "latency is 0 to 5000 ms; jitter and failures are 0 to 100 percent"
  }

  func delay(of number: Int) -> Duration {
    let swing = Double(jitter) / 100 * (2 * Self.chance(2 * number) - 1)
    return .milliseconds(Int(Double(latency) * (1 + swing)))
  }

  func isFailure(_ number: Int) -> Bool { 100 * Self.chance(2 * number + 1) < Double(failures) }

  /// From 0 to 1, always the same for the same number (SplitMix64).
  private static func chance(_ number: Int) -> Double {
    var bits = UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15 &+ 0xC380
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((bits ^ (bits >> 31)) >> 11) / Double(1 << 53)
  }
}

/// A search that takes its time, and finds what it was asked for.
struct Search: UseCase {
  struct Busy: Error, CustomStringConvertible {
    var description: String { "The server is busy." }
  }

  /// The time that a body needs to return after its cancellation.
  static let unwinding = Duration.milliseconds(150)

  let queue: UseCaseQueue

  func main(_ keystroke: Keystroke) async throws -> String {
    let weather = keystroke.weather
    let delay = weather.delay(of: keystroke.number)
    if weather.ignoresCancellation {
      await rest(delay)
    } else {
      do {
        try await Task.sleep(for: delay)
      } catch {
        await rest(Self.unwinding)
        throw error
      }
    }
    if weather.isFailure(keystroke.number) { throw Busy() }
    return keystroke.text
  }

  /// Sleeps, whether or not this task is cancelled.
  private func rest(_ duration: Duration) async {
    await Task { try? await Task.sleep(for: duration) }.value
  }
}
