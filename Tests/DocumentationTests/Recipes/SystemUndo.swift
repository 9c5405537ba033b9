import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

#if canImport(Darwin)
  import Foundation
#endif
#if canImport(AppKit)
  import AppKit
#endif
#if canImport(UIKit) && !os(watchOS)
  import UIKit
#endif
#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStub
#endif

#if !os(tvOS) && !os(watchOS)
  final class HistoryUndoManager: UndoManager {
    private let history: UseCaseHistory
    private let show: @MainActor (any Error) -> Void

    init(_ history: UseCaseHistory, show: @escaping @MainActor (any Error) -> Void) {
      self.history = history
      self.show = show
      super.init()
      disableUndoRegistration()
    }

    override var canUndo: Bool { history.state.canUndo }
    override var canRedo: Bool { history.state.canRedo }
    override var undoActionName: String { history.state.undoTitle ?? "" }
    override var redoActionName: String { history.state.redoTitle ?? "" }

    override var undoMenuItemTitle: String {
      undoMenuTitle(forUndoActionName: undoActionName)
    }
    override var redoMenuItemTitle: String {
      redoMenuTitle(forUndoActionName: redoActionName)
    }

    override func undo() {
      history.undo().catch { @MainActor [show] error in show(error) }
    }

    override func redo() {
      history.redo().catch { @MainActor [show] error in show(error) }
    }
  }
#endif

#if os(macOS) || os(Linux)
  final class NotesDocument: NSDocument {
    let history = UseCaseHistory()
    private var following: Task<Void, Never>?

    override init() {
      super.init()
      undoManager = HistoryUndoManager(history) { error in print(error) }
      following = Task { [weak self, states = history.states()] in
        for await state in states {
          self?.updateChangeCount(state.isClean ? .changeCleared : .changeDone)
        }
      }
    }

    deinit { following?.cancel() }
  }
#endif

#if os(iOS) || os(visionOS) || os(Linux)
  final class NotesController: UIViewController {
    var manager: HistoryUndoManager?

    override var undoManager: UndoManager? { manager }
    override var canBecomeFirstResponder: Bool { true }

    override func viewDidAppear(_ animated: Bool) {
      super.viewDidAppear(animated)
      becomeFirstResponder()
    }
  }

  final class SearchController: UIViewController {
    private let search: any UseCase<String, [String]>
    private let label = UILabel()
    private let scope = UseCaseScope()

    init(search: any UseCase<String, [String]>) {
      self.search = search
      super.init(nibName: nil, bundle: nil)
    }

    required init?(coder: NSCoder) { nil }

    func textDidChange(_ text: String) {
      search.execute(text)
        .then { [label] titles in label.text = titles.joined(separator: ", ") }
        .catch { [label] error in label.text = String(describing: error) }
        .store(in: scope)
    }
  }
#endif

#if !os(tvOS) && !os(watchOS)
  struct UndoCommands: Commands {
    let edits: HistoryModel

    var body: some Commands {
      CommandGroup(replacing: .undoRedo) {
        Button("Undo \(edits.undoTitle ?? "")") { edits.undo() }
          .keyboardShortcut("z")
          .disabled(!edits.canUndo)
        Button("Redo \(edits.redoTitle ?? "")") { edits.redo() }
          .keyboardShortcut("z", modifiers: [.command, .shift])
          .disabled(!edits.canRedo)
      }
    }
  }
#endif

// The names of AppKit, UIKit and Foundation that the code above uses, for systems without them.
#if !canImport(Darwin)
  class UndoManager {
    private(set) var isUndoRegistrationEnabled = true
    var canUndo: Bool { false }
    var canRedo: Bool { false }
    var undoActionName: String { "" }
    var redoActionName: String { "" }
    var undoMenuItemTitle: String { "" }
    var redoMenuItemTitle: String { "" }
    func undo() {}
    func redo() {}
    func disableUndoRegistration() { isUndoRegistrationEnabled = false }
    func undoMenuTitle(forUndoActionName name: String) -> String { "Undo \(name)" }
    func redoMenuTitle(forUndoActionName name: String) -> String { "Redo \(name)" }
  }

  @MainActor
  class NSDocument {
    enum ChangeType { case changeDone, changeCleared }

    var undoManager: UndoManager?
    private(set) var isDocumentEdited = false
    init() {}
    func updateChangeCount(_ change: ChangeType) { isDocumentEdited = change == .changeDone }
  }

  class NSCoder {}

  @MainActor
  final class UILabel {
    var text: String?
  }

  @MainActor
  class UIViewController {
    private(set) var isFirstResponder = false
    var undoManager: UndoManager? { nil }
    var canBecomeFirstResponder: Bool { false }
    init(nibName: String? = nil, bundle: Never? = nil) {}
    required init?(coder: NSCoder) {}
    func viewDidAppear(_ animated: Bool) {}
    @discardableResult
    func becomeFirstResponder() -> Bool {
      isFirstResponder = canBecomeFirstResponder
      return isFirstResponder
    }
  }

  @Suite(.mustEnd) @MainActor
  struct SystemUndoTests {
    private let notes = Notes(["milk", "bread"])

    @Test func `the manager says and does what the history does`() async {
      let history = UseCaseHistory()
      let manager = HistoryUndoManager(history) { error in Issue.record(error) }
      #expect(!manager.canUndo && !manager.isUndoRegistrationEnabled)
      await RemoveNote(notes: notes).recorded(in: history).execute("milk").ended()
      #expect(manager.canUndo && manager.undoMenuItemTitle == "Undo Remove “milk”")
      manager.undo()
      await history.idle()
      #expect(await notes.titles == ["milk", "bread"])
      #expect(manager.canRedo && manager.redoMenuItemTitle == "Redo Remove “milk”")
      manager.redo()
      await history.idle()
      #expect(await notes.titles == ["bread"])
    }

    @Test func `an undo that fails is shown, and the menu stays enabled`() async throws {
      let history = UseCaseHistory()
      let shown = Log<String>()
      let manager = HistoryUndoManager(history) { error in shown.append("\(error)") }
      let remove = RemoveNote(notes: notes).recorded(in: history)
      await remove.execute("milk").ended()
      await history.undo().ended()
      _ = try await notes.remove("milk")
      manager.redo()
      await history.idle()
      #expect(await shown.elements(atLeast: 1) == [#"NotThere(title: "milk")"#])
      #expect(manager.canRedo)
    }

    @Test func `a document is edited until it is saved`() async {
      let document = NotesDocument()
      await RemoveNote(notes: notes).recorded(in: document.history).execute("milk").ended()
      while !document.isDocumentEdited { await Task.yield() }
      document.history.markSaved(document.history.savePoint())
      while document.isDocumentEdited { await Task.yield() }
      #expect(document.undoManager?.canUndo == true)
    }

    @Test func `a screen of UIKit hands the system its manager`() {
      let controller = NotesController()
      controller.manager = HistoryUndoManager(UseCaseHistory()) { _ in }
      controller.viewDidAppear(false)
      #expect(controller.isFirstResponder)
      #expect(controller.undoManager === controller.manager)
    }

    @Test func `a screen of UIKit cancels its search when it goes away`() async throws {
      let search = ControlledUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious))
      var controller: SearchController? = SearchController(search: search)
      controller?.textDidChange("mi")
      let call = try await search.next()
      controller = nil
      try await call.cancelled()
      await search.queue.idle()
      #expect(search.queue.activity.cancelled == 1)
    }
  }
#endif
