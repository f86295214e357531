package batch

// Scanner walks batches that stand back to back, as in a log file or in the
// records of a fetch. It is owned by the goroutine that made it.
//
//	s := batch.NewScanner(b, true)
//	for s.Next() {
//		v, pos := s.View(), s.Pos()
//	}
//	if s.Err() != nil { ... the bytes from s.End() on are bad }
type Scanner struct {
	data []byte
	view View
	pos  int
	end  int
	crc  bool
	err  error
}

// NewScanner starts at the first byte of b; crc asks for the check of every
// batch's CRC.
func NewScanner(b []byte, crc bool) Scanner { return Scanner{data: b, crc: crc} }

// Next moves to the next whole good batch. False means the end of the bytes
// (Err is nil) or the first bad batch.
func (s *Scanner) Next() bool {
	if s.err != nil || s.end == len(s.data) {
		return false
	}
	rest := s.data[s.end:]
	var v View
	var err error
	if s.crc {
		v, _, err = Parse(rest)
	} else {
		v, _, err = Peek(rest)
	}
	if err != nil {
		s.view, s.err = nil, err
		return false
	}
	s.view, s.pos = v, s.end
	s.end += len(v)
	return true
}

// View is the current batch.
func (s *Scanner) View() View { return s.view }

// Pos is the position of the current batch in the bytes.
func (s *Scanner) Pos() int { return s.pos }

// End is the position behind the last good batch.
func (s *Scanner) End() int { return s.end }

// Err says what is wrong with the bytes at End, nil if all were good.
func (s *Scanner) Err() error { return s.err }
