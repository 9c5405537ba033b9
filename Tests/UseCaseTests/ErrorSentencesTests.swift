import TestSupport
import Testing
import UseCase

struct ErrorSentencesTests {
  @Test(.holds("Messages"))
  func `a timeout says how long is too long`() {
    let sentences: [(Duration, String)] = [
      (.seconds(5), "It took longer than 5 seconds."),
      (.seconds(1), "It took longer than 1 second."),
      (.milliseconds(300), "It took longer than 0.3 seconds."),
      (.milliseconds(1_500), "It took longer than 1.5 seconds."),
      (.zero, "It took longer than 0 seconds."),
      (.seconds(3_600), "It took longer than 3600 seconds."),
      (.seconds(-5), "It took longer than 0 seconds."),
      (.nanoseconds(1), "It took longer than 0.000000001 seconds."),
      (.milliseconds(999), "It took longer than 0.999 seconds."),
    ]
    for (duration, sentence) in sentences {
      #expect(String(describing: UseCaseTimeout(duration: duration)) == sentence)
    }
  }

  @Test func `a timeout as any error says the same`() {
    let error: any Error = UseCaseTimeout(duration: .seconds(5))
    #expect("\(error)" == "It took longer than 5 seconds.")
  }

  @Test(.holds("Messages"))
  func `a deadlock says how to avoid it`() {
    let error: any Error = UseCaseDeadlock()
    #expect("\(error)".contains("Use the call form, `try await useCase(request)`"))
    #expect("\(error)".hasSuffix("."))
  }
}
