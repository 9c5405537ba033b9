/// The same work, done in several ways. The first contestant is what the others are compared with.
struct Scenario: Sendable {
  let name: String
  let contestants: [Contestant]
  var unit = Unit.nanoseconds
}

/// What a sample counts, for one operation.
enum Unit: Sendable {
  case nanoseconds, bytes
}

/// One way of doing the work of a scenario.
struct Contestant: Sendable {
  let name: String
  var target: Target?

  /// Does the work once, and returns its cost for one operation.
  let sample: @Sendable (_ scale: Scale) -> Double
}

/// What a contestant should reach.
enum Target: Sendable {
  /// At most this many times the cost of the other.
  case atMost(Double, of: String)
  /// At least this many times the cost of the other.
  case atLeast(Double, of: String)
  /// At most this cost.
  case cost(Double)
}

/// How much work there is.
///
/// A quick run does a hundredth, to see that everything works.
struct Scale: Sendable {
  var isQuick = false

  func callAsFunction(_ count: Int) -> Int { isQuick ? max(1, count / 100) : count }
}

/// The samples of all contestants of a scenario, of which those of one round belong together.
struct Result: Sendable {
  let scenario: Scenario
  let samples: [[Double]]

  /// Lets the contestants take turns, `rounds` times, after one round to warm up.
  init(of scenario: Scenario, rounds: Int, scale: Scale) {
    self.scenario = scenario
    var samples = Array(repeating: [Double](), count: scenario.contestants.count)
    for round in 0...rounds {
      for (index, contestant) in scenario.contestants.enumerated() {
        let sample = contestant.sample(scale)
        if round > 0 { samples[index].append(sample) }
      }
    }
    self.samples = samples
  }

  /// How many times the cost of `other` the contestant costs, round by round.
  func ratio(of contestant: Int, to other: Int) -> Spread {
    Spread(zip(samples[contestant], samples[other]).map { $0 / $1 })
  }

  func cost(of contestant: Int) -> Spread { Spread(samples[contestant]) }
}

/// What several measurements have in common.
struct Spread: Sendable {
  let median: Double
  let minimum: Double
  let maximum: Double

  init(_ values: [Double]) {
    let sorted = values.sorted()
    median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    minimum = sorted[0]
    maximum = sorted[sorted.count - 1]
  }
}
