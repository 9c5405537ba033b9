// `.ci/run` appends this to the manifest for the thread sanitizer. Left out is what no two threads
// share, such as the decisions of the machines, and steps that are taken one by one; the code of the
// pages, which has timeouts of seconds; and the clients, the same file five times. `.ci/release` leaves
// nothing out.
package.targets.removeAll { $0.name == "DocumentationTests" || clients.keys.contains($0.name) }

let alone: [String: [String]] = [
  "UseCaseTests": [
    "Handlers/HandlerListTests.swift", "Models/OptimisticModelTests.swift",
    "Models/OptimisticSession.swift", "Operation/OperationMachineTests.swift",
    "Operation/OperationWorld+Acts.swift", "Operation/OperationWorld.swift",
    "Queue/EveryPairTests.swift", "Queue/PlainQueue.swift", "Queue/QueueMachineTests.swift",
    "Queue/QueuePair.swift", "Queue/QueueWorld.swift", "Queue/QueueWorldTests.swift",
  ],
  "UseCaseHistoryTests": [
    "CostTests.swift", "Entries", "Journal/GoldenTests.swift", "Journal/HostileRows.swift",
    "Journal/HostileRowsTests.swift", "Journal/JournalCrashTests.swift",
    "Journal/JournalDoubtTests.swift", "Journal/JournalTests.swift",
    "Journal/JournalUpkeepTests.swift", "Journal/RecoveryMatrixTests.swift", "RecordedSessions",
    "Table", "Undo/CursorTests.swift", "Undo/DocumentTests.swift",
    "Undo/FailureAtEveryPointTests.swift", "Undo/MoveTests.swift", "Undo/ObsoleteTests.swift",
    "Undo/UndoEntryTests.swift",
  ],
]
for target in package.targets { target.exclude += alone[target.name] ?? [] }
