import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Writes files in which each small change of a decision is switched on by its number, and prints
/// the changes.
///
/// `Tools/mutate` compiles this file by hand, with the SwiftSyntax of the toolchain, because the
/// package has no dependencies. Arguments: the folder to read, the folder to write, the numbers to
/// leave out, with commas, and the files.
@main
struct Mutator {
  static func main() throws {
    let arguments = CommandLine.arguments
    let leftOut = Set(arguments[3].split(separator: ",").compactMap { Int($0) })
    var number = 0
    for file in arguments[4...] {
      let source = try String(contentsOfFile: "\(arguments[1])/\(file)", encoding: .utf8)
      let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
      let visitor = MutantVisitor(tree, file: file, after: number, leftOut: leftOut)
      visitor.walk(tree)
      number = visitor.number
      try visitor.apply(to: source)
        .write(toFile: "\(arguments[2])/\(file)", atomically: true, encoding: .utf8)
    }
  }
}

final class MutantVisitor: SyntaxVisitor {
  private(set) var number: Int
  private let file: String
  private let leftOut: Set<Int>
  private let lines: SourceLocationConverter
  /// What to insert and where, the outer changes before the inner ones.
  private var openings: [(offset: Int, text: String)] = []
  private var closings: [(offset: Int, text: String)] = []

  init(_ tree: Syntax, file: String, after number: Int, leftOut: Set<Int>) {
    (self.file, self.number, self.leftOut) = (file, number, leftOut)
    lines = SourceLocationConverter(fileName: file, tree: tree)
    super.init(viewMode: .sourceAccurate)
  }

  func apply(to source: String) -> String {
    var bytes = Array(source.utf8)
    // Inner closings first; and at one place, closings stand before openings.
    var insertions = closings.reversed().map { ($0.offset, $0.text) }
    insertions += openings.map { ($0.offset, $0.text) }
    let order = insertions.indices.sorted { (insertions[$0].0, $0) < (insertions[$1].0, $1) }
    for index in order.reversed() {
      let (offset, text) = insertions[index]
      bytes.insert(contentsOf: text.utf8, at: offset)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func mutate(
    _ node: some SyntaxProtocol, _ kind: String, _ opening: (Int) -> String, _ closing: String
  ) {
    number += 1
    guard !leftOut.contains(number) else { return }
    let start = node.positionAfterSkippingLeadingTrivia
    let end = node.endPositionBeforeTrailingTrivia
    openings.append((start.utf8Offset, opening(number)))
    closings.append((end.utf8Offset, closing))
    let scope = scope(of: Syntax(node))
    let text = node.trimmedDescription.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let fields: [Any] = [
      number, file, lines.location(for: start).line,
      lines.location(for: scope.positionAfterSkippingLeadingTrivia).line,
      lines.location(for: scope.endPositionBeforeTrailingTrivia).line, name(of: scope), kind, text,
    ]
    print(fields.map { "\($0)" }.joined(separator: "\t"))
  }

  /// The function, or the whole declaration, around a change: the place of errors that it causes.
  private func scope(of node: Syntax) -> Syntax {
    var scope = node
    while let parent = scope.parent {
      scope = parent
      if scope.is(FunctionDeclSyntax.self) || scope.is(VariableDeclSyntax.self)
        || scope.is(InitializerDeclSyntax.self) || scope.is(SubscriptDeclSyntax.self)
      {
        break
      }
    }
    return scope
  }

  private func name(of scope: Syntax) -> String {
    if let function = scope.as(FunctionDeclSyntax.self) { return function.name.text }
    if let variable = scope.as(VariableDeclSyntax.self) {
      return variable.bindings.map(\.pattern.trimmedDescription).joined(separator: ", ")
    }
    return scope.is(InitializerDeclSyntax.self) ? "init" : "subscript"
  }

  private func flip(_ node: some SyntaxProtocol) {
    mutate(node, "negate", { "mutantFlips(\($0), " }, ")")
  }

  private func delete(_ node: some SyntaxProtocol) {
    mutate(node, "delete", { "if mutantKeeps(\($0)) { " }, " }")
  }

  // MARK: - Statements

  override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
    switch node.item {
    case .expr(let expression):
      if isTrap(expression) { return .skipChildren }
      if !isValue(node), !isInInitializer(node), !expression.is(IfExprSyntax.self),
        !expression.is(SwitchExprSyntax.self)
      {
        delete(node.item)
      }
    case .stmt(let statement):
      let isPlainReturn = statement.as(ReturnStmtSyntax.self).map { $0.expression == nil } ?? false
      if isPlainReturn || statement.is(ContinueStmtSyntax.self),
        node.parent?.parent?.parent?.is(GuardStmtSyntax.self) != true
      {
        delete(node.item)
      }
    default: break
    }
    return .visitChildren
  }

  private func isTrap(_ expression: ExprSyntax) -> Bool {
    let name = expression.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription ?? ""
    return ["precondition", "preconditionFailure", "fatalError", "assert", "assertionFailure"]
      .contains(name)
  }

  private func isInInitializer(_ node: some SyntaxProtocol) -> Bool {
    scope(of: Syntax(node)).is(InitializerDeclSyntax.self)
  }

  /// Whether the item is, or may be, the value of what it stands in.
  private func isValue(_ item: CodeBlockItemSyntax) -> Bool {
    guard let list = item.parent?.as(CodeBlockItemListSyntax.self), list.count == 1,
      let block = list.parent
    else { return false }
    if block.is(ClosureExprSyntax.self) || block.is(AccessorBlockSyntax.self) { return true }
    guard let owner = block.is(SwitchCaseSyntax.self) ? block.parent?.parent : block.parent else {
      return false
    }
    if let function = owner.as(FunctionDeclSyntax.self) {
      return function.signature.returnClause != nil
    }
    if let accessor = owner.as(AccessorDeclSyntax.self) {
      return accessor.accessorSpecifier.text == "get"
    }
    guard owner.is(IfExprSyntax.self) || owner.is(SwitchExprSyntax.self) else { return false }
    var branching = owner
    while let outer = branching.parent, outer.is(IfExprSyntax.self) { branching = outer }
    guard let statement = branching.parent?.as(ExpressionStmtSyntax.self) else { return true }
    return statement.parent?.as(CodeBlockItemSyntax.self).map(isValue) ?? true
  }

  // MARK: - Conditions

  override func visit(_ node: ConditionElementListSyntax) -> SyntaxVisitorContinueKind {
    let hasPattern = node.contains {
      $0.condition.is(MatchingPatternConditionSyntax.self)
        || $0.condition.is(OptionalBindingConditionSyntax.self)
    }
    if hasPattern { mutate(node, "never", { _ in "" }, ", mutantKeeps(\(number + 1))") }
    for element in node {
      guard case .expression(let expression) = element.condition else { continue }
      // Without `while true` the compiler misses a return.
      if !expression.is(BooleanLiteralExprSyntax.self) { flip(expression) }
    }
    return .visitChildren
  }

  override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
    flip(node.condition)
    return .visitChildren
  }

  override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
    flip(node.condition)
    return .visitChildren
  }

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    guard isLogical(node) else { return .visitChildren }
    for operand in [node.leftOperand, node.rightOperand] {
      if let inner = operand.as(InfixOperatorExprSyntax.self), isLogical(inner) { continue }
      flip(operand)
    }
    return .visitChildren
  }

  private func isLogical(_ node: InfixOperatorExprSyntax) -> Bool {
    ["&&", "||"].contains(node.operator.trimmedDescription)
  }

  // MARK: - Literals

  override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    if node.parent?.is(ConditionElementSyntax.self) != true { flip(node) }
    return .skipChildren
  }

  override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind {
    .skipChildren
  }

  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}
