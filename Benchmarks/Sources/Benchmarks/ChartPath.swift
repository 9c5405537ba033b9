/// A path through the library that the chart shows, and what else does the same work.
struct ChartPath {
  let name: [ChartLanguage: String]
  let row: MeasuredRow
  let rivals: [(kind: ChartRival, row: MeasuredRow)]

  /// Finds those that a reader looks for first.
  static func common(in rows: [MeasuredRow]) throws -> [ChartPath] {
    try commonNames.map { try ChartPath($0, in: rows) }
  }

  /// Finds the others, the cheapest first.
  static func others(in rows: [MeasuredRow]) throws -> [ChartPath] {
    try otherNames.map { try ChartPath($0, in: rows) }.sorted { $0.row.ratio < $1.row.ratio }
  }

  private init(_ name: Name, in rows: [MeasuredRow]) throws {
    let rows = rows.filter { $0.scenario == name.scenario }
    guard let row = rows.first(where: { $0.contestant == name.contestant }) else {
      throw MissingRow(scenario: name.scenario, contestant: name.contestant)
    }
    self.name = [.english: name.english, .spanish: name.spanish]
    self.row = row
    rivals = ChartRival.allCases.compactMap { kind in
      rows.first { kind.names.contains($0.contestant) }.map { (kind, $0) }
    }
  }

  struct MissingRow: Error {
    let scenario: String
    let contestant: String
  }

  private struct Name {
    let scenario: String
    var contestant = "UseCase"
    let english: String
    let spanish: String
  }

  private static let commonNames = [
    Name(
      scenario: "burst: execute + then", english: "execute + then", spanish: "execute + then"),
    Name(
      scenario: "to the main actor", english: "then on main actor", spanish: "then en MainActor"),
    Name(
      scenario: "round trip: execute + value", english: "execute + value",
      spanish: "execute + value"),
    Name(scenario: "cancelPrevious: storm", english: ".cancelPrevious", spanish: ".cancelPrevious"),
    Name(scenario: "serial", english: ".serial", spanish: ".serial"),
  ]

  private static let otherNames = [
    Name(scenario: "limit(2)", english: ".limit(2)", spanish: ".limit(2)"),
    Name(scenario: "keepLatest: flood", english: ".keepLatest", spanish: ".keepLatest"),
    Name(scenario: "dropWhileBusy: flood", english: ".dropWhileBusy", spanish: ".dropWhileBusy"),
    Name(scenario: "throttle: flood", english: ".throttle", spanish: ".throttle"),
    Name(
      scenario: "lanes: storm over 10,000 keys", contestant: "UseCaseLanes",
      english: "10,000 lanes", spanish: "10.000 colas"),
    Name(scenario: "call form in a body", english: "call in a body", spanish: "desde otro cuerpo"),
    handlers("1", english: "1 handler", spanish: "1 manejador"),
    handlers("100", english: "100 handlers", spanish: "100 manejadores"),
    handlers("10,000", english: "10,000 handlers", spanish: "10.000 manejadores"),
    history("record", english: "history: record", spanish: "historial: anotar"),
    history("undo", english: "history: undo", spanish: "historial: undo"),
    history("redo", english: "history: redo", spanish: "historial: redo"),
    history("merge", english: "history: merge", spanish: "historial: fundir"),
    history("part of a group of 10", english: "history: in a group", spanish: "historial: grupo"),
    waiting("1,000", english: "1,000 in line", spanish: "1.000 en fila"),
    waiting("1,000,000", english: "1,000,000 in line", spanish: "1.000.000 en fila"),
  ]

  private static func handlers(_ count: String, english: String, spanish: String) -> Name {
    Name(
      scenario: "handlers of an operation", contestant: "UseCase, \(count)", english: english,
      spanish: spanish)
  }

  private static func history(_ action: String, english: String, spanish: String) -> Name {
    Name(
      scenario: "history, a thousand at a time", contestant: "\(action), at 1,000",
      english: english, spanish: spanish)
  }

  private static func waiting(_ count: String, english: String, spanish: String) -> Name {
    Name(
      scenario: "waiting in a line", contestant: "UseCase, \(count)", english: english,
      spanish: spanish)
  }
}

/// A rival that does the work of a path without the library. Each has a shape of its own in the
/// chart.
enum ChartRival: CaseIterable {
  case byHand, dispatch, operationQueue

  var names: [String] {
    switch self {
    case .byHand: ["by hand", "by hand, with a handler"]
    case .dispatch: ["DispatchQueue.async"]
    case .operationQueue: ["OperationQueue"]
    }
  }

  func title(in language: ChartLanguage) -> String {
    switch (self, language) {
    case (.byHand, .english): "by hand"
    case (.byHand, .spanish): "a mano"
    case (.dispatch, .english), (.dispatch, .spanish): "DispatchQueue.async"
    case (.operationQueue, .english), (.operationQueue, .spanish): "OperationQueue"
    }
  }

  /// A shape of ten by ten around a point.
  func shape(_ x: String, _ y: String) -> String {
    switch self {
    case .byHand: "M\(x) \(y)m0 -5l5 5l-5 5l-5 -5z"
    case .dispatch: "M\(x) \(y)m0 -5l5 9h-10z"
    case .operationQueue: "M\(x) \(y)m-4 -4h8v8h-8z"
    }
  }
}

/// A language that the chart speaks.
enum ChartLanguage: CaseIterable {
  case english, spanish

  var fileName: String {
    switch self {
    case .english: "results.svg"
    case .spanish: "results-es.svg"
    }
  }

  func text(_ english: String, _ spanish: String) -> String {
    switch self {
    case .english: english
    case .spanish: spanish
    }
  }
}
