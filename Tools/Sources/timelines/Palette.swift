/// The colours of a picture, in a light and in a dark scheme.
///
/// Colours carry no meaning of their own: every state has a shape or a pattern too.
struct Palette: Sendable {
  /// The color behind everything.
  let page: String
  /// The background of a span of time, such as that of a suspension.
  let band: String
  let ink: String
  /// Words that are read second.
  let faint: String
  /// Lines that guide the eye.
  let rule: String
  let blue: String
  let green: String
  let red: String
  let orange: String

  static let light = Palette(
    page: "#ffffff", band: "#eaeef2", ink: "#1f2328", faint: "#59636e", rule: "#7d8590",
    blue: "#0969da", green: "#1a7f37", red: "#cf222e", orange: "#bc4c00")

  static let dark = Palette(
    page: "#0d1117", band: "#21262d", ink: "#f0f6fc", faint: "#9ea7b3", rule: "#7d8590",
    blue: "#4493f8", green: "#3fb950", red: "#ff7b72", orange: "#f0883e")

  /// The colours that write words, and the one that words in a bar are written on.
  var words: [String] { [ink, faint] }

  /// The colours that draw shapes.
  var shapes: [String] { [rule, blue, green, red, orange] }

  /// As variables of a style sheet.
  var variables: String {
    """
    --page: \(page); --band: \(band); --ink: \(ink); --faint: \(faint); --rule: \(rule); \
    --blue: \(blue); --green: \(green); --red: \(red); --orange: \(orange);
    """
  }
}
