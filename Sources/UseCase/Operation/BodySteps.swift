/// The first step of the task of the body.
@usableFromInline
enum BodyStart: Sendable {
  /// Nothing: there is an outcome already.
  case skip
  /// Run the body.
  case run
  /// Run the body, and make another task that delivers the handlers of the start.
  case runAndDeliver
}

/// The last step of the task of the body.
@usableFromInline
enum AfterBody: Sendable {
  /// Deliver.
  case deliver
  /// Make another task that delivers: this one is cancelled.
  case deliverInAnotherTask
  /// Nothing is to be delivered, another task delivers already, or the slot is still occupied.
  case nothing
}
