package rawgen

import (
	"io"
	"net"
	"testing"
	"time"
)

// stallingServer passes bytes on to a server and stops once, after so many answers, for a while.
func stallingServer(t *testing.T, to string, after int, stall time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				return
			}
			go func() {
				_, _ = io.Copy(out, in)
				out.Close()
			}()
			go func() {
				defer in.Close()
				for i := 0; ; i++ {
					frame, err := ReadFrame(out)
					if err != nil {
						return
					}
					if i == after {
						time.Sleep(stall)
					}
					n := len(frame)
					if _, err := in.Write(append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, frame...)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
