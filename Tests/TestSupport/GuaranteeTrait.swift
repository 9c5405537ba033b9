public import Testing

/// Names the rules of the articles “Guarantees” that a test holds.
///
/// `.ci/guarantees` checks that each rule has a test, and that each trait names rules that exist.
/// When the test fails, its rules stand in the report.
public struct GuaranteeTrait: TestTrait {
  private let rules: [String]

  /// The rules, as the report shows them.
  public var comments: [Comment] { rules.map { "Guaranteed: \($0)" } }

  fileprivate init(rules: [String]) {
    self.rules = rules
  }
}

extension Trait where Self == GuaranteeTrait {
  /// A test that fails when one of these rules is broken.
  ///
  /// - Parameter rules: The names of the rules, as they stand in bold in “Guarantees”.
  /// - Returns: The trait.
  public static func holds(_ rules: String...) -> GuaranteeTrait {
    GuaranteeTrait(rules: rules)
  }
}
