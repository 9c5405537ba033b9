swift test
