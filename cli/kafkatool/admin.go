package kafkatool

import (
	"context"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

// requestTimeout bounds one admin request, as default.api.timeout.ms of Kafka's admin client.
const requestTimeout = 60 * time.Second

// dial opens the client of an admin tool from --bootstrap-server and --command-config.
func (e *Env) dial(v *jopt.Values) (*kgo.Client, error) {
	bootstrap, err := v.Get("bootstrap-server")
	if err != nil {
		return nil, err
	}
	p := conn.Properties{}
	if err := p.LoadFile(v.Str("command-config")); err != nil {
		return nil, err
	}
	p.Default("client.id", "adminclient-1")
	return conn.Open(e.Ctx, bootstrap, p)
}

// ask makes a request with the usual bound.
func ask[R kmsg.Response](e *Env, cl *kgo.Client, req kmsg.Request) (R, error) {
	ctx, cancel := context.WithTimeout(e.Ctx, requestTimeout)
	defer cancel()
	var none R
	resp, err := cl.Request(ctx, req)
	if err != nil {
		return none, err
	}
	return resp.(R), nil
}

// askBroker is ask for one broker.
func askBroker[R kmsg.Response](e *Env, cl *kgo.Client, broker int32, req kmsg.Request) (R, error) {
	ctx, cancel := context.WithTimeout(e.Ctx, requestTimeout)
	defer cancel()
	var none R
	resp, err := cl.Broker(int(broker)).RetriableRequest(ctx, req)
	if err != nil {
		return none, err
	}
	return resp.(R), nil
}

// metadata asks for topics by name; nil is all of them. Topics are never created by asking.
func metadata(e *Env, cl *kgo.Client, topics []string) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	if topics != nil {
		req.Topics = []kmsg.MetadataRequestTopic{}
		for _, t := range topics {
			mt := kmsg.NewMetadataRequestTopic()
			mt.Topic = kmsg.StringPtr(t)
			req.Topics = append(req.Topics, mt)
		}
	}
	return ask[*kmsg.MetadataResponse](e, cl, req)
}

// topicNames lists topics that exist, sorted.
func topicNames(md *kmsg.MetadataResponse, internal bool) []string {
	var out []string
	for i := range md.Topics {
		t := &md.Topics[i]
		if t.ErrorCode == 0 && t.Topic != nil && (internal || !t.IsInternal) {
			out = append(out, *t.Topic)
		}
	}
	slices.Sort(out)
	return out
}

// filter is a topic expression: alternatives separated by commas or bars, each a regular expression for the whole name.
func filter(expr string) (*regexp.Regexp, error) {
	expr = strings.ReplaceAll(strings.Trim(strings.TrimSpace(expr), `"'`), ",", "|")
	expr = strings.ReplaceAll(expr, " ", "")
	re, err := regexp.Compile("^(?:" + expr + ")$")
	if err != nil {
		return nil, &jopt.Error{Text: expr + " is an invalid regex."}
	}
	return re, nil
}

func formatID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// brokers lists the live brokers, by id.
func brokers(md *kmsg.MetadataResponse) []kmsg.MetadataResponseBroker {
	out := slices.Clone(md.Brokers)
	slices.SortFunc(out, func(a, b kmsg.MetadataResponseBroker) int { return int(a.NodeID) - int(b.NodeID) })
	return out
}
