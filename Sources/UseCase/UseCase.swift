/// An action of your app, such as a search or a download: it takes a request and returns a
/// response.
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
/// For no input, use `Void`, as in `func main(_: Void)`, and call `execute()`.
///
/// A use case creates operations, and keeps no state of its own between them. Each call of
/// ``execute(_:)`` creates a ``UseCaseOperation`` with its own handlers and outcome. The
/// *body* of an operation is the ``main(_:)`` that runs for it. The ``queue`` of the use case
/// decides how many operations run at a time, and which are cancelled.
public protocol UseCase<Request, Response>: Sendable {
  /// The input of an execution.
  associatedtype Request: Sendable

  /// The result of an execution.
  associatedtype Response: Sendable

  /// The queue of the operations. The default is ``UseCaseQueue/default``, which is unlimited.
  ///
  /// Store the queue in a `let`, whose type isn't optional. To share it among all values of the type, return a `static let`
  /// from `queue`. A computed property that creates a queue limits nothing, because each access
  /// returns a new queue. In a `@MainActor` type or an actor, mark a computed property
  /// `nonisolated`.
  var queue: UseCaseQueue { get }

  /// Returns the queue for one request. The default is ``queue``.
  ///
  /// Each execution calls this method once. In a `@MainActor` type or an actor, mark it
  /// `nonisolated`.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: A queue that other requests share, such as one of ``UseCaseLanes``. A new queue for
  ///   each request limits nothing.
  /// - Complexity: Expected to be O(1). The method runs on the thread that calls `execute`.
  func queue(for request: Request) -> UseCaseQueue

  /// The name of the use case in events, to interceptors, and in the titles of a history. The default
  /// is the name of the type. A wrapper of the library has the name of its base.
  ///
  /// In a `@MainActor` type or an actor, mark it `nonisolated`.
  var useCaseName: String { get }

  /// How long a body may take, from its start, on the clock of the queue. The default is
  /// ``UseCaseTimeout/never``.
  ///
  /// ```swift
  /// let timeout = Duration.seconds(5)
  /// ```
  ///
  /// When the time has passed, the operation fails with ``UseCaseTimeout`` at once, and the task of
  /// the body is cancelled.
  var timeout: Duration { get }

  /// Answers one request.
  ///
  /// Each operation runs `main` once, in a task of its own. The task inherits the priority and the
  /// task-local values of the code that executes the use case. An interceptor can skip `main` or
  /// repeat it. The operation holds a slot of its ``UseCaseQueue`` until `main` has returned, and its
  /// handlers have run.
  ///
  /// The isolation of the type decides where `main` runs. In a plain struct it runs on no actor,
  /// even in a module whose default isolation is the main actor. In a `@MainActor` type it runs on
  /// the main actor, and in an actor on that actor.
  ///
  /// - Parameter request: The input.
  /// - Returns: The response.
  /// - Throws: Any error, which becomes the failure of the operation. Throw `CancellationError` to
  ///   end the operation as cancelled.
  func main(_ request: Request) async throws -> Response
}

extension UseCase {
  /// The queue for the whole process, which is unlimited.
  public var queue: UseCaseQueue { .default }

  /// Returns ``queue`` for every request.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: The queue.
  @inlinable public func queue(for request: Request) -> UseCaseQueue { queue }

  /// The name of the type.
  public var useCaseName: String { String(describing: Self.self) }

  /// No timeout: a body may take as long as it likes.
  public var timeout: Duration { UseCaseTimeout.never }
}
