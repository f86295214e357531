package crc32c

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of data.
func Checksum(data []byte) uint32 { return Update(0, data) }

// Update is the checksum of what crc is the checksum of, followed by data.
func Update(crc uint32, data []byte) uint32 {
	if canFold && len(data) >= foldMin {
		n := len(data) &^ (lane - 1)
		crc = folded(crc, data[:n])
		data = data[n:]
	}
	return crc32.Update(crc, table, data)
}
