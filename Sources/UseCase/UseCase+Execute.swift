import UseCaseInternals

extension UseCase {
  /// Executes the request in an operation of its own, with the priority of the current task.
  ///
  /// The queue decides, before `execute` returns, whether the operation runs, waits or is dropped.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The operation, to attach handlers to, to await or to cancel.
  /// - Complexity: O(1), and O(1) for each operation that it supersedes.
  @inlinable @inline(__always) @discardableResult
  public func execute(_ request: Request) -> UseCaseOperation<Request, Response> {
    execute(request, urgency: 0)
  }

  /// Executes the request in an operation of its own.
  ///
  /// - Parameters:
  ///   - request: The input of the use case.
  ///   - priority: The priority of the task that runs `main`, `nil` for that of the current task.
  /// - Returns: The operation, to attach handlers to, to await or to cancel.
  /// - Complexity: O(1), and O(1) for each operation that it supersedes.
  @discardableResult
  public func execute(
    _ request: Request, priority: TaskPriority?
  ) -> UseCaseOperation<Request, Response> {
    execute(request, urgency: priority?.rawValue ?? 0)
  }

  /// Takes the raw value of a priority, 0 for that of the current task. An optional priority would cost
  /// 400 instructions more.
  @inlinable @inline(__always)
  func execute(_ request: Request, urgency: UInt8) -> UseCaseOperation<Request, Response> {
    let operation = operation(for: request, isCall: false)
    operation.submit(urgency: urgency, isCall: false)
    return operation
  }

  /// Executes the request and waits for the response.
  ///
  /// Use this *call form*, `try await useCase(request)`, in the body of another use case, or in any
  /// other task.
  ///
  /// The call form is structured: cancelling the awaiting task cancels the operation, and raising its
  /// priority raises the operation. In a task that is already cancelled, nothing is executed.
  ///
  /// A body can call a use case on a queue whose slot it holds. The call runs inside that slot, and
  /// doesn't wait for another slot. The slot becomes free when the body and every call inside the
  /// slot have ended. This includes calls that the body no longer awaits.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response.
  /// - Throws: The failure of the operation; ``UseCaseTimeout`` as soon as the time has passed;
  ///   `CancellationError` as soon as the operation or the awaiting task is cancelled, and if a newer
  ///   operation has superseded it, even if its answer was there.
  @inlinable @inline(__always)
  nonisolated(nonsending) public func callAsFunction(_ request: Request) async throws -> Response {
    try Task.checkCancellation()
    let operation = operation(for: request, isCall: true)
    return try await operation.call()
  }

  /// Executes the request and waits for the outcome.
  ///
  /// This is the call form for code that tells busy from failed: a queue that drops the operation, or
  /// is closed, cancels it and says why.
  ///
  /// ```swift
  /// switch await pay.outcome(of: order) {
  /// case .success(let receipt): print(receipt)
  /// case .cancelled(.dropped): print("A payment is on its way.")
  /// case .failure(let error): print("failed: \(error)")
  /// case .cancelled: break
  /// }
  /// ```
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The outcome. It is `.cancelled(.requested)` if the awaiting task is cancelled: if it is
  ///   cancelled already, nothing is executed.
  @inlinable
  nonisolated(nonsending) public func outcome(
    of request: Request
  ) async -> UseCaseOutcome<Response> {
    if Task.isCancelled { return .cancelled(.requested) }
    let operation = operation(for: request, isCall: true)
    do {
      return .success(try await operation.call())
    } catch is CancellationError {
      if case .cancelled(let reason)? = operation.core.verdict(isCall: true) {
        return .cancelled(reason)
      }
      return .cancelled(.requested)
    } catch {
      return .failure(error)
    }
  }
}

extension UseCase {
  /// Returns an operation that is not submitted yet.
  @inlinable @inline(__always)
  func operation(
    for request: Request, isCall: Bool
  ) -> UseCaseOperation<Request, Response> {
    UseCaseOperation(core(for: request, isCall: isCall), of: self, request)
  }

  @inlinable @inline(__always)
  func core(for request: Request, isCall: Bool) -> OperationCore {
    OperationCore(
      queue: checkedQueue(for: request), useCaseType: Self.self, isCall: isCall,
      name: useCaseName, description: ExecutionDescription(of: self, request))
  }

  /// The queue for the request. A debug build checks that `queue` is the same at each access.
  @inlinable
  func checkedQueue(for request: Request) -> UseCaseQueue {
    assert(
      queue === queue,
      """
      \(Self.self).queue gives another queue at each access, so it limits nothing. Store it: \
      `let queue = UseCaseQueue(…)`. To share it among all values, store it in a `static let`, \
      and return that from `queue`.
      """)
    assert(hasNoIgnoredProperty(self))
    assert(HeldSlots.objection(to: self) == nil, HeldSlots.objection(to: self) ?? "")
    return queue(for: request)
  }
}

/// Traps if the use case has a property that the library would ignore: a queue that is optional, or a
/// timeout that isn't a `Duration`, doesn't meet the requirement, so the default does. Each type of a
/// value is asked once.
@usableFromInline
func hasNoIgnoredProperty(_ useCase: some UseCase) -> Bool {
  let type = type(of: useCase)
  // The properties of an object may be changed at this moment.
  if type is AnyObject.Type { return true }
  guard checkedTypes.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return true }
  for child in Mirror(reflecting: useCase).children {
    guard let name = child.label, name == "queue" || name == "timeout" else { continue }
    if Mirror(reflecting: child.value).displayStyle == .optional {
      fatalError(
        """
        \(type).\(name) is optional, so it is ignored, and the default of `\(name)` is used. Give it a \
        type that isn't optional.
        """)
    }
    if name == "timeout", !(child.value is Duration) {
      fatalError(
        """
        \(type).timeout is of the type \(Swift.type(of: child.value)), so it is ignored, and there is no \
        timeout. Make it a `Duration`, as in `Duration.seconds(5)`, or give it another name.
        """)
    }
  }
  return true
}

private let checkedTypes = Lock<Set<ObjectIdentifier>>([])

extension ExecutionDescription {
  @usableFromInline
  init(of useCase: some UseCase, _ request: some Sendable) {
    let described = useCase as? any DescribedUseCase
    self.init(
      baseType: described?.baseType ?? type(of: useCase), words: described?.describe(request))
  }
}

extension UseCase where Request == Void {
  /// Executes the use case in an operation of its own.
  ///
  /// - Returns: The operation, to attach handlers to, to await or to cancel.
  /// - Complexity: O(1), and O(1) for each operation that it supersedes.
  @inlinable @discardableResult
  public func execute() -> UseCaseOperation<Void, Response> {
    execute(())
  }

  /// Executes the use case and waits for the response.
  ///
  /// - Returns: The response.
  /// - Throws: The same as ``callAsFunction(_:)``.
  @inlinable
  nonisolated(nonsending) public func callAsFunction() async throws -> Response {
    try await callAsFunction(())
  }

  /// Executes the use case and waits for the outcome.
  ///
  /// - Returns: The outcome, as ``outcome(of:)`` does.
  @inlinable
  nonisolated(nonsending) public func outcome() async -> UseCaseOutcome<Response> {
    await outcome(of: ())
  }
}
