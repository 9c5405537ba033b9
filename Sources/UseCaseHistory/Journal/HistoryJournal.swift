/// An ordered list of opaque records, to which a history writes what it does. A later launch
/// restores the history from these records.
///
/// `FileJournal` in the module `UseCaseJournal` is a journal in a file. To use a database,
/// implement a journal with a table of blobs, and an ascending key.
///
/// The history calls one method at a time, `read` first.
/// ``UseCaseHistory/open(_:for:interrupted:limit:mergeWindow:clock:)`` reads and replaces the
/// records in the task that calls it. All later calls come from tasks that are never cancelled,
/// except those of ``TransactionalJournal/transaction(_:)``.
public protocol HistoryJournal: Sendable {
  /// Encodes requests, responses and the titles of groups. Besides these bytes, a record contains
  /// only numbers, and the name of the use case.
  var coder: any HistoryCoder { get }

  /// Returns all records in order, except a last record that was only partly written when the
  /// process ended.
  ///
  /// - Returns: The records.
  /// - Throws: The reason why the records can't be read.
  /// - Complexity: O(*n*) in the number of bytes.
  func read() async throws -> [[UInt8]]

  /// Appends a record. Return when the record is durable.
  ///
  /// Each recorded execution, undo and redo awaits two appends: one before its body runs, and one
  /// before its handlers run, except `onStart`. In a ``TransactionalJournal`` it awaits one
  /// transaction instead, and appends are rare.
  ///
  /// - Parameter record: The bytes.
  /// - Throws: The reason why the record couldn't be written. You may throw even if the record was
  ///   written: the history copes with that.
  /// - Complexity: Expected to be O(*n*) in the number of bytes of the record.
  func append(_ record: [UInt8]) async throws

  /// Replaces all records with these, atomically.
  ///
  /// - Parameter records: The new records.
  /// - Throws: The reason why the replacement failed. The journal then has all of the old records,
  ///   or all of the new ones.
  /// - Complexity: Expected to be O(*n*) in the number of bytes.
  func replace(with records: [[UInt8]]) async throws
}

/// A journal whose appends take no longer than a copy of their bytes, at times. The history makes
/// no task for those.
package protocol PromptJournal: AnyObject, HistoryJournal {
  /// Whether `appendAtOnce` is worth the call.
  var isPrompt: Bool { get }

  /// Appends the record. Returns false, with nothing done, if that has to be awaited.
  func appendAtOnce(_ record: [UInt8]) throws -> Bool
}

/// A journal in the database of the document: what a use case changes there, and the record of it,
/// are committed together, or neither is.
///
/// With such a journal the history runs each recorded body, undo and redo, and each part of a
/// group, inside of ``transaction(_:)``, one at a time. So nothing is ever in doubt, and
/// ``JournaledUseCase/settle(_:)`` is never called.
///
/// The database is locked for as long as a body takes: call no server in it. A part of a group that
/// waits for another part of the group waits for ever.
public protocol TransactionalJournal: HistoryJournal {
  /// Begins a transaction, runs `body` in it, appends the record that `body` returns, and commits.
  ///
  /// The history calls `transaction` in the task of the body, whose task-local values and
  /// cancellation reach `body`, and calls no other method of the journal before it has returned.
  ///
  /// A target with the feature `NonisolatedNonsendingByDefault` writes the type of `body` as
  /// `@concurrent @Sendable () async throws -> [UInt8]`.
  ///
  /// - Parameter body: Changes the document, and returns the bytes of the record. Call it once, in
  ///   the same task: it throws if it is called again.
  /// - Throws: The error of `body`, or the reason why the transaction failed. All is then as before
  ///   the call, and the execution, undo or redo fails: with the error of `body` if that has thrown,
  ///   otherwise with this error.
  func transaction(_ body: @Sendable () async throws -> [UInt8]) async throws
}

/// Encodes the values of a history for its journal, and decodes them.
///
/// `JSONHistoryCoder` in the module `UseCaseJournal` is a coder for JSON. A coder of your own may
/// encrypt.
public protocol HistoryCoder: Sendable {
  /// Returns the bytes of a value.
  ///
  /// - Parameter value: A request, a response, or the title of a group.
  /// - Returns: The bytes.
  /// - Throws: The reason why the value can't be encoded.
  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8]

  /// Returns a value from its bytes. An older version of the app may have encoded them.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - bytes: The bytes.
  /// - Returns: The value.
  /// - Throws: The reason why the bytes can't be decoded. An entry whose request or response can't
  ///   be decoded is ``HistoryEntry/Standing/unreadable``. If the title of a group can't be
  ///   decoded, `open` fails.
  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}

/// The fate of a group that the end of the process has interrupted.
public enum HistoryInterruption: Hashable, Sendable {
  /// The parts of the group are undone when the history is opened again, as if its body had thrown.
  case compensate

  /// The parts that took effect stay, and become one entry.
  case keep
}
