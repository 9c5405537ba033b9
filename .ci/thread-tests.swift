// `.ci/run` appends this to the manifest for the thread sanitizer. Left out is what no two threads
// share, such as the decisions of the machines, and steps that are taken one by one; the code of the
// pages, which has timeouts of seconds; and the clients, the same file five times.
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
    "CostTests.swift", "Journal/HostileRows.swift", "Journal/HostileRowsTests.swift",
    "Journal/RecoveryMatrixTests.swift", "RecordedSessions", "Table",
    "Undo/FailureAtEveryPointTests.swift",
  ],
]
for target in package.targets { target.exclude += alone[target.name] ?? [] }
