package group

import (
	"slices"

	"millrace/group/record"
)

const (
	// regexPauseMs is the least time between two looks for topics that match the group's regular expressions.
	regexPauseMs = 10_000
	// regexRefreshMs is the most.
	regexRefreshMs = 10 * 60_000
)

// reviewRegexes matches the members' regular expressions with the topics, as an event of its own, if some was not matched
// yet, or if the topics have changed and it is time.
func (k *consumerGroup) reviewRegexes() {
	if k.resolving || !k.regexesDue() {
		return
	}
	k.resolving = true
	k.c.event(k.g, func() {
		if k.g.protocol == k {
			k.matchRegexes()
		}
	})
}

func (k *consumerGroup) regexesDue() bool {
	any := false
	for _, m := range k.members {
		if regex := text(m.sub.SubscribedRegex); regex != "" {
			any = true
			if k.regexes[regex] == nil {
				return true
			}
		}
	}
	passed := k.c.now.Mono - k.reviewed.ms
	return any && (passed >= regexPauseMs && k.reviewed.version != k.c.topics.Version() || passed >= regexRefreshMs)
}

// matchRegexes stores what the regular expressions match now. The group's epoch rises if that changes what is read.
func (k *consumerGroup) matchRegexes() {
	ch := &change{c: k.c, g: k.g, k: k}
	want := map[string]bool{}
	for _, m := range k.members {
		if regex := text(m.sub.SubscribedRegex); regex != "" {
			want[regex] = true
		}
	}
	version := k.c.topics.Version()
	for _, regex := range sortedKeys(want) {
		found := k.match(regex)
		if have := k.regexes[regex]; have == nil || !slices.Equal(have.Topics, found) {
			ch.apply(k.regexRecord(regex, &record.Regex{Topics: found, Version: version, TimeMs: k.c.now.Wall}))
		}
	}
	if ch.drafted {
		ch.k.stale = true
		ch.bump(nil, false)
	}
	ch.commit(func(now *consumerGroup, code Code) {
		k.resolving = false
		if code == None {
			k.reviewed = review{k.c.now.Mono, version}
		}
	})
}

// match are the names of the topics that match, in order.
func (k *consumerGroup) match(regex string) []string {
	found := []string{}
	re, err := compileRegex(regex)
	if err != nil {
		return found
	}
	k.c.topics.Each(func(t Topic) bool {
		if re.MatchString(t.Name) {
			found = append(found, t.Name)
		}
		return true
	})
	slices.Sort(found)
	return found
}
