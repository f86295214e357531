package controller

import (
	"fmt"
	"slices"
	"strings"
)

// MaxTopicName is the longest legal topic name in bytes: a directory is named "<topic>-<partition>".
const MaxTopicName = 249

// metadataTopic is where Kafka keeps its metadata; nobody can create it.
const metadataTopic = "__cluster_metadata"

// CheckTopicName says what is wrong with a topic name, "" if nothing is. Legal are 1 to 249 of ASCII letters,
// digits, '.', '_' and '-', but for "." and "..".
func CheckTopicName(name string) string {
	switch {
	case name == "":
		return "Topic name is invalid: the empty string is not allowed"
	case name == "." || name == "..":
		return fmt.Sprintf("Topic name is invalid: '%s' is not allowed", name)
	case len(name) > MaxTopicName:
		return fmt.Sprintf("Topic name is invalid: the length of '%s' is longer than the max allowed length %d", name, MaxTopicName)
	}
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' {
			continue
		}
		return fmt.Sprintf("Topic name is invalid: '%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", name)
	}
	return ""
}

// InternalTopic tells whether a topic is one of Kafka's own.
func InternalTopic(name string) bool {
	return name == "__consumer_offsets" || name == "__transaction_state" || name == "__share_group_state"
}

func hasCollisionChars(name string) bool { return strings.ContainsAny(name, "._") }

// collisionKey is equal for names that collide: metric names cannot tell '.' from '_'.
func collisionKey(name string) string { return strings.ReplaceAll(name, ".", "_") }

// CollidingTopic returns an existing topic whose name differs from name only in '.' and '_', or "".
func (im *Image) CollidingTopic(name string) string {
	if !hasCollisionChars(name) {
		return ""
	}
	names, _ := im.collisions.get(collisionKey(name))
	for _, other := range names {
		if other != name {
			return other
		}
	}
	return ""
}

// putCollision and dropCollision keep the names of one key sorted.
func (b *Builder) putCollision(name string) {
	key := collisionKey(name)
	names, _ := b.im.collisions.get(key)
	i, _ := slices.BinarySearch(names, name)
	b.im.collisions.set(b.edit, key, slices.Insert(slices.Clone(names), i, name))
}

func (b *Builder) dropCollision(name string) {
	key := collisionKey(name)
	names, _ := b.im.collisions.get(key)
	if len(names) <= 1 {
		b.im.collisions.del(b.edit, key)
		return
	}
	i, _ := slices.BinarySearch(names, name)
	b.im.collisions.set(b.edit, key, slices.Delete(slices.Clone(names), i, i+1))
}
