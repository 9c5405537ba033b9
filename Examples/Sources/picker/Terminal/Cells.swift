/// How much room text takes in a terminal, which is a grid of cells.
///
/// Terminals draw scalar by scalar and disagree about what goes beyond that (joined emoji, text
/// that runs from right to left), so what they would disagree about is not sent to them.
extension Unicode.Scalar {
  /// 2 for the wide characters of East Asia and for emoji, 0 for what combines, else 1.
  var cells: Int {
    if value < 0x300 { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if Self.zeroWidth.contains(where: { $0.contains(value) }) { return 0 }
    if properties.isEmojiPresentation && !Self.regionalIndicators.contains(value) { return 2 }
    return Self.wide.contains { $0.contains(value) } ? 2 : 1
  }

  /// Whether a terminal can be trusted to draw it and to do nothing else.
  var isDrawable: Bool {
    if value < 0x7F { return value >= 0x20 }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
      .privateUse:
      false
    default: !properties.isVariationSelector
    }
  }

  private static let regionalIndicators: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

  /// The vowels and final consonants that complete a Hangul syllable.
  private static let zeroWidth: [ClosedRange<UInt32>] = [0x1160...0x11FF, 0xD7B0...0xD7FF]

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E,
    0x3041...0x3247, 0x3250...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08,
    0x1AFF0...0x1B2FB, 0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]
}

extension String {
  /// The text as a terminal may draw it: invisible joiners and selectors left out, anything else
  /// that it could not or should not draw replaced by `\u{FFFD}`.
  var drawable: String {
    var drawable = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar.isDrawable {
        drawable.append(scalar)
      } else if scalar.cells > 0 {
        drawable.append("\u{FFFD}")
      }
    }
    return String(drawable)
  }

  /// The cells that the text takes when it is drawn.
  var cells: Int { drawable.unicodeScalars.reduce(0) { $0 + $1.cells } }

  /// The text made drawable, and exactly as many cells wide as asked for.
  ///
  /// A text that is too long loses its end or, where the end matters more, its beginning.
  func fitted(to columns: Int, keepingEnd: Bool = false) -> String {
    let text = drawable
    var width = text.cells
    if width <= columns { return text + String(repeating: " ", count: columns - width) }
    guard columns > 0 else { return "" }

    var kept = Array(text.unicodeScalars)[...]
    while width >= columns {
      width -= (keepingEnd ? kept.removeFirst() : kept.removeLast()).cells
    }
    if keepingEnd { kept = kept.drop { $0.cells == 0 } }
    let rest = String(String.UnicodeScalarView(kept))
    let padding = String(repeating: " ", count: columns - width - 1)
    return keepingEnd ? "…" + padding + rest : rest + "…" + padding
  }
}
