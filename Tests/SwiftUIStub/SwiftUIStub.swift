// The names of SwiftUI that the views of the pages and of the examples use, for systems that don't
// have it. They say nothing and draw nothing: what compiles against them is spelled as SwiftUI spells
// it, and no more.
//
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// An example compiles this as a module of the name SwiftUI, which may therefore be importable.
#if !canImport(Darwin)
  @MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
  }

  /// What every view and every modifier of the stub returns.
  public struct StubView: View {
    nonisolated init() {}
    public var body: StubView { self }
  }

  @resultBuilder
  public enum ViewBuilder {
    public static func buildBlock(_ views: any View...) -> StubView { StubView() }
    public static func buildExpression(_ view: some View) -> StubView { StubView() }
    public static func buildOptional(_ view: StubView?) -> StubView { StubView() }
    public static func buildEither(first view: StubView) -> StubView { view }
    public static func buildEither(second view: StubView) -> StubView { view }
  }

  @propertyWrapper
  public struct State<Value> {
    public var wrappedValue: Value {
      get { box.value }
      nonmutating set { box.value = newValue }
    }
    public var projectedValue: Binding<Value> { Binding() }
    private let box: Box

    public init(wrappedValue: Value) { box = Box(wrappedValue) }
    public init(initialValue: Value) { box = Box(initialValue) }

    private final class Box {
      var value: Value
      init(_ value: Value) { self.value = value }
    }
  }

  public struct Binding<Value> {}

  @propertyWrapper @dynamicMemberLookup
  public struct Bindable<Value: AnyObject> {
    public var wrappedValue: Value
    public var projectedValue: Bindable<Value> { self }
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public subscript<Member>(
      dynamicMember keyPath: ReferenceWritableKeyPath<Value, Member>
    ) -> Binding<Member> { Binding() }
  }

  public enum ScenePhase: Hashable { case active, inactive, background }

  public struct EnvironmentValues {
    public var scenePhase: ScenePhase { .active }
  }

  @propertyWrapper
  public struct Environment<Value> {
    public let wrappedValue: Value
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {
      wrappedValue = EnvironmentValues()[keyPath: keyPath]
    }
  }

  public struct BorderlessButtonStyle {
    public static var borderless: BorderlessButtonStyle { BorderlessButtonStyle() }
  }

  public enum VerticalEdge { case top, bottom }

  public struct KeyEquivalent: ExpressibleByExtendedGraphemeClusterLiteral {
    public init(extendedGraphemeClusterLiteral value: Character) {}
  }

  @MainActor @preconcurrency
  public func Text(_ text: some StringProtocol) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func Text(verbatim text: String) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func ProgressView() -> StubView { StubView() }
  @MainActor @preconcurrency
  public func ProgressView(value: Double) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func TextEditor(text: Binding<String>) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func Button(
    _ title: some StringProtocol, action: @escaping @MainActor () -> Void
  ) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func HStack(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func VStack(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func NavigationStack(@ViewBuilder root: () -> StubView) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func NavigationSplitView(
    @ViewBuilder sidebar: () -> StubView, @ViewBuilder detail: () -> StubView
  ) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func List<Element: Identifiable>(
    _ rows: [Element], selection: Binding<Element.ID?>,
    @ViewBuilder content: (Element) -> StubView
  ) -> StubView { StubView() }
  @MainActor @preconcurrency
  public func List<Element, ID>(
    _ rows: [Element], id: KeyPath<Element, ID>, @ViewBuilder content: (Element) -> StubView
  ) -> StubView { StubView() }

  @MainActor @preconcurrency
  public func List<Element: Identifiable>(
    _ rows: [Element], @ViewBuilder content: (Element) -> StubView
  ) -> StubView { StubView() }

  @MainActor @preconcurrency public protocol Commands {
    associatedtype Body: Commands
    var body: Body { get }
  }

  @MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    var body: Body { get }
  }

  public struct StubScene: Scene {
    nonisolated init() {}
    public var body: StubScene { self }
  }

  @MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
  }

  extension App {
    /// Shows nothing.
    public static func main() {}
  }

  @MainActor @preconcurrency
  public func WindowGroup(@ViewBuilder content: () -> StubView) -> StubScene { StubScene() }

  extension Scene {
    public func commands(_ content: () -> some Commands) -> StubScene { StubScene() }
  }

  public struct StubCommands: Commands {
    nonisolated init() {}
    public var body: StubCommands { self }
  }

  public enum CommandGroupPlacement { case undoRedo }

  @MainActor @preconcurrency
  public func CommandGroup(
    replacing group: CommandGroupPlacement, @ViewBuilder addition: () -> StubView
  ) -> StubCommands { StubCommands() }

  public struct EventModifiers: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let command = EventModifiers(rawValue: 1)
    public static let shift = EventModifiers(rawValue: 2)
  }

  extension View {
    public func buttonStyle(_ style: BorderlessButtonStyle) -> StubView { StubView() }
    public func id(_ id: some Hashable) -> StubView { StubView() }
    public func disabled(_ isDisabled: Bool) -> StubView { StubView() }
    public func keyboardShortcut(
      _ key: KeyEquivalent, modifiers: EventModifiers = .command
    ) -> StubView { StubView() }
    public func onChange<Value>(of value: Value, _ action: () -> Void) -> StubView { StubView() }
    public func onChange<Value>(of value: Value, initial: Bool, _ action: () -> Void) -> StubView {
      StubView()
    }
    public func onChange<Value>(of value: Value, _ action: (Value, Value) -> Void) -> StubView {
      StubView()
    }
    public func onAppear(perform action: () -> Void) -> StubView { StubView() }
    public func onDisappear(perform action: () -> Void) -> StubView { StubView() }
    public func overlay(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
    public func refreshable(
      action: @escaping @MainActor @Sendable () async -> Void
    ) -> StubView { StubView() }
    public func safeAreaInset(edge: VerticalEdge, @ViewBuilder content: () -> StubView) -> StubView
    {
      StubView()
    }
    public func searchable(text: Binding<String>) -> StubView { StubView() }
    public func swipeActions(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
    public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> StubView {
      StubView()
    }
    public func task<ID: Equatable>(
      id: ID, _ action: @escaping @MainActor @Sendable () async -> Void
    ) -> StubView { StubView() }
    public func toolbar(@ViewBuilder content: () -> StubView) -> StubView { StubView() }
  }
#endif
