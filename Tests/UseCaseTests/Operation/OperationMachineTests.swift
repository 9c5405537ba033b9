import TestSupport
import Testing

@testable import UseCase

@Suite(.computes)
struct OperationMachineTests {
  typealias World = OperationWorld
  typealias Act = OperationWorld.Act
  typealias Body = OperationWorld.Body
  typealias Decision = OperationWorld.Decision

  /// An optimized build goes through all orders, which takes minutes in another one.
  #if DEBUG
    static let fates = [World.Fate.success]
    static let decisions = [Decision.start]
  #else
    static let fates = [World.Fate.success, .failure, .cancelled(.thrown)]
    static let decisions = [Decision.start, .wait]
  #endif
  static let cancel = Act.end(.cancelled(.requested))

  /// One handler for each branch.
  static let each: [HandlerBranch] = [.success, .failure, .cancellation, .always]

  /// Does the acts in every order, and what must follow them. The promises are in the world.
  func explore(_ acts: Act..., in world: World = World()) throws {
    var acts = acts
    if case .execute(.wait, _, _)? = acts.first { acts.append(.grant) }
    let (worlds, orders) = try world.takeInEveryOrder(acts)
    #expect(worlds > 40 && orders > 100, "There is too little to explore.")
  }

  // MARK: - Handlers

  @Test(arguments: fates)
  func `handlers are attached one by one`(fate: World.Fate) throws {
    try explore(
      .execute(
        .start, Body(fate: fate),
        then: [
          .attach([.common], then: [.attach([.success], then: [.attach([.failure])])]),
          .attach([.always]), .attach([.cancellation]), .listen(1, .end),
        ]))
  }

  @Test(arguments: fates, [false, true])
  func `an operation is cancelled in every order`(fate: World.Fate, isFree: Bool) throws {
    try explore(
      .execute(
        .start, Body(fate: fate),
        then: [.attach(Self.each), .listen(1, .end), .listen(2, .delivered)]),
      Self.cancel, in: World(isFree: isFree))
  }

  #if !DEBUG
    @Test(arguments: fates)
    func `an operation is cancelled while handlers are attached`(fate: World.Fate) throws {
      try explore(
        .execute(
          .start, Body(fate: fate),
          then: [.attach([.success, .failure]), .attach([.cancellation]), .attach([.always])]),
        Self.cancel)
    }
  #endif

  #if !DEBUG
    @Test(arguments: fates)
    func `several handlers of a branch run in every order of events`(fate: World.Fate) throws {
      let branches: [HandlerBranch] = [.success, .common, .failure, .always]
      try explore(
        .execute(.start, Body(fate: fate), then: [.attach(branches + branches)]), Self.cancel)
    }
  #endif

  @Test(arguments: fates, [false, true])
  func `a settlement comes before all others`(fate: World.Fate, isFree: Bool) throws {
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.attach(Self.each), .attachFirst, .attachFirst, .listen(1, .delivered)]),
      Self.cancel, in: World(isFree: isFree))
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach([.success, .always]), .attachFirst]),
      .supersede(), in: World(isFree: isFree))
  }

  #if !DEBUG
    @Test(arguments: fates)
    func `an operation is cancelled, superseded, and cancelled again`(fate: World.Fate) throws {
      try explore(
        .execute(.start, Body(fate: fate), then: [.attach(Self.each)]), Self.cancel,
        .supersede(), .end(.cancelled(.scopeEnded)))
    }
  #endif

  #if !DEBUG
    @Test(arguments: fates)
    func `the time passes while the operation is cancelled`(fate: World.Fate) throws {
      try explore(
        .execute(
          .start, Body(fate: fate, hasTimer: true),
          then: [.attach(Self.each), .attach([.common])]), Self.cancel)
    }
  #endif

  #if !DEBUG
    @Test(arguments: fates)
    func `a handler cancels its own operation`(fate: World.Fate) throws {
      for branch in Self.each + [.common] {
        try explore(
          .execute(
            .start, Body(fate: fate), then: [.attach([.common] + Self.each), .attach([.success])]),
          in: World(reactions: [branch: .cancel]))
      }
    }
  #endif

  #if !DEBUG
    @Test(arguments: fates)
    func `a handler attaches another`(fate: World.Fate) throws {
      for branch in Self.each + [.common] {
        try explore(
          .execute(
            .start, Body(fate: fate), then: [.attach([.common] + Self.each), .listen(1, .end)]),
          Self.cancel, in: World(reactions: [branch: .attach(Self.each)]))
      }
    }
  #endif

  // MARK: - Only the newest deliver

  @Test(.holds("Only the newest deliver"), arguments: fates)
  func `an incoming operation silences what has not begun, in every order`(
    fate: World.Fate
  ) throws {
    try explore(
      .execute(.start, Body(fate: fate), then: [.attach(Self.each + [.common])]), .supersede())
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.attach([.failure, .always]), .listen(1, .delivered)]), .supersede())
    try explore(
      .execute(.start, Body(fate: fate, reports: 1), then: [.attach([.success, .always])]),
      .supersede())
  }

  #if !DEBUG
    @Test(arguments: fates)
    func `an incoming operation meets a cancellation and a late then in every order`(
      fate: World.Fate
    ) throws {
      try explore(
        .execute(.start, Body(fate: fate), then: [.attach([.success]), .attach([.cancellation])]),
        .supersede(), Self.cancel)
      try explore(
        .execute(
          .start, Body(fate: fate, hasTimer: true),
          then: [.attach([.common], then: [.attach([.failure])])]), .supersede())
    }
  #endif

  @Test(.holds("Only the newest deliver"), arguments: [[], [.success]] as [[HandlerBranch]])
  func `an operation that gives way before it has left has nothing to say later`(
    branches: [HandlerBranch]
  ) throws {
    try explore(
      .execute(.start, Body(), then: [.attach(branches), .attach([.success])]), .supersede(),
      .attach([.success]))
  }

  #if !DEBUG
    @Test(arguments: fates)
    func `a handler executes the next operation`(fate: World.Fate) throws {
      for branch in Self.each + [.common] {
        try explore(
          .execute(.start, Body(fate: fate), then: [.attach(Self.each), .attach([.common])]),
          in: World(reactions: [branch: .supersede]))
        try explore(
          .execute(.start, Body(fate: fate), then: [.attach(Self.each)]), .supersede(),
          in: World(reactions: [branch: .attach([.common, .always])]))
      }
    }
  #endif

  // MARK: - Slots

  #if !DEBUG
    @Test func `an operation waits for a slot`() throws {
      try explore(
        .execute(
          .wait, Body(hasTimer: true),
          then: [.attach(Self.each), .listen(1, .end), .listen(2, .value)]))
    }
  #endif

  #if !DEBUG
    @Test func `an operation is superseded and cancelled while it waits for a slot`() throws {
      try explore(
        .execute(.wait, Body(), then: [.attach(Self.each), .listen(1, .end)]),
        .supersede(), Self.cancel)
    }
  #endif

  #if !DEBUG
    @Test(arguments: decisions)
    func `another body runs in the slot of the operation`(decision: Decision) throws {
      try explore(
        .execute(
          decision, Body(hasTimer: true, hasGuest: true),
          then: [.attach([.success, .always]), .listen(1, .value)]), Self.cancel)
    }
  #endif

  // MARK: - Waiters

  @Test(arguments: decisions)
  func `tasks await the value`(decision: Decision) throws {
    try explore(
      .execute(
        decision, Body(),
        then: [
          .listen(1, .value), .listen(2, .value, mayLeave: true), .listen(3, .value),
          .attach([.success]),
        ]))
  }

  #if !DEBUG
    @Test(arguments: decisions)
    func `tasks await the value while the operation is cancelled`(decision: Decision) throws {
      try explore(
        .execute(
          decision, Body(hasTimer: true),
          then: [.listen(1, .value, mayLeave: true), .listen(2, .value, mayLeave: true)]),
        Self.cancel)
    }
  #endif

  #if !DEBUG
    @Test(arguments: fates)
    func `a task that attaches a handler and awaits the end hears of the end after it`(
      fate: World.Fate
    ) throws {
      try explore(
        .execute(
          .start, Body(fate: fate),
          then: [.attach([.common], then: [.listen(1, .end)]), .listen(2, .end)]),
        .attach([.always], then: [.listen(3, .end)]), Self.cancel)
    }
  #endif

  #if !DEBUG
    @Test(arguments: fates)
    func `a model hears when the handlers of the outcome have run`(fate: World.Fate) throws {
      try explore(
        .execute(
          .start, Body(fate: fate, hasTimer: true, hasGuest: true),
          then: [.attachFirst, .attach([.common, .always]), .listen(1, .delivered)]), Self.cancel)
    }
  #endif

  // MARK: - Updates and handlers of the start

  #if !DEBUG
    @Test(arguments: fates)
    func `a body reports updates`(fate: World.Fate) throws {
      try explore(
        .execute(
          .start, Body(fate: fate, reports: 3), then: [.attach(Self.each), .listen(1, .end)]),
        Self.cancel)
    }
  #endif

  @Test func `a body reports while its time passes`() throws {
    try explore(
      .execute(.start, Body(reports: 2, hasTimer: true), then: [.attach([.failure])]))
  }

  #if !DEBUG
    @Test(arguments: decisions, [false, true])
    func `handlers of the start are attached in every order`(
      decision: Decision, isObserved: Bool
    ) throws {
      try explore(
        .execute(
          decision, Body(reports: 1),
          then: [.attachStart(then: [.attachStart()]), .attach(Self.each), .listen(1, .end)]),
        in: World(isObserved: isObserved))
    }
  #endif

  #if !DEBUG
    @Test(arguments: decisions)
    func `an operation with handlers of the start is cancelled in every order`(
      decision: Decision
    ) throws {
      try explore(
        .execute(
          decision, Body(reports: 1),
          then: [.attachStart(), .attachStart(then: [.attach(Self.each)])]), Self.cancel)
    }
  #endif

  #if !DEBUG
    @Test(arguments: fates)
    func `an operation with handlers of the start runs into its timeout`(fate: World.Fate) throws {
      try explore(
        .execute(
          .start, Body(fate: fate, hasTimer: true, hasGuest: true),
          then: [.attachStart(), .attachStart(then: [.attach(Self.each)])]), Self.cancel)
    }
  #endif

  #if !DEBUG
    @Test func `a waiting operation with handlers of the start is superseded`() throws {
      try explore(
        .execute(.wait, Body(), then: [.attachStart(), .attachStart(), .attach(Self.each)]),
        .supersede())
    }
  #endif

  #if !DEBUG
    @Test(arguments: [false, true])
    func `handlers are attached to a refused operation`(isObserved: Bool) throws {
      try explore(
        .execute(
          .refuse, Body(),
          then: [
            .attachStart(), .attach(Self.each), .attach([.always]), .listen(1, .end),
            .listen(2, .value), Self.cancel,
          ]), in: World(isObserved: isObserved))
    }
  #endif

  // MARK: - Failures that nobody handles

  #if !DEBUG
    @Test(.holds("Unhandled failures"), arguments: [World.Fate.failure], [false, true])
    func `a failure that nobody handles is told in every order`(
      fate: World.Fate, isObserved: Bool
    ) throws {
      try explore(
        .execute(
          .start, Body(fate: fate, hasTimer: true),
          then: [.attach([.success, .common]), .attach([.always, .cancellation]), .attachStart()]),
        in: World(isObserved: isObserved, tellsFailures: true))
    }
  #endif

  @Test(arguments: [World.Fate.failure])
  func `a failure is handled in every order`(fate: World.Fate) throws {
    try explore(
      .execute(
        .start, Body(fate: fate, hasTimer: true),
        then: [.attach([.common]), .attach([.failure]), .attach([.always])]),
      in: World(tellsFailures: true))
  }

  @Test(arguments: [World.Fate.failure])
  func `a failure is cancelled late, or superseded, in every order`(fate: World.Fate) throws {
    for act in [Self.cancel, .supersede()] {
      try explore(
        .execute(.start, Body(fate: fate), then: [.attach([.failure]), .attach([.always])]),
        act, in: World(tellsFailures: true))
    }
  }

  #if !DEBUG
    @Test(arguments: [World.Fate.failure])
    func `a failure is awaited in every order`(fate: World.Fate) throws {
      for listen in [Act.listen(1, .value, mayLeave: true), .listen(1, .end)] {
        try explore(
          .execute(
            .start, Body(fate: fate, hasTimer: true),
            then: [listen, .attach([.common]), .attach([.always])]),
          in: World(tellsFailures: true))
      }
    }
  #endif

  // MARK: - Events

  #if !DEBUG
    @Test(arguments: decisions)
    func `an observer hears of a run in order`(decision: Decision) throws {
      try explore(
        .execute(decision, Body(hasTimer: true), then: [.attach([.success])]),
        in: World(isObserved: true))
    }
  #endif

  #if !DEBUG
    @Test(arguments: decisions)
    func `an observer hears of a cancellation in order`(decision: Decision) throws {
      try explore(
        .execute(decision, Body(), then: [.attach(Self.each), .listen(1, .end)]), Self.cancel,
        in: World(isObserved: true))
    }
  #endif

  @Test(arguments: decisions)
  func `a cancellation after the end keeps no later handler back`(decision: Decision) throws {
    try explore(
      .execute(decision, Body(), then: [.listen(1, .end)]), Self.cancel,
      .attach([.success, .cancellation]), .attach([.always]))
  }

  @Test func `events are told in order, each once, by one thread at a time`() {
    var line = EventLine(isObserved: true)
    line.announce(.outcome)
    line.announce(.running)
    line.announce(.running)
    #expect(line.begin() == nil)
    #expect(line.next() == .running)
    #expect(line.next() == .outcome)
    #expect(line.next() == nil)
    line.announce(.running)
    #expect(line.begin() == nil)
    line.announce(.ended)
    #expect(line.begin() == .ended)
  }

  @Test func `the tasks of an operation are known from when they exist until the end`() {
    var machine = OperationMachine<Int, Int, Int>(isObserved: false)
    #expect(machine.jobs == (nil, nil))
    let cancelsEarly = machine.keep(1)
    #expect(!cancelsEarly)
    _ = machine.start()
    #expect(machine.keepDeliverer(2) == nil)
    #expect(machine.jobs == (1, 2))
    _ = machine.conclude(.success, mayDeliver: true)
    let jobs = machine.left().jobs
    #expect(jobs == (1, 2))
    #expect(machine.jobs == (nil, nil))
    let cancelsLate = machine.keep(3)
    #expect(!cancelsLate)
  }

  #if os(Linux) || os(macOS)
    @Test func `beginning a body twice is a trap`() async {
      await #expect(processExitsWith: .failure) {
        var machine = OperationMachine<Int, Int, Int>(isObserved: false)
        guard machine.start() == false else { return }
        _ = machine.start()
      }
    }

    @Test func `a body that exits a slot which is over is a trap`() async {
      await #expect(processExitsWith: .failure) {
        var machine = OperationMachine<Int, Int, Int>(isObserved: false)
        guard machine.start() == false,
          machine.conclude(.success, mayDeliver: true).isNew
        else { return }
        _ = machine.exit(mayDeliver: true)
      }
    }

    @Test func `a thread that does not tell cannot go on with it`() async {
      await #expect(processExitsWith: .failure) {
        var line = EventLine(isObserved: true)
        guard line.next() == nil else { return }
        _ = line.next()
      }
    }
  #endif
}
