// The names of SwiftUI that the views of the pages use, for systems that don't have it. They say
// nothing and draw nothing: what compiles against them is spelled as SwiftUI spells it, and no more.
#if !canImport(SwiftUI)
  @MainActor @preconcurrency package protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
  }

  /// What every view and every modifier of the stub returns.
  package struct StubView: View {
    nonisolated init() {}
    package var body: StubView { self }
  }

  @resultBuilder
  package enum ViewBuilder {
    package static func buildBlock(_ views: any View...) -> StubView { StubView() }
    package static func buildExpression(_ view: some View) -> StubView { StubView() }
    package static func buildOptional(_ view: StubView?) -> StubView { StubView() }
    package static func buildEither(first view: StubView) -> StubView { view }
    package static func buildEither(second view: StubView) -> StubView { view }
  }

  @propertyWrapper
  package struct State<Value> {
    package var wrappedValue: Value {
      get { box.value }
      nonmutating set { box.value = newValue }
    }
    package var projectedValue: Binding<Value> { Binding() }
    private let box: Box

    package init(wrappedValue: Value) { box = Box(wrappedValue) }
    package init(initialValue: Value) { box = Box(initialValue) }

    private final class Box {
      var value: Value
      init(_ value: Value) { self.value = value }
    }
  }

  package struct Binding<Value> {}

  package enum ScenePhase: Hashable { case active, inactive, background }

  package struct EnvironmentValues {
    package var scenePhase: ScenePhase { .active }
  }

  @propertyWrapper
  package struct Environment<Value> {
    package let wrappedValue: Value
    package init(_ keyPath: KeyPath<EnvironmentValues, Value>) {
      wrappedValue = EnvironmentValues()[keyPath: keyPath]
    }
  }

  package enum VerticalEdge { case top, bottom }

  package struct KeyEquivalent: ExpressibleByExtendedGraphemeClusterLiteral {
    package init(extendedGraphemeClusterLiteral value: Character) {}
  }

  @MainActor @preconcurrency
  package func Text(_ text: some StringProtocol) -> StubView { StubView() }
  @MainActor @preconcurrency
  package func Text(verbatim text: String) -> StubView { StubView() }
  @MainActor @preconcurrency
  package func ProgressView() -> StubView { StubView() }
  @MainActor @preconcurrency
  package func ProgressView(value: Double) -> StubView { StubView() }
  @MainActor @preconcurrency
  package func Button(_ title: some StringProtocol, action: () -> Void) -> StubView { StubView() }
  @MainActor @preconcurrency
  package func VStack(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
  @MainActor @preconcurrency
  package func NavigationStack(@ViewBuilder root: () -> StubView) -> StubView { StubView() }
  @MainActor @preconcurrency
  package func List<Element, ID>(
    _ rows: [Element], id: KeyPath<Element, ID>, @ViewBuilder content: (Element) -> StubView
  ) -> StubView { StubView() }

  @MainActor @preconcurrency
  package func List<Element: Identifiable>(
    _ rows: [Element], @ViewBuilder content: (Element) -> StubView
  ) -> StubView { StubView() }

  @MainActor @preconcurrency package protocol Commands {
    associatedtype Body: Commands
    var body: Body { get }
  }

  package struct StubCommands: Commands {
    nonisolated init() {}
    package var body: StubCommands { self }
  }

  package enum CommandGroupPlacement { case undoRedo }

  @MainActor @preconcurrency
  package func CommandGroup(
    replacing group: CommandGroupPlacement, @ViewBuilder addition: () -> StubView
  ) -> StubCommands { StubCommands() }

  package struct EventModifiers: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let command = EventModifiers(rawValue: 1)
    package static let shift = EventModifiers(rawValue: 2)
  }

  extension View {
    package func disabled(_ isDisabled: Bool) -> StubView { StubView() }
    package func keyboardShortcut(
      _ key: KeyEquivalent, modifiers: EventModifiers = .command
    ) -> StubView { StubView() }
    package func onChange<Value>(of value: Value, _ action: () -> Void) -> StubView { StubView() }
    package func onChange<Value>(of value: Value, initial: Bool, _ action: () -> Void) -> StubView {
      StubView()
    }
    package func onChange<Value>(of value: Value, _ action: (Value, Value) -> Void) -> StubView {
      StubView()
    }
    package func onAppear(perform action: () -> Void) -> StubView { StubView() }
    package func onDisappear(perform action: () -> Void) -> StubView { StubView() }
    package func overlay(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
    package func refreshable(
      action: @escaping @MainActor @Sendable () async -> Void
    ) -> StubView { StubView() }
    package func safeAreaInset(edge: VerticalEdge, @ViewBuilder content: () -> StubView) -> StubView
    {
      StubView()
    }
    package func searchable(text: Binding<String>) -> StubView { StubView() }
    package func swipeActions(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
    package func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> StubView {
      StubView()
    }
    package func task<ID: Equatable>(
      id: ID, _ action: @escaping @MainActor @Sendable () async -> Void
    ) -> StubView { StubView() }
    package func toolbar(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
  }
#endif
