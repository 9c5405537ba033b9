/// The same work, done in several ways, which take turns.
struct Scenario: Sendable {
  let name: String
  var unit = Unit.nanoseconds
  var rounds = 25
  let contestants: [Contestant]
}

/// The unit of a sample, for one operation.
enum Unit: Sendable {
  case nanoseconds, bytes
}

/// One way of doing the work of a scenario.
struct Contestant: Sendable {
  let name: String
  /// Whether it is what those behind it are compared with: the work without any library.
  var isBare = false
  var target: Target?

  /// Does the work once, and returns its cost for one operation.
  let sample: @Sendable (_ scale: Scale) -> Double
}

/// The cost that a contestant should reach.
enum Target: Sendable {
  /// At most this many times the cost of the other.
  case atMost(Double, of: String)
  /// At least this many times the cost of the other.
  case atLeast(Double, of: String)
  /// At most this cost.
  case cost(Double)
}

/// How much work there is: all of it, or a hundredth, to see that everything works.
struct Scale: Sendable {
  var isQuick = false

  func callAsFunction(_ count: Int) -> Int { isQuick ? max(1, count / 100) : count }
}

/// The samples of all contestants of a scenario. Those of one round belong together: what disturbs
/// the machine disturbs all of them.
struct Samples: Sendable {
  let scenario: Scenario
  private let costs: [[Double]]

  /// Lets the contestants take turns, after one round to warm up.
  init(of scenario: Scenario, scale: Scale) {
    self.scenario = scenario
    var costs = Array(repeating: [Double](), count: scenario.contestants.count)
    for round in 0...(scale.isQuick ? 1 : scenario.rounds) {
      for (index, contestant) in scenario.contestants.enumerated() {
        let cost = contestant.sample(scale)
        if round > 0 { costs[index].append(cost) }
      }
    }
    self.costs = costs
  }

  func cost(of contestant: Int) -> Spread { Spread(costs[contestant]) }

  /// How many times the bare work the contestant costs.
  func ratio(of contestant: Int) -> Spread {
    let bare = scenario.contestants[...contestant].lastIndex(where: \.isBare)
    return ratio(of: contestant, to: bare ?? contestant)
  }

  func ratio(of contestant: Int, to other: String) -> Spread {
    guard let index = scenario.contestants.firstIndex(where: { $0.name == other }) else {
      fatalError("\(scenario.name) has no contestant named \(other).")
    }
    return ratio(of: contestant, to: index)
  }

  private func ratio(of contestant: Int, to other: Int) -> Spread {
    Spread(zip(costs[contestant], costs[other]).map { $0 / $1 })
  }
}

/// The median and the extremes of several measurements.
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
