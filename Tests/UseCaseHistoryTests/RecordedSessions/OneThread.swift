#if os(Linux) || os(macOS)
  import Foundation
  import Synchronization

  /// Runs all tasks of the process on the thread that asks for it, one after the other.
  ///
  /// Between two calls nothing runs. So a session knows for certain when everything that follows
  /// from a call has happened, and happens the same way each time. It is for a process of its own:
  /// nothing else runs there as long as it is installed.
  final class OneThread: TaskExecutor {
    static let shared = OneThread()

    private let waiting = Mutex((jobs: [UnownedJob](), dice: SessionDice?.none))

    private init() {}

    /// Takes over what tasks have to run, from now until the end of the process.
    func install() {
      // The runtime calls the hook with the Swift convention. For two pointers and no result, that
      // is the convention of C on all platforms of this package. A job is one pointer.
      typealias Hook = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> Void
      let hook: Hook = { job, _ in
        OneThread.shared.add(unsafeBitCast(job, to: UnownedJob.self))
      }
      guard let place = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
        fatalError("The runtime has no hook for its jobs.")
      }
      place.assumingMemoryBound(to: Hook?.self).pointee = hook
    }

    /// From now on the next job is any of those that wait.
    func shuffle(with dice: SessionDice) { waiting.withLock { $0.dice = dice } }

    func enqueue(_ job: consuming ExecutorJob) { add(UnownedJob(job)) }

    private func add(_ job: UnownedJob) { waiting.withLock { $0.jobs.append(job) } }

    /// Returns once nothing is left to run, and whether that came to pass.
    func drain() -> Bool {
      for _ in 0..<200_000 {
        guard let job = waiting.withLock({ Self.next(&$0.jobs, &$0.dice) }) else { return true }
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
      return false
    }

    private static func next(_ jobs: inout [UnownedJob], _ dice: inout SessionDice?) -> UnownedJob?
    {
      if jobs.isEmpty { return nil }
      return jobs.remove(at: dice?.roll(jobs.count) ?? 0)
    }
  }
#endif

/// Reproducible random numbers: SplitMix64.
struct SessionDice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number from 0 and below `count`.
  mutating func roll(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

  mutating func happens(_ percent: Int) -> Bool { roll(100) < percent }

  mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.randomElement(using: &self)
  }
}
