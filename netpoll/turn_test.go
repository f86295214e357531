package netpoll

import "testing"

// TestSpinState: looking goes on while it pays, stops soon when it does not, and trials get rare where they always fail.
func TestSpinState(t *testing.T) {
	var s spinState
	s.slept(false)
	if s.credit != 0 {
		t.Error("a long sleep is no reason to look")
	}
	s.slept(true)
	if s.credit == 0 {
		t.Error("a short sleep is no reason to look")
	}
	for range 100 {
		s.hit()
	}
	misses := 0
	for ; s.credit > 0; misses++ {
		s.missed()
	}
	if misses > spinCreditMax {
		t.Errorf("it looked in vain %d times", misses)
	}
	trials := 0
	for range 100_000 {
		if s.credit > 0 {
			trials++
			s.missed()
		} else {
			s.slept(true)
		}
	}
	if trials > 150 || trials < 10 {
		t.Errorf("%d trials in vain in 100000 waits", trials)
	}
	for range 2000 { // the peer got a processor of its own
		if s.credit > 0 {
			s.hit()
		} else {
			s.slept(true)
		}
	}
	if s.credit != spinCreditMax {
		t.Error("it does not look again")
	}
}
