package group

import "unicode/utf16"

// JavaHash is Java's hash of a string, over its UTF-16 units. Kafka places groups on partitions by it.
func JavaHash(s string) int32 {
	h := int32(0)
	for _, r := range s {
		if r >= 0x10000 {
			a, b := utf16.EncodeRune(r)
			h = 31*(31*h+int32(a)) + int32(b)
			continue
		}
		h = 31*h + int32(r)
	}
	return h
}

// javaBucket is the place of a string in a Java HashMap of no more than 12 keys, which is what decides where Kafka takes
// the first of equals in such a map.
func javaBucket(s string) uint32 {
	h := uint32(JavaHash(s))
	return (h ^ h>>16) & 15
}
