import Foundation

/// How far two colours are apart, as the Web Content Accessibility Guidelines define it.
func contrast(_ one: String, _ other: String) -> Double {
  let (lighter, darker) = (
    max(luminance(one), luminance(other)), min(luminance(one), luminance(other))
  )
  return (lighter + 0.05) / (darker + 0.05)
}

private func luminance(_ colour: String) -> Double {
  let value = Int(colour.dropFirst(), radix: 16) ?? 0
  let parts = [16, 8, 0].map { shift in
    let part = Double(value >> shift & 0xff) / 255
    return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
  }
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
}
