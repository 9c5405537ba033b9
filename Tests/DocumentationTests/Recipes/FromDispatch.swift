import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct FromOperationQueue {
  struct Resize: UseCase {
    let download: any UseCase<String, String>
    let queue = UseCaseQueue(.limit(2))  // maxConcurrentOperationCount

    func main(_ name: String) async throws -> String {
      let photo = try await download(name)  // addDependency
      return "small \(photo)"
    }
  }

  @Test func `a dependency is called inside the body, within the limit`() async throws {
    let bodies = Watched((now: 0, most: 0))
    let gate = Gate()
    let download = AnyUseCase<String, String>(queue: UseCaseQueue(.serial)) { name in
      bodies.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      await gate.passIgnoringCancellation()
      bodies.update { $0.now -= 1 }
      return "\(name).png"
    }
    let resize = Resize(download: download)
    let operations = ["a", "b", "c"].map { name in
      resize.execute(name, priority: .background)  // qualityOfService
    }
    #expect(resize.queue.activity.waiting == 1)
    gate.open()
    await resize.queue.idle()  // waitUntilAllOperationsAreFinished
    var photos: [String] = []
    for operation in operations { photos.append(try await operation.value) }
    #expect(photos == ["small a.png", "small b.png", "small c.png"])
    #expect(bodies.value.most == 1)
  }

  @Test func `a suspended queue starts nothing, and is emptied by cancelAll`() async {
    let queue = UseCaseQueue(.limit(2))
    let resize = AnyUseCase<Int, Int>(queue: queue) { $0 }
    queue.suspend()  // isSuspended = true
    let operation = resize.execute(1)
    #expect(operation.state == .waiting)
    queue.cancelAll()  // cancelAllOperations
    await operation.ended()
    #expect(queue.activity.isIdle && queue.activity.cancelled == 1)
  }
}
