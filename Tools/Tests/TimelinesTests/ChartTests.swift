import Foundation
import Testing

/// Whether the chart of the benchmarks says what their table says.
struct ChartTests {
  private static let charts = ["results.svg", "results-es.svg"]
  private static let folder = URL.repository.appending(path: "Benchmarks")

  private func chart(_ name: String) throws -> Picture {
    Picture(try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8))
  }

  /// The median and the range of each contestant that is compared with bare work.
  private func measured() throws -> [(name: String, ratio: Double, most: Double)] {
    let table = try String(contentsOf: Self.folder.appending(path: "RESULTS.md"), encoding: .utf8)
    return table.matches(of: #/\|([^|\n]+)\| +([0-9.]+) +\| [0-9.]+ – ([0-9.]+) +\|/#).map { row in
      let name = row.output.1.trimmingCharacters(in: .whitespaces)
      return (name, Double(row.output.2) ?? 0, Double(row.output.3) ?? 0)
    }
  }

  @Test(arguments: charts) func `the costliest path is in the chart, with its number`(
    _ name: String
  ) throws {
    let worst = try #require(
      try measured().filter { $0.name.hasPrefix("UseCase") }.max { $0.ratio < $1.ratio })
    let number = String(format: "%.1f×", (worst.ratio * 10).rounded() / 10)
    let said = try chart(name).texts.map { $0.content.replacing(",", with: ".") }
    #expect(said.contains(number))
  }

  @Test(arguments: charts) func `a bar that is cut shows it`(_ name: String) throws {
    let picture = try chart(name)
    let values = picture.all("value").compactMap {
      Double($0.content.dropLast().replacing(",", with: "."))
    }
    let bars = picture.all("own").prefix(values.count).map { $0.number("width") }
    let one = try #require(picture.all("one").first).path[0]
    let zero = picture.all("own")[0].number("x")
    #expect(values.count > 10)
    for (value, bar) in zip(values, bars) where value <= 5 {
      #expect(abs(bar - value * (one - zero)) < 0.06 * (one - zero))
    }
    #expect(picture.all("break").count == values.count { $0 > 5 })
  }

  @Test(arguments: charts) func `every bar and every mark has a whisker`(_ name: String) throws {
    let picture = try chart(name)
    // The legend has one of each.
    #expect(picture.all("own").count - 1 == picture.all("onBar").count)
    #expect(picture.all("rival").count - 3 == picture.all("whisker").count - 1)
  }

  @Test(arguments: charts) func `a chart is readable on a phone, and in both schemes`(
    _ name: String
  ) throws {
    let picture = try chart(name)
    #expect(picture.isWellFormed)
    #expect(picture.width == 480)
    #expect(picture.smallestWord >= 14)
    #expect(picture.crowdedWords == [])
    let schemes = picture.style.matches(of: #/svg \{([^}]+)\}/#).map { match in
      Dictionary(
        match.output.1.matches(of: #/--(\w+): (#\w+)/#).map {
          (String($0.output.1), String($0.output.2))
        },
        uniquingKeysWith: { first, _ in first })
    }
    #expect(schemes.count == 2)
    for colours in schemes {
      let page = try #require(colours["page"])
      let (ink, own) = (try #require(colours["ink"]), try #require(colours["own"]))
      for word in [ink, try #require(colours["faint"])] { #expect(contrast(word, page) >= 4.5) }
      for shape in [own, try #require(colours["grid"])] { #expect(contrast(shape, page) >= 3) }
      // Half of a whisker stands on its bar.
      #expect(contrast(ink, own) >= 3)
    }
  }
}
