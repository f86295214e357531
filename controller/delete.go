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
	d := deletion{im: im, names: make(map[string]int, len(c.Topics)), ids: make(map[UUID]int)}
	for i := range c.Topics {
		if ref := &c.Topics[i]; ref.Name != nil && ref.ID == (UUID{}) {
			d.names[*ref.Name]++
		} else if ref.Name == nil && ref.ID != (UUID{}) {
			d.ids[ref.ID]++
		}
	}
	saidName, saidID := make(map[string]bool, len(d.names)), make(map[UUID]bool, len(d.ids))
	for i := range c.Topics {
		ref := &c.Topics[i]
		switch {
		case ref.Name == nil && ref.ID == (UUID{}):
			d.refuse(TopicResult{NoName: true}, CodeInvalidRequest, "Neither topic name nor id were specified.")
		case ref.Name != nil && ref.ID != (UUID{}):
			d.refuse(TopicResult{Name: *ref.Name, ID: ref.ID}, CodeInvalidRequest, "You may not specify both topic name and topic id.")
		case ref.Name != nil && !saidName[*ref.Name]:
			saidName[*ref.Name] = true
			d.byName(*ref.Name)
		case ref.Name == nil && !saidID[ref.ID]:
			saidID[ref.ID] = true
			d.byID(ref.ID)
		}
	}
	return d.results, d.topics
}

// deletion is a DeleteTopics on its way: how often each name and id was given, and what comes of it.
type deletion struct {
	im      *Image
	names   map[string]int
	ids     map[UUID]int
	results []TopicResult
	topics  []*Topic // nil for those not to be deleted
}

func (d *deletion) refuse(r TopicResult, code Code, text string) {
	r.Code, r.Text = code, text
	d.results, d.topics = append(d.results, r), append(d.topics, nil)
}

func (d *deletion) accept(t *Topic) {
	d.results, d.topics = append(d.results, TopicResult{Name: t.Name, ID: t.ID}), append(d.topics, t)
}

func (d *deletion) byName(name string) {
	t := d.im.Topic(name)
	switch {
	case d.names[name] > 1:
		d.refuse(TopicResult{Name: name}, CodeInvalidRequest, "Duplicate topic name.")
	case t == nil:
		d.refuse(TopicResult{Name: name}, CodeUnknownTopicOrPartition, "This server does not host this topic-partition.")
	case d.ids[t.ID] > 0:
		d.refuse(TopicResult{Name: name, ID: t.ID}, CodeInvalidRequest, "The provided topic name maps to an ID that was already supplied.")
	default:
		d.accept(t)
	}
}

func (d *deletion) byID(id UUID) {
	t := d.im.TopicByID(id)
	switch {
	case d.ids[id] > 1:
		d.refuse(TopicResult{NoName: true, ID: id}, CodeInvalidRequest, "Duplicate topic id.")
	case t == nil:
		d.refuse(TopicResult{NoName: true, ID: id}, CodeUnknownTopicID, "This server does not host this topic ID.")
	case d.names[t.Name] == 1: // byName says it
	default:
		d.accept(t)
	}
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
