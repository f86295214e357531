package config

import (
	"encoding/base64"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Endpoint is one entry of listeners or advertised.listeners.
type Endpoint struct {
	// Name of the listener, in upper case.
	Name string
	// Host is empty where all addresses are meant. IPv6 stands without brackets.
	Host string
	// Port 0 lets the kernel choose.
	Port int32
}

// Address is the form that net.Listen takes.
func (e Endpoint) Address() string {
	return net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
}

func (e Endpoint) String() string {
	host := e.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s://%s:%d", e.Name, host, e.Port)
}

// Listener is a socket that clients may connect to.
type Listener struct {
	Endpoint
	// Protocol is the security protocol; PLAINTEXT is the only one served.
	Protocol string
	// Advertised is what clients are told. A host that is empty here must be
	// found out when the listener opens.
	Advertised Endpoint
}

// Voter is one entry of controller.quorum.voters.
type Voter struct {
	ID   int32
	Host string
	Port int32
}

const plaintext = "PLAINTEXT"

var protocols = []string{plaintext, "SSL", "SASL_PLAINTEXT", "SASL_SSL"}

func parseEndpoint(text string) (Endpoint, error) {
	name, rest, ok := strings.Cut(text, "://")
	if !ok || name == "" {
		return Endpoint{}, fmt.Errorf("%q is not NAME://HOST:PORT", text)
	}
	host, port, err := splitHostPort(rest)
	if err != nil {
		return Endpoint{}, fmt.Errorf("%q is not NAME://HOST:PORT: %w", text, err)
	}
	return Endpoint{strings.ToUpper(name), host, port}, nil
}

// splitHostPort reads HOST:PORT, where the host may be empty or in brackets.
func splitHostPort(text string) (string, int32, error) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return "", 0, fmt.Errorf("%q has no port", text)
	}
	port, err := strconv.ParseUint(text[i+1:], 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q has no port from 0 to 65535", text)
	}
	host := text[:i]
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if strings.ContainsAny(host, "/[]@ ") {
		return "", 0, fmt.Errorf("%q is not a host", host)
	}
	return host, int32(port), nil
}

func parseEndpoints(list []string) ([]Endpoint, error) {
	var all []Endpoint
	for _, text := range list {
		e, err := parseEndpoint(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o Endpoint) bool { return o.Name == e.Name }) {
			return nil, fmt.Errorf("%s is listed twice: give each listener a name of its own", e.Name)
		}
		all = append(all, e)
	}
	return all, nil
}

func parseProtocolMap(text string) (map[string]string, error) {
	m := map[string]string{}
	for _, e := range SplitList(text) {
		name, protocol, ok := strings.Cut(e, ":")
		name, protocol = strings.ToUpper(trim(name)), strings.ToUpper(trim(protocol))
		if !ok || name == "" || !slices.Contains(protocols, protocol) {
			return nil, fmt.Errorf("%q is not NAME:PROTOCOL", e)
		}
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("%s is listed twice", name)
		}
		m[name] = protocol
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("the value is empty")
	}
	return m, nil
}

func parseVoters(list []string) ([]Voter, error) {
	var voters []Voter
	for _, e := range list {
		id, rest, ok := strings.Cut(e, "@")
		n, err := strconv.ParseInt(id, 10, 32)
		if !ok || err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not ID@HOST:PORT", e)
		}
		host, port, err := splitHostPort(rest)
		if err != nil {
			return nil, fmt.Errorf("%q is not ID@HOST:PORT", e)
		}
		voters = append(voters, Voter{int32(n), host, port})
	}
	return voters, nil
}

var hostPortOrNone = &Check{"HOST:PORT or none", func(v *Value) error {
	if v.Text == "none" {
		return nil
	}
	_, _, err := splitHostPort(v.Text)
	return err
}}

var clusterID = &Check{"16 bytes as 22 letters of URL-safe base64", func(v *Value) error {
	raw, err := base64.RawURLEncoding.DecodeString(v.Text)
	if err != nil || len(raw) != 16 {
		return fmt.Errorf("%q is not an id", v.Text)
	}
	return nil
}}
