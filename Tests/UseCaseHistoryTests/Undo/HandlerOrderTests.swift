import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// The handlers of executions, undos and redos run in the order of the operations.
@Suite(.mustEnd)
struct HandlerOrderTests {
  enum Place: CaseIterable { case mainActor, actor, none, mixed }

  /// Each seventh edit fails, and each undo takes a few turns.
  private struct Edit: UndoableUseCase {
    let start: Gate

    func main(_ request: Int) async throws -> Int {
      await start.passIgnoringCancellation()
      for _ in 0..<request % 3 { await Task.yield() }
      if request % 7 == 6 { throw Failure("edit") }
      return request
    }

    func undo(_ request: Int, _ response: Int) async throws {
      for _ in 0..<request % 2 { await Task.yield() }
    }
  }

  private actor Screen {
    private var count = 0

    func attach<Request, Response>(
      to operation: UseCaseOperation<Request, Response>, _ note: @escaping @Sendable (Int) -> Void
    ) {
      operation
        .then { _ in self.run { note(1) } }
        .catch { _ in self.run { note(1) } }
        .common { self.run { note(2) } }
        .finally { self.run { note(3) } }
    }

    private func run(_ handler: () -> Void) {
      count += 1
      handler()
    }
  }

  private let screen = Screen()
  private let log = Log<[Int]>()

  private func attach<Request, Response>(
    to operation: UseCaseOperation<Request, Response>, _ note: @escaping @Sendable (Int) -> Void
  ) {
    operation.then { _ in note(1) }.catch { _ in note(1) }.common { note(2) }.finally { note(3) }
  }

  @MainActor private func attachOnMainActor<Request, Response>(
    to operation: UseCaseOperation<Request, Response>, _ note: @escaping @Sendable (Int) -> Void
  ) {
    operation.then { _ in note(1) }.catch { _ in note(1) }.common { note(2) }.finally { note(3) }
  }

  private func attach<Request, Response>(
    _ number: Int, to operation: UseCaseOperation<Request, Response>, at place: Place
  ) async {
    let note: @Sendable (Int) -> Void = { [log] moment in log.append([number, moment]) }
    switch place {
    case .mainActor: await attachOnMainActor(to: operation, note)
    case .actor: await screen.attach(to: operation, note)
    case .none: attach(to: operation, note)
    case .mixed:
      await attach(number, to: operation, at: [.mainActor, .actor, .none][number % 3])
    }
  }

  @Test(arguments: Place.allCases)
  func `of five thousand executions, undos and redos no handler is out of order`(
    place: Place
  ) async {
    let count =
      ProcessInfo.processInfo.environment["ORDER_TRIES"].flatMap { Int($0) } ?? 5_000
    let history = UseCaseHistory()
    let edit = Edit(start: Gate())
    for number in 0..<count {
      switch number % 4 {
      case 2: await attach(number, to: history.undo(), at: place)
      case 3: await attach(number, to: history.redo(), at: place)
      default: await attach(number, to: history.execute(edit, number), at: place)
      }
    }
    // Everything has its handlers before the first body returns.
    edit.start.open()
    await history.idle()
    let lines = log.elements
    #expect(lines.count == 3 * count)
    #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
  }

  @Test(arguments: Place.allCases)
  func `an undo that is asked for while the execution is delivered comes after it`(
    place: Place
  ) async {
    let history = UseCaseHistory()
    for round in 0..<500 {
      let edit = Edit(start: Gate())
      await attach(3 * round, to: history.execute(edit, 7 * round), at: place)
      edit.start.open()
      for _ in 0..<round % 5 { await Task.yield() }
      // It may answer at once: its handlers are attached before it could be asked for again.
      let undo = history.undo()
      await attach(3 * round + 1, to: undo, at: place)
      await undo.ended()
      await history.idle()
    }
    let branches = log.elements.filter { $0[1] == 1 }.map { $0[0] }
    #expect(branches == branches.sorted() && branches.count == 1_000)
  }
}
