package controller

// ValidateDelete says what Apply would answer for c on im.
func ValidateDelete(im *Image, c *DeleteTopics) []TopicResult {
	results, _ := planDelete(im, c)
	return results
}

// planDelete checks as Kafka does: an entry with both or neither of name and id, a name or id given twice, and a
// topic named by name and by id are refused, and nothing of them is deleted. Topics that come out nil are not to
// be deleted.
func planDelete(im *Image, c *DeleteTopics) ([]TopicResult, []*Topic) {
	names, ids := make(map[string]int, len(c.Topics)), make(map[UUID]int)
	for i := range c.Topics {
		if ref := &c.Topics[i]; ref.Name != nil && ref.ID == (UUID{}) {
			names[*ref.Name]++
		} else if ref.Name == nil && ref.ID != (UUID{}) {
			ids[ref.ID]++
		}
	}
	results, topics := make([]TopicResult, 0, len(c.Topics)), make([]*Topic, 0, len(c.Topics))
	add := func(t *Topic, r TopicResult) {
		if r.Code != CodeNone {
			t = nil
		}
		results, topics = append(results, r), append(topics, t)
	}
	for i := range c.Topics {
		ref := &c.Topics[i]
		switch {
		case ref.Name == nil && ref.ID == (UUID{}):
			add(nil, TopicResult{NoName: true, Code: CodeInvalidRequest, Text: "Neither topic name nor id were specified."})
		case ref.Name != nil && ref.ID != (UUID{}):
			add(nil, TopicResult{Name: *ref.Name, ID: ref.ID, Code: CodeInvalidRequest, Text: "You may not specify both topic name and topic id."})
		case ref.Name != nil:
			n := names[*ref.Name]
			delete(names, *ref.Name)
			if n == 0 {
				continue // said already
			}
			t := im.Topic(*ref.Name)
			r := TopicResult{Name: *ref.Name}
			if n > 1 {
				refuse(&r, CodeInvalidRequest, "Duplicate topic name.")
			} else if t == nil {
				refuse(&r, CodeUnknownTopicOrPartition, "This server does not host this topic-partition.")
			} else if ids[t.ID] > 0 {
				r.ID = t.ID
				delete(ids, t.ID)
				refuse(&r, CodeInvalidRequest, "The provided topic name maps to an ID that was already supplied.")
			} else {
				r.ID = t.ID
			}
			add(t, r)
		default:
			n := ids[ref.ID]
			delete(ids, ref.ID)
			if n == 0 {
				continue
			}
			t := im.TopicByID(ref.ID)
			r := TopicResult{ID: ref.ID, NoName: t == nil}
			if t != nil {
				r.Name = t.Name
			}
			if n > 1 {
				refuse(&r, CodeInvalidRequest, "Duplicate topic id.")
			} else if t == nil {
				refuse(&r, CodeUnknownTopicID, "This server does not host this topic ID.")
			} else if names[t.Name] > 0 {
				delete(names, t.Name)
				refuse(&r, CodeInvalidRequest, "The provided topic name maps to an ID that was already supplied.")
			}
			add(t, r)
		}
	}
	return results, topics
}

// Kind implements Body.
func (c *DeleteTopics) Kind() Kind { return KindDeleteTopics }

func (c *DeleteTopics) apply(b *Builder, _ uint64) Result {
	results, topics := planDelete(b.im, c)
	for _, t := range topics {
		if t != nil {
			b.dropTopic(t)
			b.change(Change{Kind: TopicDeleted, Topic: t})
		}
	}
	return Result{Topics: results}
}
