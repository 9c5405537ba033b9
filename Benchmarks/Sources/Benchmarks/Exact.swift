import CountingMalloc
import Dispatch
import UseCase
import UseCaseHistory

/// A path of the library whose allocations and instructions are counted.
///
/// Everything runs in one task, or is started by it, so that the counts depend on as little as
/// possible beside the code.
struct Path: Sendable {
  let name: String
  let run: @Sendable (_ count: Int, _ client: Client) async throws -> Void

  static let all = [
    Path(name: "task") { count, client in
      for number in 0..<count { Task { client.take(twice(number)) } }
    },
    Path(name: "thenByHand") { count, client in
      let queue = ByHand.Queue()
      for number in 0..<count { ByHand(number, in: queue).execute().then { client.take($0) } }
    },
    Path(name: "then") { count, client in
      let useCase = Twice()
      for number in 0..<count { useCase.execute(number).then { client.take($0) } }
    },
    Path(name: "lane") { count, client in
      let useCase = TwiceOnLanes(count: 1)
      for number in 0..<count { useCase.execute(number).then { client.take($0) } }
    },
    Path(name: "lanes") { count, client in
      let useCase = TwiceOnLanes(count: 8)
      for number in 0..<count { useCase.execute(number).then { client.take($0) } }
    },
    Path(name: "taskValue") { count, client in
      for number in 0..<count { client.take(await Task { twice(number) }.value) }
    },
    Path(name: "valueByHand") { count, client in
      let queue = ByHand.Queue()
      for number in 0..<count {
        client.take(try await ByHand(number, in: queue).execute().value)
      }
    },
    Path(name: "value") { count, client in
      let useCase = Twice()
      for number in 0..<count { client.take(try await useCase.execute(number).value) }
    },
    Path(name: "call") { count, client in
      let useCase = Twice()
      for number in 0..<count { client.take(try await useCase(number)) }
    },
    Path(name: "taskAfterTask") { count, client in
      var last: Task<Void, Never>?
      for number in 0..<count {
        last = Task { [previous = last] in
          await previous?.value
          client.take(twice(number))
        }
      }
    },
    Path(name: "serial") { count, client in
      let useCase = Twice(queue: UseCaseQueue(.serial))
      for number in 0..<count { useCase.execute(number).then { client.take($0) } }
    },
    Path(name: "serialIntercepted") { count, client in
      let useCase = Twice(queue: UseCaseQueue(.serial, interceptors: [Passing()]))
      for number in 0..<count { useCase.execute(number).then { client.take($0) } }
    },
    Path(name: "cancelTask") { count, client in
      var last: Task<Void, Never>?
      for number in 0..<count {
        last?.cancel()
        last = Task { client.take(Task.isCancelled ? 0 : twice(number)) }
      }
    },
    Path(name: "cancelByHand") { ByHand.storm($0, $1) },
    Path(name: "cancelPrevious") { count, client in
      let useCase = Twice(queue: UseCaseQueue(.cancelPrevious))
      for number in 0..<count { useCase.execute(number).finally { client.take(number) } }
    },
    Path(name: "shared") { count, client in
      let useCase = Twice(queue: UseCaseQueue()).shared()
      for number in 0..<count { useCase.execute(number / 10).then { client.take($0) } }
    },
    Path(name: "recorded") { count, client in
      let useCase = Undoable().recorded(in: UseCaseHistory())
      for number in 0..<count { useCase.execute(number).then { client.take($0) } }
    },
    Path(name: "recordedIntercepted") { count, client in
      let useCase = UndoableIntercepted().recorded(in: UseCaseHistory())
      for number in 0..<count { useCase.execute(number).then { client.take($0) } }
    },
    Path(name: "undoAndRedo") { count, client in
      let history = UseCaseHistory()
      _ = try await history.execute(Undoable(), 1).value
      for number in 0..<count {
        history.undo()
        history.redo().then { _ in client.take(number) }
      }
    },
  ]

  /// Runs the path, and returns how often it allocates.
  func allocations(count: Int) -> Int {
    let client = Client(count)
    counting_malloc_switch(true)
    Task { try await run(count, client) }
    client.wait()
    return counting_malloc_calls()
  }
}
