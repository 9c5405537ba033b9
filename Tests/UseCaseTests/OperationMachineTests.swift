import TestSupport
import Testing

@testable import UseCase

struct OperationMachineTests {
  typealias World = OperationWorld
  typealias Act = OperationWorld.Act
  typealias Body = OperationWorld.Body

  static let fates = [World.Fate.success, .failure, .cancelled(.thrown)]
  static let admissions = [World.Admission.start, .wait]
  static let cancel = Act.end(.cancelled(.requested))

  /// One handler for each branch.
  static let each: [OperationBranch] = [.success, .failure, .cancellation, .always]

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
  func `it is cancelled`(fate: World.Fate, onAnActor isIsolated: Bool) throws {
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach(Self.each), .mark(1)]), Self.cancel,
      in: World(isIsolated: isIsolated))
  }

  @Test(arguments: admissions)
  func `it is cancelled, and its task may sleep first`(admission: World.Admission) throws {
    try explore(
      .execute(admission, Body(), then: [.attach(Self.each), .mark(1)]), Self.cancel, .hold(1),
      in: World(sleeps: true))
  }

  @Test(arguments: fates, [false, true])
  func `it is cancelled while handlers are attached`(
    fate: World.Fate, onAnActor isIsolated: Bool
  ) throws {
    try explore(
      .execute(
        .start, Body(fate: fate),
        then: [.attach([.success, .failure]), .attach([.cancellation]), .attach([.always])]),
      Self.cancel, in: World(isIsolated: isIsolated))
  }

  @Test(arguments: fates, [false, true])
  func `it has several handlers of a branch`(
    fate: World.Fate, onAnActor isIsolated: Bool
  ) throws {
    let branches: [OperationBranch] = [.success, .common, .failure, .always]
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach(branches + branches)]), Self.cancel,
      in: World(isIsolated: isIsolated))
  }

  @Test(arguments: fates)
  func `it is cancelled, superseded, and cancelled again`(fate: World.Fate) throws {
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach(Self.each)]), Self.cancel,
      .end(.cancelled(.superseded)), .end(.cancelled(.scopeEnded)))
  }

  @Test(arguments: fates)
  func `its time passes while it is cancelled`(fate: World.Fate) throws {
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
          .start, Body(fate: fate), then: [.attach([.common] + Self.each), .mark(1)]),
        Self.cancel, in: World(reactions: [branch: .attach(Self.each)]))
    }
  }

  // MARK: - Slots

  @Test func `it waits for a slot`() throws {
    try explore(
      .execute(
        .wait, Body(hasTimer: true), then: [.attach(Self.each), .mark(1), .hold(1)]))
  }

  @Test func `it is superseded and cancelled while it waits for a slot`() throws {
    try explore(
      .execute(.wait, Body(), then: [.attach(Self.each), .mark(1)]),
      .end(.cancelled(.superseded)), Self.cancel)
  }

  @Test(arguments: admissions)
  func `another body is called in its slot`(admission: World.Admission) throws {
    try explore(
      .execute(
        admission, Body(hasTimer: true, hasGuest: true),
        then: [.attach([.success, .always]), .hold(1)]), Self.cancel)
  }

  // MARK: - Those who wait

  @Test(arguments: admissions)
  func `tasks await its value`(admission: World.Admission) throws {
    try explore(
      .execute(admission, Body(), then: [.hold(1), .hold(2, mayLeave: true), .hold(3)]))
  }

  @Test(arguments: admissions)
  func `tasks await its value while it is cancelled`(admission: World.Admission) throws {
    try explore(
      .execute(
        admission, Body(hasTimer: true),
        then: [.hold(1, mayLeave: true), .hold(2, mayLeave: true)]), Self.cancel)
  }

  @Test func `tasks await its end`() throws {
    try explore(
      .execute(
        .start, Body(), then: [.attach([.success]), .attach([.always]), .mark(1), .mark(2)]),
      Self.cancel)
  }

  // MARK: - Updates

  @Test(arguments: fates)
  func `it reports`(fate: World.Fate) throws {
    try explore(
      .execute(.start, Body(fate: fate, reports: 3), then: [.attach(Self.each), .mark(1)]),
      Self.cancel)
  }

  @Test func `it reports while its time passes`() throws {
    try explore(
      .execute(.start, Body(reports: 2, hasTimer: true), then: [.attach([.failure])]))
  }

  // MARK: - Events

  @Test(arguments: admissions)
  func `it is observed`(admission: World.Admission) throws {
    try explore(
      .execute(admission, Body(hasTimer: true), then: [.attach([.success])]),
      in: World(isObserved: true))
  }

  @Test(arguments: admissions)
  func `it is observed while it is cancelled`(admission: World.Admission) throws {
    try explore(
      .execute(admission, Body(), then: [.attach(Self.each), .mark(1)]), Self.cancel,
      in: World(isObserved: true))
  }

  @Test func `it is refused`() throws {
    try explore(
      .execute(
        .refuse, Body(),
        then: [.attach(Self.each), .attach([.always]), .mark(1), .hold(1), Self.cancel]),
      in: World(isObserved: true))
  }

  @Test func `to begin a body twice is a trap`() async {
    await #expect(processExitsWith: .failure) {
      var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
      guard machine.start() else { return }
      _ = machine.start()
    }
  }
}
