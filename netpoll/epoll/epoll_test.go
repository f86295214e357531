package epoll

import (
	"testing"

	"millrace/netpoll/drivertest"
)

func TestConformance(t *testing.T) { drivertest.Run(t, Factory()) }

func BenchmarkShapes(b *testing.B) { drivertest.Bench(b, Factory()) }
