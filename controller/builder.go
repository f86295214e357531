package controller

import "slices"

// Builder applies commands to a copy of an image. It shares with the image all that does not change, and what it
// copied once it writes in place, so many commands cost little more than one. Owned by the goroutine that
// applies; the image it started from stays as it is.
type Builder struct {
	im      *Image
	edit    *edit
	changes []Change
}

// NewBuilder starts from im.
func NewBuilder(im *Image) *Builder { return newBuilder(im) }

func newBuilder(im *Image) *Builder {
	c := *im
	c.brokers = slices.Clone(im.brokers)
	c.sessions = slices.Clone(im.sessions)
	return &Builder{im: &c, edit: new(edit)}
}

// Done returns the image and what changed since NewBuilder, in order. The builder must not be used after it.
func (b *Builder) Done() (*Image, []Change) {
	im, changes := b.im, b.changes
	b.im, b.edit, b.changes = nil, nil, nil
	return im, changes
}

// Image is the state so far. It is not published: whoever calls must not keep it.
func (b *Builder) Image() *Image { return b.im }

// Apply applies one committed command of the log at index. It is deterministic: image and command decide all.
// The third result tells whether cmd's counter was the next of its session or one already applied: if not, the
// command was not applied and no result of it exists (its proposer sends it again in order).
func (b *Builder) Apply(index uint64, cmd *Command) (Result, bool) {
	b.im.index = index
	i, known := b.session(cmd.Node)
	if known && b.im.sessions[i].incarnation == cmd.Incarnation {
		s := b.im.sessions[i]
		switch {
		case cmd.Counter == s.counter:
			return s.last, true
		case cmd.Counter != s.counter+1:
			return Result{}, false
		}
	} else if _, registers := cmd.Body.(*RegisterBroker); !registers {
		return Result{Code: CodeStaleBrokerEpoch, Text: "The sending broker's incarnation is not registered.", Index: index}, true
	}
	var r Result
	switch body := cmd.Body.(type) {
	case *RegisterBroker:
		r = b.register(index, cmd, body)
	case *TakeLeadership:
		b.takeLeadership(cmd.Node)
	default:
		r = cmd.Body.apply(b, index)
	}
	r.Index = index
	s := &session{node: cmd.Node, incarnation: cmd.Incarnation, counter: cmd.Counter, last: r}
	if known {
		b.im.sessions[i] = s
	} else {
		b.im.sessions = slices.Insert(b.im.sessions, i, s)
	}
	return r, true
}

// SetIndex records that the log is applied up to index, for entries that are not commands.
func (b *Builder) SetIndex(index uint64) { b.im.index = index }

func (b *Builder) session(node int32) (int, bool) {
	return slices.BinarySearchFunc(b.im.sessions, node, func(s *session, node int32) int {
		return int(s.node) - int(node)
	})
}

// Apply is Builder.Apply for one command.
func Apply(im *Image, index uint64, cmd *Command) (*Image, Result, []Change, bool) {
	b := NewBuilder(im)
	r, applied := b.Apply(index, cmd)
	next, changes := b.Done()
	return next, r, changes, applied
}

func (b *Builder) change(c Change) { b.changes = append(b.changes, c) }

// putTopic adds t or replaces the topic of its name and id.
func (b *Builder) putTopic(t *Topic) {
	if old := b.im.Topic(t.Name); old != nil {
		b.im.partitions -= len(old.Partitions)
	} else if hasCollisionChars(t.Name) {
		b.putCollision(t.Name)
	}
	b.im.partitions += len(t.Partitions)
	b.im.topics.set(b.edit, t.Name, t)
	b.im.byID.set(b.edit, t.ID, t)
	b.im.sorted.set(b.edit, t)
}

func (b *Builder) dropTopic(t *Topic) {
	b.im.partitions -= len(t.Partitions)
	b.im.topics.del(b.edit, t.Name)
	b.im.byID.del(b.edit, t.ID)
	b.im.sorted.del(b.edit, t.Name)
	if hasCollisionChars(t.Name) {
		b.dropCollision(t.Name)
	}
}
