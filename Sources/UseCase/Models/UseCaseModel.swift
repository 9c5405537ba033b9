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
/// An operation that ends late never overwrites the value or the error of a newer operation. When
/// the model is deallocated, its operations are cancelled. A model that saves lets them go on: see
/// ``init(_:cancelsOnRelease:)``.
@MainActor @Observable
public final class UseCaseModel<Base: UseCase> {
  /// The response of the newest operation that has succeeded. Only the model sets it.
  public private(set) var value: Base.Response?

  /// The error of the newest operation that has failed; `nil` once a later operation has succeeded.
  /// Only the model sets it.
  public private(set) var error: (any Error)?

  /// Whether an operation has no outcome yet. An operation whose time has passed, or that was
  /// cancelled, doesn't count, even if its body still runs.
  public var isRunning: Bool { !running.isEmpty }

  /// Whether an operation has no outcome yet, also if its handlers are still on their way here.
  var isUndecided: Bool { running.values.contains { $0.outcome == nil } }

  @ObservationIgnored let useCase: Base
  private var running: [UseCaseOperationID: UseCaseOperation<Base.Request, Base.Response>] = [:]
  @ObservationIgnored private var newestValue: UseCaseOperationID?
  @ObservationIgnored private var newestError: UseCaseOperationID?
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
    follow(useCase.execute(request))
  }

  /// Cancels all operations that run or wait. None of them changes the model afterwards.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancel() {
    scope.cancelAll()
    running = [:]
  }

  /// Shows what becomes of the operation.
  func follow(
    _ operation: UseCaseOperation<Base.Request, Base.Response>
  ) -> UseCaseOperation<Base.Request, Base.Response> {
    let id = operation.id
    switch operation.outcome {
    case .cancelled?: break  // A dropped operation never runs.
    case .success?, .failure?, nil: running[id] = operation
    }
    return
      operation
      .then { [weak self] value in self?.succeed(id, with: value) }
      .catch { [weak self] error in self?.fail(id, with: error) }
      .onCancel { [weak self] _ in self?.running[id] = nil }
      .store(in: scope)
  }

  private func succeed(_ id: UseCaseOperationID, with value: Base.Response) {
    running[id] = nil
    guard newestValue.map({ $0 < id }) ?? true else { return }
    newestValue = id
    self.value = value
    if let newestError, newestError < id { error = nil }
  }

  private func fail(_ id: UseCaseOperationID, with error: any Error) {
    running[id] = nil
    guard [newestValue, newestError].allSatisfy({ $0.map { $0 < id } ?? true }) else { return }
    newestError = id
    self.error = error
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

  /// Whether an operation has no outcome yet, as in ``UseCaseModel``.
  public var isRunning: Bool { model.isRunning }

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
    let operation = model.useCase.execute(request) { [weak self, executed] update in
      guard let self, newestUpdate <= executed else { return }
      newestUpdate = executed
      self.update = update
    }
    if !model.isUndecided {
      update = nil
      newestUpdate = executed
    }
    return model.follow(operation)
  }

  /// Cancels all operations that run or wait. None of them changes the model afterwards.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancel() { model.cancel() }
}

extension ReportingUseCaseModel where Base.Request == Void {
  /// Executes the use case, and shows its updates and its outcome in this model.
  ///
  /// - Returns: The operation, for more handlers.
  /// - Complexity: That of the `execute` of the use case.
  @discardableResult
  public func execute() -> UseCaseOperation<Void, Base.Response> { execute(()) }
}
