/// An update on its way to its receiver.
@usableFromInline
struct OperationUpdate: Sendable {
  let isolation: (any Actor)?
  let receive: nonisolated(nonsending) @Sendable () async -> Void
}
