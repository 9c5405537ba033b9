public import Observation

/// A use case as a view sees it: its newest value, its newest error, and whether it runs.
///
/// ```swift
/// struct SearchView: View {
///   @State private var search = UseCaseModel(Search())
///   @State private var text = ""
///
///   var body: some View {
///     NavigationStack {
///       List(search.value ?? [], id: \.self) { Text($0) }
///         .searchable(text: $text)
///         .onChange(of: text) { search.execute(text) }
///         .overlay { if search.isRunning { ProgressView() } }
///     }
///   }
/// }
/// ```
///
/// An operation that ends late never overwrites the value or the error of a newer operation. The model
/// changes before any handler of the operation runs, in the same go of the main actor. When the model
/// is deallocated, its operations are cancelled: so a handler that captures the object which keeps the
/// model has to capture it weakly. A model that saves lets them go on: see
/// ``init(_:cancelsOnRelease:)-(Base,_)``.
@MainActor @Observable
public final class UseCaseModel<Base: UseCase> {
  /// The response of the newest operation that has succeeded. Only the model sets it.
  public private(set) var value: Base.Response?

  /// The error of the newest operation that has failed; `nil` once a later operation has succeeded.
  /// Only the model sets it.
  public private(set) var error: (any Error)?

  /// Whether an operation has no outcome yet, or handlers of its outcome have not run.
  ///
  /// An operation whose time has passed, or that was cancelled, doesn't count any more when its
  /// handlers have run, even if its body still runs. No operation counts in its own handlers.
  public var isRunning: Bool {
    let handled = HeldSlots.handled
    return running.values.contains { $0.id != handled || $0.outcome == nil }
  }

  /// Whether another operation has no outcome yet, and may deliver one.
  func isUndecided(
    besides operation: UseCaseOperation<Base.Request, Base.Response>
  ) -> Bool {
    running.values.contains { $0 !== operation && $0.outcome == nil && $0.core.mayDeliver }
  }

  /// The use case that the model executes.
  @ObservationIgnored public let useCase: Base

  /// The queue of the use case.
  public var queue: UseCaseQueue { useCase.queue }

  /// The operations that run, by the numbers of their executions.
  private var running: [Int: UseCaseOperation<Base.Request, Base.Response>] = [:]
  @ObservationIgnored private var executed = 0
  @ObservationIgnored private var newestValue = 0
  @ObservationIgnored private var newestError = 0
  @ObservationIgnored private let scope = UseCaseScope()
  private let cancelsOnRelease: Bool

  /// Creates a model that has executed nothing yet.
  ///
  /// - Parameters:
  ///   - useCase: The use case that the model executes.
  ///   - cancelsOnRelease: Whether the operations are cancelled when the model is deallocated. Pass
  ///     `false` for a model that saves: when its screen goes away, the last save goes on.
  public init(_ useCase: Base, cancelsOnRelease: Bool = true) {
    self.useCase = useCase
    self.cancelsOnRelease = cancelsOnRelease
  }

  deinit { if !cancelsOnRelease { scope.release() } }

  /// Executes the request, and shows its outcome in this model.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The operation, for more handlers.
  /// - Complexity: That of the `execute` of the use case.
  @discardableResult
  public func execute(_ request: Base.Request) -> UseCaseOperation<Base.Request, Base.Response> {
    execute(useCase.operation(for: request, isCall: false))
  }

  /// Cancels all operations that run or wait. None of them changes the model afterwards.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancel() {
    scope.cancelAll()
    running = [:]
  }

  /// Cancels all operations, and forgets the value and the error: the model is as new.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func reset() {
    cancel()
    value = nil
    error = nil
  }

  /// Submits the operation, and shows what becomes of it. The model hears of the outcome before all
  /// handlers, and of the end with the last one.
  func execute(
    _ operation: UseCaseOperation<Base.Request, Base.Response>
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    executed += 1
    let number = executed
    // A failure that comes when the model has gone is shown by nobody, and so not handled.
    operation.settle { [weak self] outcome in self?.settle(number, outcome) != nil }
    operation.core.listen(for: .delivered) { [weak self] isolation in
      guard isolation === MainActor.shared else {
        Task { @MainActor in self?.running[number] = nil }
        return
      }
      MainActor.assumeIsolated { self?.running[number] = nil }
    }
    operation.submit(isCall: false)
    switch operation.outcome {
    case .cancelled?: break  // A refused operation never runs.
    case .success?, .failure?, nil: running[number] = operation
    }
    return operation.store(in: scope)
  }

  private func settle(_ number: Int, _ outcome: UseCaseOutcome<Base.Response>) {
    switch outcome {
    case .success(let value):
      guard newestValue < number else { return }
      newestValue = number
      self.value = value
      if newestError < number { error = nil }
    case .failure(let error):
      guard max(newestValue, newestError) < number else { return }
      newestError = number
      self.error = error
    case .cancelled: break
    }
  }
}

extension UseCaseOperation {
  /// Calls the handler on the main actor before all others, with the outcome as they are told of it. The
  /// handler returns whether it handles a failure.
  ///
  /// Returns false if there is an outcome already, and does not call the handler.
  @MainActor @discardableResult
  func settle(_ handler: @escaping @MainActor (UseCaseOutcome<Response>) -> Bool) -> Bool {
    core.attachFirst(
      Handler(.settlement, on: MainActor.shared) { verdict in
        MainActor.assumeIsolated {
          verdict.flatMap(self.outcome(of:)).map(handler) ?? true
        }
      })
  }
}

extension UseCaseModel {
  /// Creates a model of a use case whose type is not known.
  ///
  /// - Parameters:
  ///   - base: The use case that the model executes.
  ///   - cancelsOnRelease: Whether the operations are cancelled when the model is deallocated.
  public convenience init<Request, Response>(
    _ base: any UseCase<Request, Response>, cancelsOnRelease: Bool = true
  ) where Base == AnyUseCase<Request, Response> {
    self.init(AnyUseCase(base), cancelsOnRelease: cancelsOnRelease)
  }
}

extension UseCaseModel where Base.Request == Void {
  /// Executes the use case, and shows its outcome in this model.
  ///
  /// - Returns: The operation, for more handlers.
  /// - Complexity: That of the `execute` of the use case.
  @discardableResult
  public func execute() -> UseCaseOperation<Void, Base.Response> { execute(()) }
}

/// A ``ReportingUseCase`` as a view sees it: the properties of ``UseCaseModel``, and the latest
/// update.
///
/// A view uses it as it uses a ``UseCaseModel``. When the model is deallocated, its operations are
/// cancelled, unless ``init(_:cancelsOnRelease:)`` says otherwise.
@MainActor @Observable
public final class ReportingUseCaseModel<Base: ReportingUseCase> {
  /// The latest update of the newest operation that has reported. Only the model sets it.
  ///
  /// Executing an operation resets it to `nil`, unless an earlier operation goes on. So an incoming
  /// operation that waits or is dropped doesn't reset the update of the running one.
  public private(set) var update: Base.Update?

  /// The response of the newest operation that has succeeded.
  public var value: Base.Response? { model.value }

  /// The error of the newest operation that has failed; `nil` once a later operation has succeeded.
  public var error: (any Error)? { model.error }

  /// Whether an operation runs, as ``UseCaseModel/isRunning`` says.
  public var isRunning: Bool { model.isRunning }

  /// The use case that the model executes.
  public var useCase: Base { model.useCase }

  /// The queue of the use case.
  public var queue: UseCaseQueue { model.queue }

  @ObservationIgnored private let model: UseCaseModel<Base>
  @ObservationIgnored private var executed = 0
  @ObservationIgnored private var newestUpdate = 0

  /// Creates a model that has executed nothing yet.
  ///
  /// - Parameters:
  ///   - useCase: The use case that the model executes.
  ///   - cancelsOnRelease: Whether the operations are cancelled when the model is deallocated, as in
  ///     ``UseCaseModel``.
  public init(_ useCase: Base, cancelsOnRelease: Bool = true) {
    model = UseCaseModel(useCase, cancelsOnRelease: cancelsOnRelease)
  }

  /// Executes the request, and shows its updates and its outcome in this model.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The operation, for more handlers.
  /// - Complexity: That of the `execute` of the use case.
  @discardableResult
  public func execute(_ request: Base.Request) -> UseCaseOperation<Base.Request, Base.Response> {
    executed += 1
    let operation = useCase.operation(for: request, isCall: false) { core in
      { [weak self, executed] update in
        core.report(
          Callback(isolation: MainActor.shared) { _ in
            MainActor.assumeIsolated { self?.show(update, executed) }
            return false
          })
      }
    }
    defer {
      if !model.isUndecided(besides: operation) {
        update = nil
        newestUpdate = executed
      }
    }
    return model.execute(operation)
  }

  private func show(_ update: Base.Update, _ number: Int) {
    guard newestUpdate <= number else { return }
    newestUpdate = number
    self.update = update
  }

  /// Cancels all operations that run or wait. None of them changes the model afterwards.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancel() { model.cancel() }

  /// Cancels all operations, and forgets the value, the error and the update: the model is as new.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func reset() {
    model.reset()
    update = nil
    // An update on its way comes too late.
    executed += 1
    newestUpdate = executed
  }
}

extension ReportingUseCaseModel where Base.Request == Void {
  /// Executes the use case, and shows its updates and its outcome in this model.
  ///
  /// - Returns: The operation, for more handlers.
  /// - Complexity: That of the `execute` of the use case.
  @discardableResult
  public func execute() -> UseCaseOperation<Void, Base.Response> { execute(()) }
}
