import Dispatch

/// Runs tasks that prefer it one job at a time, in the order in which the jobs became ready.
final class SerialExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "SerialExecutor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
