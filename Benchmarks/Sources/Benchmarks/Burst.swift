import Dispatch
import Foundation
import UseCase

extension Scenario {
  /// Many at once, each with one handler.
  static let burst = Scenario(
    name: "burst: execute + then",
    contestants: [
      Contestant("bare Task", isBare: true, count: 5_000) { count, client in
        for number in 0..<count { Task { client.take(twice(number)) } }
      },
      Contestant("by hand", count: 5_000) { count, client in
        let queue = ByHand.Queue()
        for number in 0..<count { ByHand(number, in: queue).execute().then { client.take($0) } }
      },
      Contestant("UseCase", .atMost(1.25, of: "bare Task"), count: 5_000) { count, client in
        let useCase = Twice()
        for number in 0..<count { useCase.execute(number).then { client.take($0) } }
      },
      Contestant("DispatchQueue.async", count: 5_000) { count, client in
        let queue = DispatchQueue.global()
        for number in 0..<count { queue.async { client.take(twice(number)) } }
      },
      .blocks(limit: OperationQueue.defaultMaxConcurrentOperationCount, count: 5_000),
      .callbacks(limit: OperationQueue.defaultMaxConcurrentOperationCount, count: 5_000),
    ])

  /// One after the other, each awaited.
  static let roundTrip = Scenario(
    name: "round trip: execute + value",
    contestants: [
      Contestant("bare Task", isBare: true, inTask: 5_000) { count in
        for number in 0..<count { _ = await Task { twice(number) }.value }
      },
      Contestant("by hand", inTask: 5_000) { count in
        let queue = ByHand.Queue()
        for number in 0..<count { _ = try await ByHand(number, in: queue).execute().value }
      },
      Contestant("UseCase", .atMost(1.4, of: "bare Task"), inTask: 5_000) { count in
        let useCase = Twice()
        for number in 0..<count { _ = try await useCase.execute(number).value }
      },
      Contestant("DispatchQueue.async", inTask: 5_000) { count in
        let queue = DispatchQueue.global()
        for number in 0..<count {
          _ = await withUnsafeContinuation { continuation in
            queue.async { continuation.resume(returning: twice(number)) }
          }
        }
      },
      Contestant("OperationQueue", .atLeast(2, of: "UseCase"), inTask: 5_000) { count in
        let queue = OperationQueue()
        for number in 0..<count {
          _ = await withUnsafeContinuation { continuation in
            queue.addBlock(number) { continuation.resume(returning: $0) }
          }
        }
      },
      Contestant("2017 design", .atLeast(2.5, of: "UseCase"), inTask: 5_000) { count in
        let queue = OperationQueue()
        let delivery = DispatchQueue(label: "delivery")
        for number in 0..<count {
          _ = await withUnsafeContinuation { continuation in
            queue.addCallback(number, delivery: delivery) { continuation.resume(returning: $0) }
          }
        }
      },
    ])

  /// The call form in a body, in its slot, and the same in a task by hand.
  static let nested = Scenario(
    name: "call form in a body",
    contestants: [
      Contestant("bare Task", isBare: true, inTask: 5_000) { count in
        for number in 0..<count {
          let task = Task { twice(number) }
          _ = await withTaskCancellationHandler {
            await task.value
          } onCancel: {
            task.cancel()
          }
        }
      },
      Contestant("by hand", inTask: 5_000) { count in
        let queue = ByHand.Queue()
        for number in 0..<count {
          let operation = ByHand(number, in: queue).execute()
          _ = try await withTaskCancellationHandler {
            try await operation.value
          } onCancel: {
            operation.cancel()
          }
        }
      },
      Contestant("UseCase", inTask: 5_000) { count in
        let inner = Twice(queue: UseCaseQueue(.serial))
        let outer = AnyUseCase<Int, Void>(queue: inner.queue) { count in
          for number in 0..<count { _ = try await inner(number) }
        }
        try await outer(count)
      },
    ])

  /// From the main actor and back to it: the results of many for one client.
  static let mainActor = Scenario(
    name: "to the main actor",
    contestants: [
      Contestant("bare Task", isBare: true, count: 10_000) { count, client in
        onMainActor(client) { screen in
          for number in 0..<count {
            Task { @concurrent in
              let value = twice(number)
              await screen.show(value)
            }
          }
        }
      },
      Contestant("by hand", count: 10_000) { count, client in
        onMainActor(client) { screen in
          let queue = ByHand.Queue()
          for number in 0..<count {
            ByHand(number, in: queue).execute().then { @MainActor value in screen.show(value) }
          }
        }
      },
      Contestant("UseCase", count: 10_000) { count, client in
        onMainActor(client) { screen in
          let useCase = Twice()
          for number in 0..<count { useCase.execute(number).then { screen.show($0) } }
        }
      },
      Contestant("DispatchQueue.async", count: 10_000) { count, client in
        DispatchQueue.main.async {
          for number in 0..<count {
            DispatchQueue.global().async {
              let value = twice(number)
              DispatchQueue.main.async { client.take(value) }
            }
          }
        }
      },
      Contestant("OperationQueue", .atLeast(2, of: "UseCase"), count: 10_000) { count, client in
        DispatchQueue.main.async {
          let queue = OperationQueue()
          for number in 0..<count {
            queue.addBlock(number) { value in DispatchQueue.main.async { client.take(value) } }
          }
        }
      },
      Contestant("2017 design", .atLeast(2.5, of: "UseCase"), count: 10_000) { count, client in
        DispatchQueue.main.async {
          let queue = OperationQueue()
          for number in 0..<count {
            queue.addCallback(number, delivery: .main) { client.take($0) }
          }
        }
      },
    ])
}

/// A view that shows results, and may do so on the main actor only.
@MainActor
private final class Screen {
  private let client: Client

  init(_ client: Client) { self.client = client }

  func show(_ value: Int) { client.take(value) }
}

private func onMainActor(_ client: Client, _ body: @escaping @MainActor (Screen) -> Void) {
  Task { @MainActor in body(Screen(client)) }
}
