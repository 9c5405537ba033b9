import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

#if canImport(SwiftUI)
  import Foundation
  import SwiftUI
#else
  import SwiftUIStub
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

  init(notes: Notes) {
    search = UseCaseModel(SearchNotes(notes: notes))
    imports = ReportingUseCaseModel(ImportNotes(notes: notes))
  }
}

enum PreviewSearch {
  static let titles = AnyUseCase<String, [String]> { _ in ["milk", "mint"] }
  static let failure = AnyUseCase<String, [String]> { _ in
    throw UseCaseTimeout(duration: .seconds(5))
  }
  static let loading = AnyUseCase<String, [String]> { _ in
    try await Task.sleep(for: .seconds(3600))
    return []
  }
}

enum Previewable {
  @MainActor
  final class NotesModel {
    let search: UseCaseModel<AnyUseCase<String, [String]>>
    let imports: ReportingUseCaseModel<ImportNotes>

    init(search: any UseCase<String, [String]>, notes: Notes) {
      self.search = UseCaseModel(search)
      imports = ReportingUseCaseModel(ImportNotes(notes: notes))
    }
  }
}

@MainActor
final class EditsModel {
  let removal: UseCaseModel<RecordedUseCase<RemoveNote>>
  let edits: HistoryModel

  init(notes: Notes, history: UseCaseHistory = UseCaseHistory()) {
    removal = UseCaseModel(RemoveNote(notes: notes).recorded(in: history))
    edits = HistoryModel(history)
  }
}

#if !os(tvOS)
  struct NotesView: View {
    @State private var model: NotesModel
    @State private var text = ""

    init(model: NotesModel) {
      _model = State(initialValue: model)
    }

    var body: some View {
      NavigationStack {
        List(model.search.value ?? [], id: \.self) { title in Text(title) }
          .searchable(text: $text)
          .onChange(of: text, initial: true) { find() }
          .onChange(of: model.imports.isRunning) { find() }
          .overlay {
            if model.search.isRunning {
              ProgressView()
            } else if let error = model.search.error {
              Text("Nothing new: \(String(describing: error))")
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
          }
      }
    }

    private func find() { model.search.execute(text) }
  }

  struct EditsView: View {
    @State var model: EditsModel
    @State private var message = ""

    var body: some View {
      VStack {
        Button("Remove milk") { follow(model.removal.execute("milk")) }
        Button("Undo \(edits.undoTitle ?? "")") { follow(edits.undo()) }
          .disabled(!edits.canUndo)
        Button("Redo \(edits.redoTitle ?? "")") { follow(edits.redo()) }
          .disabled(!edits.canRedo)
        Text(message)
      }
    }

    private var edits: HistoryModel { model.edits }

    private func follow<Request, Response>(
      _ operation: UseCaseOperation<Request, Response>
    ) {
      message = ""
      operation.catch { error in message = String(describing: error) }
    }
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

  @Test func `the models show what the view draws`() async throws {
    let model = NotesModel(notes: notes)
    try await model.search.execute("mi").settled()
    #expect(model.search.value == ["milk", "mint"])
    await model.imports.execute(["tea", "jam"]).ended()
    #expect(model.imports.update == 1 && !model.imports.isRunning)
    #expect(await notes.titles == ["tea", "jam", "milk", "bread", "mint"])
  }

  @Test func `a bar goes on when another import is dropped`() async {
    let importNotes = ImportNotes(notes: notes)
    let imports = ReportingUseCaseModel(importNotes)
    importNotes.queue.suspend()
    let first = imports.execute(["tea"])
    let second = imports.execute(["jam"])
    #expect(second.outcome != nil && imports.isRunning)
    await second.ended()
    importNotes.queue.resume()
    await first.ended()
    #expect(imports.update == 1 && !imports.isRunning)
    #expect(await notes.titles.contains("tea"))
  }

  @Test func `previews show titles, an error and an indicator`() async {
    let titles = model(PreviewSearch.titles)
    await titles.execute("mi").ended()
    #expect(titles.value == ["milk", "mint"])
    let failure = model(PreviewSearch.failure)
    await failure.execute("mi").ended()
    #expect(failure.error.map { "\($0)" } == "It took longer than 5 seconds.")
    let loading = model(PreviewSearch.loading)
    let operation = loading.execute("mi")
    #expect(loading.isRunning)
    operation.cancel()
    await operation.ended()
    let search = model(SearchNotes(notes: notes))
    await search.execute("mi").ended()
    #expect(search.value == ["milk", "mint"])
  }

  @Test func `a save goes on when its model goes away`() async throws {
    let saveDraft = ControlledUseCase<String, Void>()
    func type() -> UseCaseOperation<String, Void> {
      let draft = UseCaseModel(saveDraft, cancelsOnRelease: false)
      return draft.execute("Dear")
    }
    let operation = type()
    try await saveDraft.next().succeed(())
    try await operation.value
  }

  private func model(
    _ search: any UseCase<String, [String]>
  ) -> UseCaseModel<AnyUseCase<String, [String]>> {
    Previewable.NotesModel(search: search, notes: notes).search
  }

  @Test func `an undo that fails tells why`() async throws {
    let history = UseCaseHistory()
    let screen = TestScreen()
    let model = EditsModel(notes: notes, history: history)
    await model.removal.execute("milk").ended()
    #expect(model.edits.state.undoTitle == "Remove “milk”")
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
