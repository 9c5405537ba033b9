/// Where a history writes what it does, to be there after the end of the process: an ordered list of
/// opaque records.
///
/// `FileJournal` in the module `UseCaseJournal` is one in a file. If you have a database, make one
/// over it: a table of blobs, with an ascending key.
///
/// The history calls one method at a time, `read` first, in a task of its own that is never
/// cancelled.
public protocol HistoryJournal: Sendable {
  /// Makes requests, responses and the titles of groups into bytes. The history frames them, and
  /// says nothing else of your values in a record than the name of the use case.
  var coder: any HistoryCoder { get }

  /// Returns all records in order, without one that the end of the process has torn.
  ///
  /// - Returns: The records.
  /// - Throws: The reason why they cannot be read.
  /// - Complexity: O(*n*) in the number of bytes.
  func read() async throws -> [[UInt8]]

  /// Adds a record at the end. Return when it will survive.
  ///
  /// Each recorded execution, undo and redo waits for it twice: before its body, and before its
  /// handlers.
  ///
  /// - Parameter record: The bytes.
  /// - Throws: The reason why it is not written. It is as well if it is there all the same.
  /// - Complexity: Expected to be O(*n*) in the number of bytes of the record.
  func append(_ record: [UInt8]) async throws

  /// Puts these records in the place of all that there are: all of them, or nothing.
  ///
  /// - Parameter records: The new records.
  /// - Throws: The reason why the old ones are still there.
  /// - Complexity: Expected to be O(*n*) in the number of bytes.
  func replace(with records: [[UInt8]]) async throws
}

/// Makes values into the bytes of a journal, and back.
///
/// `JSONHistoryCoder` in the module `UseCaseJournal` is one. A coder of your own may encrypt.
public protocol HistoryCoder: Sendable {
  /// Returns the bytes of a value.
  ///
  /// - Parameter value: A request, a response, or the title of a group.
  /// - Returns: The bytes.
  /// - Throws: The reason why it has none.
  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8]

  /// Returns the value of bytes that `encode` has returned, perhaps in an older version of the app.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - bytes: The bytes.
  /// - Returns: The value.
  /// - Throws: The reason why it is none. The entry is then ``HistoryEntry/Standing/unreadable``.
  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}
