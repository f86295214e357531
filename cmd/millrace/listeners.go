package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"millrace/internal/config"
	"millrace/netpoll"
)

// listen opens the client listeners and returns what clients are told of each.
func (s *server) listen(c *config.BrokerConfig) ([]config.Endpoint, error) {
	congestion, loopback := c.SocketCongestion, "cubic"
	if congestion == "system" {
		congestion, loopback = "", ""
	}
	group, err := netpoll.NewGroup(netpoll.GroupOptions{
		Loops: s.loops, Limits: limits(c), Congestion: congestion, LoopbackCongestion: loopback, Backlog: int(c.SocketListenBacklog),
		SendBuffer: explicit(c.SocketSendBufferBytes), RecvBuffer: explicit(c.SocketReceiveBufferBytes), Log: s.levels.Logger("netpoll"),
	})
	if err != nil {
		return nil, err
	}
	s.group = group
	s.node.OnConfig(func(c *config.BrokerConfig) { group.SetLimits(limits(c)) })
	var endpoints []config.Endpoint
	for i, l := range c.Listeners {
		addr, err := listenPatiently(group, l.Address(), i, s.front)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Endpoint, err)
		}
		e := l.Advertised
		if e.Port == 0 {
			e.Port = int32(addr.(*net.TCPAddr).Port)
		}
		if e.Host == "" {
			e.Host = ownHost()
		}
		endpoints = append(endpoints, e)
	}
	return endpoints, nil
}

// takenMax is how long a taken address is tried again.
const takenMax = 2 * time.Second

// listenPatiently waits for an address that is taken: the kernel closes the sockets which a killed process had in its
// ring only when it gets round to taking the ring down, some time after the process is gone.
func listenPatiently(g *netpoll.Group, addr string, index int, h netpoll.Handler) (net.Addr, error) {
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		bound, err := g.Listen(addr, index, h)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Since(begin) > takenMax {
			return bound, err
		}
	}
}

// kafkaSocketBuffer is Kafka's default of socket.send.buffer.bytes and socket.receive.buffer.bytes. At that value the
// kernel's own tuning is better and is left alone.
const kafkaSocketBuffer = 102400

func explicit(bytes int32) int {
	if bytes == kafkaSocketBuffer {
		return 0
	}
	return int(bytes)
}

// limits restates the connection limits of the configuration.
func limits(c *config.BrokerConfig) netpoll.Limits {
	l := netpoll.Limits{
		MaxConns:          unlimited(c.Dynamic.MaxConnections),
		MaxPerIP:          perAddress(c.Dynamic.MaxConnectionsPerIP),
		IdleTimeout:       time.Duration(max(0, c.ConnectionsMaxIdleMs)) * time.Millisecond,
		PreRequestTimeout: time.Duration(c.FirstRequestTimeoutMs) * time.Millisecond,
		PerIP:             map[netip.Addr]int{},
	}
	for host, n := range c.Dynamic.MaxConnectionsOverrides {
		addrs, err := net.LookupIP(host)
		if err != nil {
			continue
		}
		for _, ip := range addrs {
			if a, ok := netip.AddrFromSlice(ip); ok {
				l.PerIP[a.Unmap()] = int(n)
			}
		}
	}
	return l
}

// perAddress is unlimited for max.connections.per.ip, where 0 allows none but the overrides.
func perAddress(n int32) int {
	if n == 0 {
		return -1
	}
	return unlimited(n)
}

// unlimited turns Kafka's 2147483647 into no limit.
func unlimited(n int32) int {
	if n == 1<<31-1 {
		return 0
	}
	return int(n)
}

// ownHost is what a listener without host advertises: the host name if it resolves to this machine, else the first
// address that is not loopback, else localhost.
func ownHost() string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return "localhost"
	}
	own := map[string]bool{}
	first := ""
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		own[n.IP.String()] = true
		if first == "" && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			first = n.IP.String()
		}
	}
	if name, err := os.Hostname(); err == nil {
		if resolved, err := net.LookupHost(name); err == nil {
			for _, ip := range resolved {
				if own[ip] {
					return name
				}
			}
		}
	}
	if first != "" {
		return first
	}
	return "localhost"
}
