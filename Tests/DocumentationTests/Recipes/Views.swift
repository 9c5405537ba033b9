import TestSupport
import Testing
import UseCase
import UseCaseHistory

#if canImport(SwiftUI)
  import Foundation
  import SwiftUI
#endif

struct SearchNotes: UseCase {
  let notes: Notes
  let queue = UseCaseQueue(
    .cancelPrevious, interceptors: [RetryInterceptor(attempts: 3)])

  func main(_ text: String) async throws -> [String] {
    try await notes.titles(containing: text)
  }
}

struct ImportNotes: ReportingUseCase {
  let notes: Notes
  let queue = UseCaseQueue(.dropWhileBusy)

  func main(
    _ titles: [String], report: @escaping @Sendable (Double) -> Void
  ) async throws -> Int {
    for (index, title) in titles.enumerated() {
      try await notes.insert(title, at: index)
      report(Double(index + 1) / Double(titles.count))
    }
    return titles.count
  }
}

struct RemoveNote: UndoableUseCase {
  let notes: Notes

  func main(_ title: String) async throws -> Int {
    try await notes.remove(title)
  }

  func undo(_ title: String, _ index: Int) async throws {
    try await notes.insert(title, at: index)
  }

  func title(for title: String) -> String { "Remove “\(title)”" }
}

@MainActor
final class NotesModel {
  let search: UseCaseModel<SearchNotes>
  let imports: ReportingUseCaseModel<ImportNotes>
  let removal: UseCaseModel<RecordedUseCase<RemoveNote>>
  let edits: HistoryModel

  init(notes: Notes, history: UseCaseHistory = UseCaseHistory()) {
    search = UseCaseModel(SearchNotes(notes: notes))
    imports = ReportingUseCaseModel(ImportNotes(notes: notes))
    removal = UseCaseModel(RemoveNote(notes: notes).recorded(in: history))
    edits = HistoryModel(history)
  }
}

#if canImport(SwiftUI) && !os(tvOS)
  struct NotesView: View {
    @State private var model: NotesModel
    @State private var text = ""

    init(model: NotesModel) {
      _model = State(initialValue: model)
    }

    var body: some View {
      List(model.search.value ?? [], id: \.self) { title in
        Text(title).swipeActions {
          Button("Remove") { model.removal.execute(title) }
        }
      }
      .searchable(text: $text)
      .onChange(of: text, initial: true) { find() }
      .onChange(of: edits.version) { find() }
      .onChange(of: model.imports.isRunning) { find() }
      .overlay {
        if model.search.isRunning {
          ProgressView()
        } else if let error = model.search.error {
          Text("Nothing new: \(error.localizedDescription)")
        }
      }
      .safeAreaInset(edge: .bottom) {
        if model.imports.isRunning {
          ProgressView(value: model.imports.update ?? 0)
        }
      }
      .toolbar {
        Button("Import") { model.imports.execute(["tea", "jam"]) }
          .disabled(model.imports.isRunning)
        Button("Undo \(edits.undoTitle ?? "")") { model.edits.undo() }
          .disabled(!edits.canUndo)
        Button("Redo \(edits.redoTitle ?? "")") { model.edits.redo() }
          .disabled(!edits.canRedo)
      }
    }

    private var edits: HistoryState { model.edits.state }

    private func find() { model.search.execute(text) }
  }
#endif

actor Notes {
  private(set) var titles: [String]

  init(_ titles: [String]) {
    self.titles = titles
  }

  func titles(containing text: String) throws -> [String] {
    titles.filter { text.isEmpty || $0.contains(text) }
  }

  func insert(_ title: String, at index: Int) throws { titles.insert(title, at: index) }

  func remove(_ title: String) throws -> Int {
    guard let index = titles.firstIndex(of: title) else { throw NotThere(title: title) }
    titles.remove(at: index)
    return index
  }

  struct NotThere: Error {
    let title: String
  }
}

@Suite(.mustEnd) @MainActor
struct ViewsTests {
  private let notes = Notes(["milk", "bread", "mint"])

  @Test func `the models show what the view draws`() async {
    let model = NotesModel(notes: notes)
    await model.search.execute("mi").ended()
    #expect(model.search.value == ["milk", "mint"])
    await model.imports.execute(["tea", "jam"]).ended()
    #expect(model.imports.update == 1 && !model.imports.isRunning)
    await model.removal.execute("bread").ended()
    #expect(model.edits.state.undoTitle == "Remove “bread”")
    #expect(await notes.titles == ["tea", "jam", "milk", "mint"])
  }

  @Test func `an undo that fails tells why`() async throws {
    let history = UseCaseHistory()
    let screen = RecipeScreen()
    let model = NotesModel(notes: notes, history: history)
    await model.removal.execute("milk").ended()
    await history.undo().ended()
    _ = try await notes.remove("milk")
    let operation =
      history.redo()
      .catch { error in screen.show("Not redone: \(error)") }
    await operation.ended()
    #expect(screen.lines == [#"Not redone: NotThere(title: "milk")"#])
    #expect(model.edits.state.canRedo)
  }
}
