/// An update, or a handler of the start, on its way to its receiver. Neither waits for the
/// body to return. They are delivered in the order in which they came.
@usableFromInline
struct OperationUpdate: Sendable {
  let isolation: (any Actor)?
  let receive: nonisolated(nonsending) @Sendable () async -> Void
}
