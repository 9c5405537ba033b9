import UseCase

extension Scenario {
  static let all = [
    unlimited, serial, limit, limitWaiting, cancelPrevious, cancelPreviousAndWait, debounce,
    dropWhileBusy, keepLatest, throttle, keepLatestDebounced, serialRate, dropWhileBusySpaced,
    limitByPriority, suspension,
  ]

  /// The scenarios that stand side by side under the same keystrokes.
  static let compared = [
    unlimited, serial, cancelPrevious, debounce, dropWhileBusy, keepLatest,
  ]

  static let unlimited = Scenario(
    name: "unlimited",
    caption: Caption(
      code: ".unlimited",
      sentence: Phrase(
        "All run at once. A slow answer may come last.",
        "Se ejecutan todas. La lenta puede llegar la última."),
      gist: Phrase("all run at once", "todas a la vez")),
    policy: .unlimited)

  static let serial = Scenario(
    name: "serial",
    caption: Caption(
      code: ".serial",
      sentence: Phrase(
        "One runs at a time, first come, first served.",
        "Se ejecuta una cada vez, por orden de llegada."),
      gist: Phrase("one at a time, in order", "de una en una, por orden")),
    policy: .serial)

  static let limit = Scenario(
    name: "limit",
    caption: Caption(
      code: ".limit(2)",
      sentence: Phrase(
        "Two run at a time, the others wait their turn.",
        "Se ejecutan dos a la vez y las demás esperan."),
      gist: Phrase("two at a time", "de dos en dos")),
    policy: .limit(2))

  static let limitWaiting = Scenario(
    name: "limit-waiting",
    caption: Caption(
      code: ".limit(1, waiting: 1)",
      sentence: Phrase(
        "One runs, one waits, and other calls are dropped.",
        "Se ejecuta una, espera otra y el resto se descarta."),
      gist: Phrase("a line with an end", "una fila con final")),
    policy: .limit(1, waiting: 1))

  static let cancelPrevious = Scenario(
    name: "cancel-previous",
    caption: Caption(
      code: ".cancelPrevious",
      sentence: Phrase(
        "Each call cancels the one before it and runs at once.",
        "Cada llamada cancela la anterior y empieza ya."),
      gist: Phrase("only the newest survives", "solo queda la última")),
    policy: .cancelPrevious)

  static let cancelPreviousAndWait = Scenario(
    name: "cancel-previous-and-wait",
    caption: Caption(
      code: ".cancelPreviousAndWait",
      sentence: Phrase(
        "The newest runs once the cancelled body has returned.",
        "La última empieza al terminar el cuerpo cancelado."),
      gist: Phrase("newest, never two bodies", "la última, sin solaparse")),
    policy: .cancelPreviousAndWait)

  static let debounce = Scenario(
    name: "debounce",
    caption: Caption(
      code: ".cancelPrevious(debounce: .milliseconds(300))",
      sentence: Phrase(
        "The newest runs after 300 ms without another call.",
        "La última empieza tras 300 ms sin otra llamada."),
      gist: Phrase("the newest, after a pause", "la última, tras una pausa")),
    policy: .cancelPrevious(debounce: .milliseconds(300)), pause: Stage.Pause(debounce: 12))

  static let dropWhileBusy = Scenario(
    name: "drop-while-busy",
    caption: Caption(
      code: ".dropWhileBusy",
      sentence: Phrase(
        "While one runs, every other call is dropped.",
        "Mientras se ejecuta una, se descartan las demás."),
      gist: Phrase("no others while one runs", "mientras hay una, ninguna más")),
    policy: .dropWhileBusy)

  static let keepLatest = Scenario(
    name: "keep-latest",
    caption: Caption(
      code: ".keepLatest",
      sentence: Phrase(
        "One runs, and only the newest of the others waits.",
        "Se ejecuta una y de las demás solo espera la última."),
      gist: Phrase("only the newest may wait", "solo espera la última")),
    policy: .keepLatest)

  static let throttle = Scenario(
    name: "throttle",
    caption: Caption(
      code: ".throttle(.milliseconds(700))",
      sentence: Phrase(
        "The newest runs, 700 ms after the last start.",
        "La última empieza 700 ms tras el último inicio."),
      gist: Phrase("the newest, at intervals", "la última, a intervalos")),
    policy: .throttle(.milliseconds(700)), pause: Stage.Pause(interval: 28))

  static let keepLatestDebounced = Scenario(
    name: "keep-latest-debounced",
    caption: Caption(
      code: ".keepLatest.debounced(by: …, atMost: …)",
      sentence: Phrase(
        "The newest runs after a 300 ms pause, or after 500 ms.",
        "Empieza la última tras 300 ms sin llamadas, o tras 500."),
      gist: Phrase("the newest, after a pause", "la última, tras una pausa")),
    policy: .keepLatest.debounced(by: .milliseconds(300), atMost: .milliseconds(500)),
    pause: Stage.Pause(debounce: 12, longest: 20))

  static let serialRate = Scenario(
    name: "serial-rate",
    caption: Caption(
      code: ".serial.rate(2, per: .milliseconds(500))",
      sentence: Phrase(
        "At most two start in any 500 ms, and none is lost.",
        "Dos inicios por cada 500 ms, y ninguna se pierde."),
      gist: Phrase("so many per interval", "tantas por intervalo"),
      calls: Phrase("requests to a server", "peticiones a un servidor")),
    policy: .serial.rate(2, per: .milliseconds(500)),
    pause: Stage.Pause(starts: 2, interval: 20),
    steps: zip(0..., ["a", "b", "c", "d", "e"]).map { index, name in
      Step(tick: 5 * index, action: .execute(Call(text: name, work: 4)))
    })

  static let dropWhileBusySpaced = Scenario(
    name: "drop-while-busy-spaced",
    caption: Caption(
      code: ".dropWhileBusy.spaced(by: .milliseconds(700))",
      sentence: Phrase(
        "For 700 ms after a start, every other call is dropped.",
        "Durante 700 ms tras un inicio, se descartan las demás."),
      gist: Phrase("no others for a while", "por un tiempo, ninguna más")),
    policy: .dropWhileBusy.spaced(by: .milliseconds(700)))

  static let limitByPriority = Scenario(
    name: "limit-by-priority",
    caption: Caption(
      code: ".limit(2).byPriority",
      sentence: Phrase(
        "Of those that wait, the most urgent starts next.",
        "De las que esperan, empieza antes la más urgente."),
      gist: Phrase("the most urgent first", "primero la más urgente"),
      calls: Phrase("p is prefetched, v is visible", "p se carga por adelantado, v se ve")),
    policy: .limit(2).byPriority,
    steps: zip(0..., ["p1", "p2", "p3", "v1", "v2"]).map { index, name in
      let priority = name.hasPrefix("v") ? TaskPriority.high : .low
      return Step(tick: 4 * index, action: .execute(Call(text: name, priority: priority)))
    })

  static let suspension = Scenario(
    name: "suspension",
    caption: Caption(
      code: "suspend() … resume()",
      sentence: Phrase(
        "Running operations go on, and no other one starts.",
        "Las que se ejecutan siguen, y no empieza otra."),
      gist: Phrase("nothing starts", "no empieza ninguna"),
      calls: Phrase("uploads on .limit(2)", "subidas en .limit(2)")),
    policy: .limit(2),
    steps: zip(0..., ["a", "b", "c", "d", "e"]).map { index, name in
      Step(tick: 8 * index, action: .execute(Call(text: name, fails: name == "c")))
    } + [
      Step(tick: 12, action: .suspend), Step(tick: 33, action: .cancel(3)),
      Step(tick: 52, action: .resume),
    ])
}

extension Scenario {
  /// Two searches at once, and later a third.
  static let busyQueue = Scenario(
    name: "busy-queue",
    caption: Caption(
      code: "search.queue.isBusy",
      sentence: Phrase(
        "The queue is busy until the last body has returned.",
        "La cola está ocupada hasta que acaba el último cuerpo."),
      gist: cancelPrevious.caption.gist),
    policy: .cancelPrevious,
    steps: zip([0, 8, 40], ["e", "em", "emm"]).map { tick, text in
      Step(tick: tick, action: .execute(Call(text: text)))
    })

  /// The first two of them.
  static let superseded = Scenario(
    name: busyQueue.name, caption: busyQueue.caption, policy: .cancelPrevious,
    steps: Array(busyQueue.steps.prefix(2)))
}
