import Foundation
public import UseCaseHistory

/// Makes the values of a history into JSON, which other versions of an app read as leniently as
/// their `Codable` types allow.
///
/// ```swift
/// let coder = JSONHistoryCoder()
/// let bytes = try coder.encode(["name": "Report"])
/// print(String(decoding: bytes, as: UTF8.self))  // {"name":"Report"}
/// ```
///
/// Everybody who can read the journal can read the values in it. Wrap it in a coder of your own to
/// encrypt.
public struct JSONHistoryCoder: HistoryCoder {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// Creates a coder, which also knows the numbers that JSON does not: infinity, and no number.
  public init() {
    let (infinity, minusInfinity, noNumber) = ("inf", "-inf", "nan")
    encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: infinity, negativeInfinity: minusInfinity, nan: noNumber)
    decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: infinity, negativeInfinity: minusInfinity, nan: noNumber)
  }

  /// Returns the value as JSON.
  ///
  /// - Parameter value: The value.
  /// - Returns: UTF-8.
  /// - Throws: An `EncodingError`.
  /// - Complexity: O(*n*) in the size of the value.
  public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    Array(try encoder.encode(value))
  }

  /// Returns the value of JSON.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - bytes: UTF-8.
  /// - Returns: The value.
  /// - Throws: A `DecodingError`.
  /// - Complexity: O(*n*) in the number of bytes.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try decoder.decode(type, from: Data(bytes))
  }
}
