/// Something that your app can do, as a value: it answers one kind of request.
///
/// ```swift
/// struct Greet: UseCase {
///   func main(_ name: String) async throws -> String { "Hello, \(name)!" }
/// }
///
/// Greet().execute("Ada").then { greeting in print(greeting) }  // Hello, Ada!
/// let greeting = try await Greet()("Grace")  // Hello, Grace!
/// ```
///
/// For no input, use `Void`, as in `func main(_: Void)`, and execute it with
/// `execute()`.
///
/// A use case is a factory of operations and holds no state of a run: each ``execute(_:priority:)``
/// makes a fresh ``UseCaseOperation`` with its own handlers and outcome. Its ``queue`` decides how
/// many of them run and which are cancelled.
public protocol UseCase<Request, Response>: Sendable {
  /// The input of an execution.
  associatedtype Request: Sendable

  /// The result of an execution.
  associatedtype Response: Sendable

  /// Where its operations run. The default is ``UseCaseQueue/default``, which is unlimited.
  ///
  /// Store it in a `let`: a computed property creates a new queue at every access, and limits
  /// nothing.
  var queue: UseCaseQueue { get }

  /// Where the operation of one request runs: asked once for each execution. The default is
  /// ``queue``.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: A queue that others find, too, such as one of ``UseCaseLanes``.
  /// - Complexity: Expected to be O(1): it is called on the thread that executes.
  func queue(for request: Request) -> UseCaseQueue

  /// How long a body may take, from its start, on the clock of the queue. The default is
  /// ``UseCaseTimeout/never``.
  ///
  /// ```swift
  /// let timeout = Duration.seconds(5)
  /// ```
  ///
  /// When the time has passed, the operation fails with ``UseCaseTimeout`` at once, and its task is
  /// cancelled.
  var timeout: Duration { get }

  /// Answers one request.
  ///
  /// It runs once for each operation, in a task of its own, with the priority and the task-local
  /// values of the `execute` that asked for it. The type decides where it runs: the `main` of a plain
  /// struct on no actor, even in a module whose default isolation is the main actor; that of a
  /// `@MainActor` type on the main actor; that of an actor on the actor.
  ///
  /// - Parameter request: The input.
  /// - Returns: The response.
  /// - Throws: The failure of the operation, or `CancellationError` to give up.
  /// - Complexity: Yours. The operation holds its slot until this has returned.
  func main(_ request: Request) async throws -> Response
}

extension UseCase {
  /// The queue for the whole process, which is unlimited.
  public var queue: UseCaseQueue { .default }

  /// The ``queue``, for every request.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: The queue.
  @inlinable public func queue(for request: Request) -> UseCaseQueue { queue }

  /// No timeout: a body may take as long as it likes.
  public var timeout: Duration { UseCaseTimeout.never }
}
