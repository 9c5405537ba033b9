import TestSupport
import Testing

@testable import UseCase

/// One shared run, and all who ride it, in every order of events.
struct RunMachineTests {
  private struct World: ActedWorld {
    enum Act: Hashable {
      case board(UInt64), make, start, leave(UInt64, again: Bool)
    }

    private var machine = RunMachine<Character, UInt64>()
    private var aboard: Set<UInt64> = []
    private var hasBoarded = false
    private var isStarting = false
    private var isMade = false
    private var isRunning = false
    private var cancellations = 0

    func isReady(_ act: Act) -> Bool { true }

    mutating func take(_ act: Act) throws -> [Act] {
      switch act {
      case .board(let rider):
        switch machine.board(rider, id: UseCaseOperationID(number: rider), isCall: false) {
        case .start:
          try demand(!hasBoarded, "one rider starts the run")
          (hasBoarded, isStarting) = (true, true)
          aboard.insert(rider)
          return [.make, .leave(rider, again: true)]
        case .ride:
          try demand(isStarting || isRunning, "there is a run to ride")
          aboard.insert(rider)
          return [.leave(rider, again: true)]
        case .tooLate:
          try demand(hasBoarded && !isStarting && !isRunning, "a run that is over takes nobody")
          return [.leave(rider, again: false)]
        }
      case .make:
        machine.made("r")
        isMade = true
        try check()
        return [.start]
      case .start:
        isStarting = false
        isRunning = !aboard.isEmpty
        isMade = isRunning
        let isCancelled = machine.started() != nil
        try demand(isCancelled == aboard.isEmpty, "a run that nobody rides is cancelled")
        if isCancelled { cancellations += 1 }
        try check()
        return []
      case .leave(let number, let again):
        let rider = aboard.remove(number)
        let isLast = rider != nil && aboard.isEmpty && isRunning
        let left = machine.leave(UseCaseOperationID(number: number))
        try demand(left.rider == rider, "a rider leaves once")
        try demand((left.run != nil) == isLast, "the last one to leave has the run")
        if isLast {
          (isRunning, isMade) = (false, false)
          cancellations += 1
        }
        try check()
        return again ? [.leave(number, again: false)] : []
      }
    }

    private func check() throws {
      try demand(machine.riders.sorted() == aboard.sorted(), "these are the riders")
      try demand((machine.run != nil) == isMade, "there is a run from when it is made")
      for rider in aboard {
        let run = machine.run(of: UseCaseOperationID(number: rider))
        try demand((run != nil) == isMade, "each rider finds the run")
      }
    }

    func checkEnd() throws {
      try demand(machine.hasLeft && machine.run == nil && aboard.isEmpty, "nothing is left")
      try demand(cancellations == 1, "the run was given up once")
    }

    private func demand(_ condition: Bool, _ rule: String) throws {
      if !condition { throw Broken(description: rule) }
    }

    static func == (lhs: Self, rhs: Self) -> Bool {
      lhs.aboard == rhs.aboard && lhs.hasBoarded == rhs.hasBoarded
        && lhs.isStarting == rhs.isStarting && lhs.isRunning == rhs.isRunning
        && lhs.isMade == rhs.isMade && lhs.cancellations == rhs.cancellations
        && lhs.machine.riders.sorted() == rhs.machine.riders.sorted()
        && lhs.machine.run == rhs.machine.run && lhs.machine.hasLeft == rhs.machine.hasLeft
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(aboard)
      hasher.combine(isRunning)
    }
  }

  private struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  @Test(.holds("One run"), arguments: 1...4)
  func `in every order one run is started, and given up once when the last rider has left`(
    riders: Int
  ) throws {
    let (worlds, orders) = try World().takeInEveryOrder((1...riders).map { .board(UInt64($0)) })
    #expect(worlds >= 6 && orders >= 2)
  }
}
