import Foundation
public import UseCaseHistory

/// Encodes the values of a history as JSON, and decodes them. Another version of the app can read
/// them as far as its `Codable` types are compatible.
///
/// ```swift
/// let coder = JSONHistoryCoder()
/// let bytes = try coder.encode(["name": "Report"])
/// print(String(decoding: bytes, as: UTF8.self))  // {"name":"Report"}
/// ```
///
/// Anyone who can read the journal can read the values in it. To encrypt them, wrap this coder in a
/// coder of your own.
public struct JSONHistoryCoder: HistoryCoder {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// Creates a coder. It also supports infinity and NaN, which JSON lacks.
  public init() {
    let (infinity, minusInfinity, noNumber) = ("inf", "-inf", "nan")
    encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity, negativeInfinity: minusInfinity, nan: noNumber)
    decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity, negativeInfinity: minusInfinity, nan: noNumber)
  }

  /// Encodes a value as JSON.
  ///
  /// - Parameter value: The value.
  /// - Returns: JSON in UTF-8.
  /// - Throws: An `EncodingError`.
  /// - Complexity: O(*n*) in the size of the value.
  public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    try Self.plain(value) ?? encoder.encode(value).withUnsafeBytes { Array($0) }
  }

  /// Returns the bytes that the encoder would make of a number, or of a text in which nothing is
  /// escaped. The encoder takes about six times as long.
  private static func plain<Value: Encodable>(_ value: Value) -> [UInt8]? {
    // To compare types costs less than to cast.
    if Value.self == Int.self, let number = value as? Int {
      var text = String(number)
      return text.withUTF8 { Array($0) }
    }
    guard Value.self == String.self, var text = value as? String else { return nil }
    return text.withUTF8 { text in
      guard text.allSatisfy({ $0 >= 0x20 && $0 != quote && $0 != backslash && $0 != slash })
      else { return nil }
      return [quote] + text + [quote]
    }
  }

  private static var quote: UInt8 { UInt8(ascii: "\"") }
  private static var backslash: UInt8 { UInt8(ascii: "\\") }
  private static var slash: UInt8 { UInt8(ascii: "/") }

  /// Decodes a value from JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - bytes: JSON in UTF-8.
  /// - Returns: The value.
  /// - Throws: A `DecodingError`.
  /// - Complexity: O(*n*) in the number of bytes.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try decoder.decode(type, from: Data(bytes))
  }
}
