import Foundation

/// How long this thread has computed so far.
///
/// Measure costs with this: the time in which the thread waits for a core does not count.
public func threadTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
