import TestSupport
import Testing

@testable import UseCase

struct OperationMachineTests {
  typealias World = OperationWorld
  typealias Act = OperationWorld.Act
  typealias Body = OperationWorld.Body

  static let fates = [World.Fate.success, .failure, .cancelled(.thrown)]
  static let admissions = [Admission.start, .wait]
  static let cancel = Act.end(.cancelled(.requested))

  /// One handler for each branch.
  static let each: [HandlerBranch] = [.success, .failure, .cancellation, .always]

  /// Does the acts in every order, and what must follow them. The promises are in the world.
  func explore(_ acts: Act..., in world: World = World()) throws {
    var acts = acts
    if case .execute(.wait, _, _)? = acts.first { acts.append(.grant) }
    let (worlds, orders) = try world.takeInEveryOrder(acts)
    #expect(worlds > 50 && orders > 100, "There is too little to explore.")
  }

  // MARK: - Handlers

  @Test(arguments: fates)
  func `handlers are attached one by one`(fate: World.Fate) throws {
    try explore(
      .execute(
        .start, Body(fate: fate),
        then: [
          .attach([.common], then: [.attach([.success], then: [.attach([.failure])])]),
          .attach([.always]), .attach([.cancellation]),
        ]))
  }

  @Test(arguments: fates, [false, true])
  func `an operation is cancelled in every order`(fate: World.Fate, isFree: Bool) throws {
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach(Self.each), .listen(1)]), Self.cancel,
      in: World(isFree: isFree))
  }

  @Test(arguments: admissions)
  func `an operation that somebody awaits is cancelled in every order`(
    admission: Admission
  ) throws {
    try explore(
      .execute(admission, Body(), then: [.attach(Self.each), .listen(1)]), Self.cancel, .hold(1))
  }

  @Test(arguments: fates)
  func `an operation is cancelled while handlers are attached`(
    fate: World.Fate
  ) throws {
    try explore(
      .execute(
        .start, Body(fate: fate),
        then: [.attach([.success, .failure]), .attach([.cancellation]), .attach([.always])]),
      Self.cancel)
  }

  @Test(arguments: fates)
  func `several handlers of a branch run in every order of events`(
    fate: World.Fate
  ) throws {
    let branches: [HandlerBranch] = [.success, .common, .failure, .always]
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach(branches + branches)]), Self.cancel)
  }

  @Test(arguments: fates)
  func `an operation is cancelled, superseded, and cancelled again`(fate: World.Fate) throws {
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach(Self.each)]), Self.cancel,
      .end(.cancelled(.superseded)), .end(.cancelled(.scopeEnded)))
  }

  @Test(arguments: fates)
  func `the time passes while the operation is cancelled`(fate: World.Fate) throws {
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.attach(Self.each), .attach([.common])]), Self.cancel)
  }

  @Test(arguments: fates)
  func `a handler cancels its own operation`(fate: World.Fate) throws {
    for branch in Self.each + [.common] {
      try explore(
        .execute(
          .start, Body(fate: fate), then: [.attach([.common] + Self.each), .attach([.success])]),
        in: World(reactions: [branch: .cancel]))
    }
  }

  @Test(arguments: fates)
  func `a handler attaches another`(fate: World.Fate) throws {
    for branch in Self.each + [.common] {
      try explore(
        .execute(
          .start, Body(fate: fate), then: [.attach([.common] + Self.each), .listen(1)]),
        Self.cancel, in: World(reactions: [branch: .attach(Self.each)]))
    }
  }

  // MARK: - Only the newest deliver

  static let supersede = Act.end(.cancelled(.superseded))
  static let newest = World(deliversOnlyNewest: true)

  @Test(arguments: fates)
  func `an incoming operation silences what has not begun, in every order`(
    fate: World.Fate
  ) throws {
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach(Self.each + [.common])]),
      Self.supersede, in: Self.newest)
    try explore(
      .execute(.start, Body(fate: fate, hasTimer: true), then: [.attach([.failure, .always])]),
      Self.supersede, in: Self.newest)
    try explore(
      .execute(.start, Body(fate: fate, reports: 1), then: [.attach([.success, .always])]),
      Self.supersede, in: Self.newest)
  }

  @Test(arguments: fates)
  func `an incoming operation meets a cancellation and a late then in every order`(
    fate: World.Fate
  ) throws {
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach([.success]), .attach([.cancellation])]),
      Self.supersede, Self.cancel, in: Self.newest)
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.attach([.common], then: [.attach([.failure])])]),
      Self.supersede, in: Self.newest)
  }

  @Test(.holds("Only the newest deliver"), arguments: [[], [.success]] as [[HandlerBranch]])
  func `one that gives way before its slot is given back has nothing to say later`(
    branches: [HandlerBranch]
  ) throws {
    try explore(
      .execute(.start, Body(), then: [.attach(branches), .attach([.success], then: [])]),
      Self.supersede, .attach([.success]), in: Self.newest)
  }

  @Test(arguments: fates)
  func `a handler executes the next operation`(fate: World.Fate) throws {
    for branch in Self.each + [.common] {
      try explore(
        .execute(.start, Body(fate: fate), then: [.attach(Self.each), .attach([.common])]),
        in: World(reactions: [branch: .supersede], deliversOnlyNewest: true))
      try explore(
        .execute(.start, Body(fate: fate), then: [.attach(Self.each)]), Self.supersede,
        in: World(reactions: [branch: .attach([.common, .always])], deliversOnlyNewest: true))
    }
  }

  @Test(arguments: admissions)
  func `the queue lists an operation only as long as handlers are left`(
    admission: Admission
  ) throws {
    try explore(
      .execute(
        admission, Body(hasTimer: true, hasGuest: true),
        then: [.attach([.success, .failure]), .attach([.always])]), in: Self.newest)
  }

  // MARK: - Slots

  @Test func `an operation waits for a slot`() throws {
    try explore(
      .execute(
        .wait, Body(hasTimer: true), then: [.attach(Self.each), .listen(1), .hold(1)]))
  }

  @Test func `an operation is superseded and cancelled while it waits for a slot`() throws {
    try explore(
      .execute(.wait, Body(), then: [.attach(Self.each), .listen(1)]),
      .end(.cancelled(.superseded)), Self.cancel)
  }

  @Test(arguments: admissions)
  func `another body is called in the slot of the operation`(admission: Admission) throws {
    try explore(
      .execute(
        admission, Body(hasTimer: true, hasGuest: true),
        then: [.attach([.success, .always]), .hold(1)]), Self.cancel)
  }

  // MARK: - Waiters

  @Test(arguments: admissions)
  func `tasks await the value`(admission: Admission) throws {
    try explore(
      .execute(admission, Body(), then: [.hold(1), .hold(2, mayLeave: true), .hold(3)]))
  }

  @Test(arguments: admissions)
  func `tasks await the value while the operation is cancelled`(admission: Admission) throws {
    try explore(
      .execute(
        admission, Body(hasTimer: true),
        then: [.hold(1, mayLeave: true), .hold(2, mayLeave: true)]), Self.cancel)
  }

  @Test func `tasks await the end`() throws {
    try explore(
      .execute(
        .start, Body(), then: [.attach([.success]), .attach([.always]), .listen(1), .listen(2)]),
      Self.cancel)
  }

  // MARK: - Updates

  @Test(arguments: fates)
  func `a body reports updates`(fate: World.Fate) throws {
    try explore(
      .execute(.start, Body(fate: fate, reports: 3), then: [.attach(Self.each), .listen(1)]),
      Self.cancel)
  }

  @Test func `a body reports while its time passes`() throws {
    try explore(
      .execute(.start, Body(reports: 2, hasTimer: true), then: [.attach([.failure])]))
  }

  // MARK: - Handlers of the start

  @Test(arguments: admissions, [false, true])
  func `handlers of the start are attached in every order`(
    admission: Admission, isObserved: Bool
  ) throws {
    try explore(
      .execute(
        admission, Body(reports: 1),
        then: [.attachStart(then: [.attachStart()]), .attach(Self.each), .listen(1)]),
      in: World(isObserved: isObserved))
  }

  @Test(arguments: admissions)
  func `an operation with handlers of the start is cancelled in every order`(
    admission: Admission
  ) throws {
    try explore(
      .execute(
        admission, Body(reports: 1),
        then: [.attachStart(), .attachStart(then: [.attach(Self.each)])]),
      Self.cancel)
  }

  @Test(arguments: fates)
  func `an operation with handlers of the start runs into its timeout`(fate: World.Fate) throws {
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true, hasGuest: true),
        then: [.attachStart(), .attachStart(then: [.attach(Self.each)])]), Self.cancel)
  }

  @Test func `a waiting operation with handlers of the start is superseded`() throws {
    try explore(
      .execute(.wait, Body(), then: [.attachStart(), .attachStart(), .attach(Self.each)]),
      .end(.cancelled(.superseded)))
  }

  @Test func `handlers of the start are attached to a dropped operation`() throws {
    try explore(
      .execute(
        .drop, Body(),
        then: [.attachStart(), .attach(Self.each), .attach([.always]), .listen(1), .hold(1)]))
  }

  // MARK: - Failures that nobody handles

  @Test(.holds("Unhandled failures"), arguments: fates, [false, true])
  func `a failure that nobody handles is told in every order`(
    fate: World.Fate, isObserved: Bool
  ) throws {
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.attach([.success, .common]), .attach([.always, .cancellation]), .attachStart()]),
      in: World(isObserved: isObserved, tellsFailures: true))
  }

  @Test(arguments: fates)
  func `a failure is handled in every order`(fate: World.Fate) throws {
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.attach([.common]), .attach([.failure]), .attach([.always])]),
      in: World(tellsFailures: true))
  }

  @Test(arguments: fates)
  func `a failure is cancelled late in every order`(
    fate: World.Fate
  ) throws {
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach([.failure]), .attach([.always])]),
      Self.cancel, in: World(tellsFailures: true))
  }

  @Test(arguments: fates)
  func `a failure is awaited in every order`(fate: World.Fate) throws {
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.hold(1, mayLeave: true), .attach([.common]), .attach([.always])]),
      in: World(tellsFailures: true))
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.listen(1), .attach([.common]), .attach([.always])]),
      in: World(tellsFailures: true))
  }

  // MARK: - Events

  @Test(arguments: admissions)
  func `an observer hears of a run in order`(admission: Admission) throws {
    try explore(
      .execute(admission, Body(hasTimer: true), then: [.attach([.success])]),
      in: World(isObserved: true))
  }

  @Test(arguments: admissions)
  func `an observer hears of a cancellation in order`(admission: Admission) throws {
    try explore(
      .execute(admission, Body(), then: [.attach(Self.each), .listen(1)]), Self.cancel,
      in: World(isObserved: true))
  }

  @Test func `an observer hears of a dropped operation`() throws {
    try explore(
      .execute(
        .drop, Body(),
        then: [.attach(Self.each), .attach([.always]), .listen(1), .hold(1), Self.cancel]),
      in: World(isObserved: true))
  }

  /// Listeners for the end hear of it while the delivery is not over.
  @Test(arguments: admissions)
  func `a cancel after the end keeps no later handler back`(admission: Admission) throws {
    try explore(
      .execute(admission, Body(), then: [.listen(1)]), Self.cancel,
      .attach([.success, .cancellation]), .attach([.always]), in: World(isObserved: false))
  }

  #if os(Linux) || os(macOS)
    @Test func `to begin a body twice is a trap`() async {
      await #expect(processExitsWith: .failure) {
        var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
        guard machine.start() == .nothing else { return }
        _ = machine.start()
      }
    }
  #endif
}
