package batch

import "io"

// streamWindow is how much of a section a Stream holds, in bytes.
const streamWindow = 16 << 10

// minBody is the shortest record without its length: attributes, two deltas,
// two lengths, header count.
const minBody = 6

// RecordHead is what a Stream tells of a record.
type RecordHead struct {
	// Size is the record's length in bytes without its length prefix.
	Size int
	// TimestampDelta and OffsetDelta as in Record.
	TimestampDelta int64
	OffsetDelta    int32
	// KeySize is negative for a null key; Body fills it in.
	KeySize int32
}

// Stream walks a record section that comes piece by piece, through a small
// window: keys, values and headers pass by and are not held, so that memory
// does not follow what a batch unpacks to. It is owned by the goroutine that
// resets it. The zero value is ready for Reset.
//
//	s.Reset(reader, count)
//	var h batch.RecordHead
//	for s.Next(&h) { ... }
//	if err := s.Err(); err != nil { ... }
type Stream struct {
	r        io.Reader
	buf      []byte
	pos, end int
	left     int32
	rest     int // bytes of the current record that were not passed yet
	err      error
	readErr  error
}

// Reset begins a section of count records.
func (s *Stream) Reset(r io.Reader, count int32) {
	if s.buf == nil {
		s.buf = make([]byte, streamWindow)
	}
	*s = Stream{r: r, buf: s.buf, left: count}
	if count < 0 {
		s.err = ErrRecord
	}
}

// Release lets go of the reader.
func (s *Stream) Release() { s.r = nil }

// Err is the first error: that of the reader, or one of the errors of this
// package. nil if all records were well formed as far as they were looked at.
func (s *Stream) Err() error { return s.err }

// Next reads the head of the next record into h and passes over what is left
// of the one before. False means that all were read, or an error.
func (s *Stream) Next(h *RecordHead) bool {
	if s.err != nil || !s.pass(s.rest) {
		return false
	}
	if s.left == 0 {
		s.finish()
		return false
	}
	s.rest = MaxVarint // the length itself
	size := s.varint()
	if s.err != nil {
		return false
	}
	if size < minBody {
		s.err = ErrRecord
		return false
	}
	s.rest = int(size)
	s.left--
	// The attributes of a record are read by nobody.
	if !s.pass(1) {
		return false
	}
	*h = RecordHead{Size: int(size), TimestampDelta: s.varlong(), OffsetDelta: s.varint(), KeySize: -1}
	return s.err == nil
}

// finish checks that the section ends here.
func (s *Stream) finish() {
	s.want(1)
	switch {
	case s.pos < s.end:
		s.err = ErrTrailing
	case s.readErr != io.EOF:
		s.err = s.readErr
	}
}

// Body walks the rest of the record that Next began, fills in its KeySize and
// checks the form of all of it. Lengths below zero are null, as Kafka has it,
// but for the keys of headers.
func (s *Stream) Body(h *RecordHead) bool {
	h.KeySize = s.varint()
	s.pass(int(max(h.KeySize, 0)))
	s.pass(int(max(s.varint(), 0)))
	n := s.varint()
	if n < 0 || int(n) > s.rest {
		s.fail()
	}
	for ; n > 0 && s.err == nil; n-- {
		size := s.varint()
		if size < 0 {
			s.fail()
		}
		s.pass(int(max(size, 0)))
		s.pass(int(max(s.varint(), 0)))
	}
	if s.rest != 0 {
		s.fail()
	}
	return s.err == nil
}

// Rest is how much of the record that Next began was not passed yet, in bytes.
func (s *Stream) Rest() int { return s.rest }

// CopyRest writes the rest of the record that Next began to w, unchecked.
func (s *Stream) CopyRest(w io.Writer) error {
	for s.rest > 0 && s.want(1) {
		n := min(s.rest, s.end-s.pos)
		if _, err := w.Write(s.buf[s.pos : s.pos+n]); err != nil {
			return err
		}
		s.pos += n
		s.rest -= n
	}
	if s.rest > 0 {
		s.fail()
	}
	return s.err
}

// fail notes why the record is not whole: the reader's error if it had one.
func (s *Stream) fail() {
	if s.err != nil {
		return
	}
	s.err = ErrRecord
	if s.readErr != nil && s.readErr != io.EOF {
		s.err = s.readErr
	}
}

// pass goes over n bytes of the record.
func (s *Stream) pass(n int) bool {
	if s.err != nil {
		return false
	}
	if n > s.rest {
		s.err = ErrRecord
		return false
	}
	s.rest -= n
	for n > s.end-s.pos {
		n -= s.end - s.pos
		s.pos = s.end
		if !s.want(1) {
			s.fail()
			return false
		}
	}
	s.pos += n
	return true
}

// want tries to have n bytes in the window, far fewer than it holds, and tells
// whether there is at least one.
func (s *Stream) want(n int) bool {
	if s.end-s.pos >= n {
		return true
	}
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	for s.end < n && s.readErr == nil {
		m, err := s.r.Read(s.buf[s.end:])
		s.end += m
		s.readErr = err
	}
	return s.end > 0
}

// ahead is what can be read of a varint.
func (s *Stream) ahead() []byte {
	s.want(MaxVarlong)
	return s.buf[s.pos:min(s.end, s.pos+s.rest)]
}

func (s *Stream) varint() int32 {
	if s.err != nil {
		return 0
	}
	v, n := Varint(s.ahead())
	return int32(s.took(int64(v), n))
}

func (s *Stream) varlong() int64 {
	if s.err != nil {
		return 0
	}
	v, n := Varlong(s.ahead())
	return s.took(v, n)
}

func (s *Stream) took(v int64, n int) int64 {
	if n <= 0 {
		s.fail()
		return 0
	}
	s.pos += n
	s.rest -= n
	return v
}
