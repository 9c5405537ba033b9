import UseCase

/// A language that the pictures speak.
enum Language: String, CaseIterable, Sendable {
  case english = "en"
  case spanish = "es"

  /// The end of the name of a file.
  var suffix: String {
    switch self {
    case .english: ""
    case .spanish: "-es"
    }
  }

  /// A time on the axis, in tenths of a second.
  func seconds(tenths: Int) -> String {
    let (whole, rest) = tenths.quotientAndRemainder(dividingBy: 10)
    guard rest > 0 else { return "\(whole) s" }
    switch self {
    case .english: return "\(whole).\(rest) s"
    case .spanish: return "\(whole),\(rest) s"
    }
  }
}

/// The same words in every language. Words between backticks are code.
struct Phrase: Equatable, Sendable {
  private let english: String
  private let spanish: String

  init(_ english: String, _ spanish: String) {
    self.english = english
    self.spanish = spanish
  }

  subscript(language: Language) -> String {
    switch language {
    case .english: english
    case .spanish: spanish
    }
  }
}

/// The words that more than one picture says.
enum Words {
  static let keystrokes = Phrase(
    "each keystroke calls `execute`", "cada pulsación llama a `execute`")
  static let shown = Phrase("`then` shows", "`then` muestra")
  static let stale = Phrase("✗ stale", "✗ obsoleta")
  static let runs = Phrase("runs", "se ejecuta")
  static let waits = Phrase("waits for a slot", "espera un hueco")
  static let pauses = Phrase("pauses first", "hace una pausa")
  static let unwinds = Phrase("cancelled, still running", "cancelada, aún en marcha")
  static let supersedes = Phrase("supersedes", "sustituye a otra")
  static let suspended = Phrase("suspended", "suspendida")
}

extension Timeline.Lane.Mark {
  /// The outcome of the operation.
  var name: Phrase {
    switch self {
    case .succeeded: Phrase("succeeded", "tiene éxito")
    case .failed: Phrase("failed", "falla")
    case .cancelled(.superseded): Phrase("superseded", "sustituida")
    case .cancelled(.dropped), .cancelled(.closed): Phrase("dropped", "descartada")
    case .cancelled(.requested), .cancelled(.scopeEnded), .cancelled(.thrown):
      Phrase("cancelled", "cancelada")
    }
  }
}
