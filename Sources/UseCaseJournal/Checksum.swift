/// CRC-32C, the checksum of iSCSI, ext4 and many log files. It finds each error of one byte.
enum Checksum {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0x82f6_3b78 ^ value >> 1 : value >> 1
    }
  }

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    table.withUnsafeBufferPointer { table in
      bytes.withUnsafeBufferPointer { bytes in
        var value = UInt32.max
        for byte in bytes {
          value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8
        }
        return ~value
      }
    }
  }
}
