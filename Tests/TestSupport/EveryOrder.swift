/// A model, as a value, of things that several actors do at the same time.
///
/// An actor is the act that it does next. An act is done without a pause, and returns what
/// follows: nothing if the actor is done, several acts if it has started others.
public protocol ActedWorld: Hashable {
  associatedtype Act: Hashable

  /// Whether the act can be done now. Once it can, it must remain so.
  func isReady(_ act: Act) -> Bool

  /// Does the act.
  ///
  /// - Parameter act: One that is ready.
  /// - Returns: What follows it.
  /// - Throws: When the world is not as it should be.
  mutating func take(_ act: Act) throws -> [Act]

  /// Looks at the world when all actors are done.
  ///
  /// - Throws: When the world is not as it should be.
  func checkEnd() throws
}

extension ActedWorld {
  /// Does all acts, and what follows them, in every order that there is.
  ///
  /// Orders that lead to the same world go on from there together: that is why a million of them
  /// take no longer than a few thousand worlds.
  ///
  /// - Parameter acts: The first act of each actor.
  /// - Returns: The number of worlds seen, and the number of orders, as far as it can be counted.
  /// - Throws: ``BadOrder`` if an act or the end throws, if actors wait for ever, or if they go
  ///   round in circles.
  @discardableResult
  public func takeInEveryOrder(_ acts: [Act]) throws(BadOrder) -> (worlds: Int, orders: Int) {
    var search = Search<Self>()
    let orders = try search.go(on: acts, in: self)
    return (search.seen.count, orders)
  }
}

/// An order of acts after which the world is not as it should be.
public struct BadOrder: Error, CustomStringConvertible {
  /// The promise that was not kept.
  public let reason: String

  /// The acts that led there.
  public let trace: [String]

  /// A sentence for the record of a test.
  public var description: String { "\(reason), after \(trace.joined(separator: "; "))" }
}

private struct Search<World: ActedWorld> {
  struct Moment: Hashable {
    let world: World
    let acts: [World.Act: Int]
  }

  /// Every moment, and how many orders go on from it. There is no number while they are tried.
  var seen: [Moment: Int?] = [:]
  var trace: [World.Act] = []

  mutating func go(on acts: [World.Act], in world: World) throws(BadOrder) -> Int {
    let moment = Moment(world: world, acts: Dictionary(acts.map { ($0, 1) }, uniquingKeysWith: +))
    if let orders = seen[moment] {
      guard let orders else { throw bad("the actors go round in circles") }
      return orders
    }
    seen.updateValue(nil, forKey: moment)
    var orders = 0
    for index in acts.indices where world.isReady(acts[index]) {
      var (rest, next) = (acts, world)
      let act = rest.remove(at: index)
      trace.append(act)
      do { rest += try next.take(act) } catch { throw bad("\(error)") }
      orders = try orders.addingReportingOverflow(go(on: rest, in: next)).partialValue
      trace.removeLast()
    }
    if orders == 0 {
      guard acts.isEmpty else { throw bad("\(acts) wait for ever") }
      do { try world.checkEnd() } catch { throw bad("\(error)") }
      orders = 1
    }
    seen[moment] = orders
    return orders
  }

  private func bad(_ reason: String) -> BadOrder {
    BadOrder(reason: reason, trace: trace.map { "\($0)" })
  }
}
