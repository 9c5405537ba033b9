import UseCaseInternals

/// A task or a group that is told when an operation has ended.
@usableFromInline
enum EndListener: Sendable {
  case task(UnsafeContinuation<Void, Never>)
  case group(MemberGroup)

  @usableFromInline
  func tell(_ id: UseCaseOperationID) {
    switch self {
    case .task(let waiter): waiter.resume()
    case .group(let group): group.remove(id)
    }
  }
}

/// The operations that a scope holds until they have ended.
@usableFromInline
final class MemberGroup: Sendable {
  private let members = Lock([UseCaseOperationID: any QueueMember]())

  var count: Int { members.withLock { $0.count } }

  func insert(_ member: any QueueMember) {
    let id = member.id
    _ = members.withLock { $0.updateValue(member, forKey: id) }
  }

  func remove(_ id: UseCaseOperationID) {
    _ = members.withLock { $0.removeValue(forKey: id) }
  }

  func removeAll() {
    _ = members.withLock { members in
      defer { members = [:] }
      return members
    }
  }

  /// Cancels the members in order of `execute`.
  func cancelAll(_ reason: UseCaseCancellation) {
    for (_, member) in members.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      member.cancel(reason)
    }
  }
}
