package conn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// ErrNoBroker says that no address of the bootstrap list answered.
var ErrNoBroker = errors.New("no broker")

// patience is how long Open tries the bootstrap addresses before it says that nobody is there.
const patience = 5 * time.Second

// Servers cuts a bootstrap list.
func Servers(list string) []string {
	var out []string
	for _, s := range strings.Split(list, ",") {
		s = strings.TrimSpace(s)
		if i := strings.Index(s, "://"); i >= 0 {
			s = s[i+3:]
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Options turns properties into options of the client. What it does not know is left to others: a tool may be handed any property of Kafka's clients.
func Options(bootstrap string, p Properties) ([]kgo.Opt, error) {
	servers := Servers(bootstrap)
	if len(servers) == 0 {
		return nil, errors.New("No resolvable bootstrap urls given in bootstrap.servers")
	}
	for _, s := range servers {
		if _, port, err := net.SplitHostPort(s); err != nil || port == "" {
			return nil, fmt.Errorf("Invalid url in bootstrap.servers: %s", s)
		}
	}
	opts := []kgo.Opt{kgo.SeedBrokers(servers...), kgo.MetadataMinAge(50 * time.Millisecond)}
	if id := p["client.id"]; id != "" {
		opts = append(opts, kgo.ClientID(id))
	}
	protocol := strings.ToUpper(p["security.protocol"])
	switch protocol {
	case "", "PLAINTEXT", "SASL_PLAINTEXT":
	case "SSL", "SASL_SSL":
		c, err := tlsConfig(p)
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(c))
	default:
		return nil, fmt.Errorf("Invalid value %s for configuration security.protocol", p["security.protocol"])
	}
	if strings.HasPrefix(protocol, "SASL_") {
		m, err := mechanism(p)
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	return opts, nil
}

// Open makes a client and waits until a bootstrap address accepts a connection.
func Open(ctx context.Context, bootstrap string, p Properties, more ...kgo.Opt) (*kgo.Client, error) {
	opts, err := Options(bootstrap, p)
	if err != nil {
		return nil, err
	}
	if err := reachable(ctx, Servers(bootstrap)); err != nil {
		return nil, err
	}
	return kgo.NewClient(append(opts, more...)...)
}

func reachable(ctx context.Context, servers []string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var d net.Dialer
	for {
		var last error
		for _, s := range servers {
			c, err := d.DialContext(ctx, "tcp", s)
			if err == nil {
				return c.Close()
			}
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: connection to %s could not be established: %v", ErrNoBroker, strings.Join(servers, ","), last)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func tlsConfig(p Properties) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if v, ok := p["ssl.endpoint.identification.algorithm"]; ok && strings.TrimSpace(v) == "" {
		c.InsecureSkipVerify = true // the property of Kafka's clients that says so; the chain is checked below
	}
	pem := []byte(p["ssl.truststore.certificates"])
	if path := p["ssl.truststore.location"]; path != "" {
		if t := p["ssl.truststore.type"]; !strings.EqualFold(t, "PEM") {
			return nil, errors.New("ssl.truststore.type: only PEM is read")
		}
		var err error
		if pem, err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	if len(pem) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("the trust store holds no certificate")
		}
		c.RootCAs = pool
	}
	if c.InsecureSkipVerify {
		roots := c.RootCAs
		c.VerifyConnection = func(s tls.ConnectionState) error {
			o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
			for _, i := range s.PeerCertificates[1:] {
				o.Intermediates.AddCert(i)
			}
			_, err := s.PeerCertificates[0].Verify(o)
			return err
		}
	}
	key := []byte(p["ssl.keystore.key"])
	chain := []byte(p["ssl.keystore.certificate.chain"])
	if path := p["ssl.keystore.location"]; path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		key, chain = data, data
	}
	if len(key) > 0 {
		cert, err := tls.X509KeyPair(chain, key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{cert}
	}
	return c, nil
}

var jaasPair = regexp.MustCompile(`(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"`)

func mechanism(p Properties) (sasl.Mechanism, error) {
	login := map[string]string{}
	for _, m := range jaasPair.FindAllStringSubmatch(p["sasl.jaas.config"], -1) {
		login[m[1]] = strings.ReplaceAll(m[2], `\`, "")
	}
	user, pass := login["username"], login["password"]
	switch m := strings.ToUpper(p["sasl.mechanism"]); m {
	case "PLAIN":
		return plain.Auth{User: user, Pass: pass}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: pass}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: user, Pass: pass}.AsSha512Mechanism(), nil
	case "OAUTHBEARER":
		return oauth.Auth{Token: login["token"]}.AsMechanism(), nil
	default:
		return nil, fmt.Errorf("sasl.mechanism %q is not known; PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER are", p["sasl.mechanism"])
	}
}
