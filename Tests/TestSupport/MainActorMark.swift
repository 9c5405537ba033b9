import Dispatch

private let mark = {
  let mark = DispatchSpecificKey<Bool>()
  DispatchQueue.main.setSpecific(key: mark, value: true)
  return mark
}()

/// Whether this code runs on the main actor.
///
/// A trap, as of `MainActor.preconditionIsolated()`, would end all other tests too; and the main
/// actor need not run on the main thread.
public func isOnMainActor() -> Bool {
  DispatchQueue.getSpecific(key: mark) == true
}
