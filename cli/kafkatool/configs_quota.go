package kafkatool

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"hash"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
	"millrace/internal/config"
)

// entityWords are the names of the protocol for kinds of clients.
var entityWords = map[string]string{"users": "user", "clients": "client-id", "ips": "ip"}

func (c *configCommand) describeQuotas(list []entity) error {
	if !c.answers(int16(kmsg.DescribeClientQuotas)) {
		return nil // a broker without quotas has none to show
	}
	req := kmsg.NewPtrDescribeClientQuotasRequest()
	for _, n := range list {
		f := kmsg.NewDescribeClientQuotasRequestComponent()
		f.EntityType, f.MatchType = entityWords[n.kind], kmsg.QuotasMatchTypeAny
		if n.isDefault() {
			f.MatchType = kmsg.QuotasMatchTypeDefault
		} else if n.named {
			f.MatchType, f.Match = kmsg.QuotasMatchTypeExact, kmsg.StringPtr(n.name)
		}
		req.Components = append(req.Components, f)
	}
	resp, err := ask[*kmsg.DescribeClientQuotasResponse](c.e, c.cl, req)
	if err != nil {
		return err
	}
	if err := conn.Code(resp.ErrorCode, resp.ErrorMessage); err != nil {
		return err
	}
	for _, e := range resp.Entries {
		var who, what []string
		for _, n := range []struct{ kind, words, plural string }{{"user", "user-principal", "users"}, {"client-id", "client-id", "clients"}, {"ip", "ip", "ips"}} {
			for _, en := range e.Entity {
				switch {
				case en.Type != n.kind:
				case en.Name == nil:
					who = append(who, "the default "+n.words)
				default:
					who = append(who, n.words+" '"+*en.Name+"'")
				}
			}
		}
		for _, v := range e.Values {
			what = append(what, v.Key+"="+javaFloat(v.Value, 64))
		}
		slices.Sort(what)
		c.e.println("Quota configs for %s are %s", strings.Join(who, ", "), strings.Join(what, ", "))
	}
	if len(list) == 1 && list[0].kind == "users" && !list[0].isDefault() {
		return c.describeScram(list[0])
	}
	return nil
}

func (c *configCommand) answers(key int16) bool {
	resp, err := ask[*kmsg.ApiVersionsResponse](c.e, c.cl, versionsRequest())
	if err != nil {
		return true
	}
	return slices.ContainsFunc(resp.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool { return k.ApiKey == key })
}

func (c *configCommand) describeScram(n entity) error {
	if !c.answers(int16(kmsg.DescribeUserSCRAMCredentials)) {
		return nil
	}
	req := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
	if n.named {
		u := kmsg.NewDescribeUserSCRAMCredentialsRequestUser()
		u.Name = n.name
		req.Users = append(req.Users, u)
	}
	resp, err := ask[*kmsg.DescribeUserSCRAMCredentialsResponse](c.e, c.cl, req)
	if err != nil {
		return err
	}
	for _, r := range resp.Results {
		var infos []string
		for _, i := range r.CredentialInfos {
			infos = append(infos, fmt.Sprintf("%s=iterations=%d", scramName(i.Mechanism), i.Iterations))
		}
		if len(infos) > 0 {
			c.e.println("SCRAM credential configs for user-principal '%s' are %s", r.User, strings.Join(infos, ", "))
		}
	}
	return nil
}

func scramName(mechanism int8) string {
	if mechanism == 1 {
		return "SCRAM-SHA-256"
	}
	return "SCRAM-SHA-512"
}

func (c *configCommand) alterQuotas(list []entity, sets []config.Property, deletes []string) error {
	isScram := func(name string) bool { return strings.HasPrefix(name, "SCRAM-SHA-") }
	n := 0
	for _, s := range sets {
		if isScram(s.Key) {
			n++
		}
	}
	for _, d := range deletes {
		if isScram(d) {
			n++
		}
	}
	if n > 0 {
		if n != len(sets)+len(deletes) {
			return errors.New("Cannot alter both quota and SCRAM credential configs simultaneously for 'users' using --bootstrap-server.")
		}
		if len(list) != 1 || list[0].kind != "users" || list[0].name == "" {
			return errors.New("The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials using --bootstrap-server.")
		}
		return c.alterScram(list[0], sets, deletes)
	}
	req := kmsg.NewPtrAlterClientQuotasRequest()
	entry := kmsg.NewAlterClientQuotasRequestEntry()
	for _, n := range list {
		e := kmsg.NewAlterClientQuotasRequestEntryEntity()
		e.Type = entityWords[n.kind]
		if !n.isDefault() {
			e.Name = kmsg.StringPtr(n.name)
		}
		entry.Entity = append(entry.Entity, e)
	}
	for _, s := range sets {
		v, err := strconv.ParseFloat(s.Value, 64)
		if err != nil {
			return fmt.Errorf("Cannot parse quota configuration value for %s: %s", s.Key, s.Value)
		}
		op := kmsg.NewAlterClientQuotasRequestEntryOp()
		op.Key, op.Value = s.Key, v
		entry.Ops = append(entry.Ops, op)
	}
	for _, d := range deletes {
		op := kmsg.NewAlterClientQuotasRequestEntryOp()
		op.Key, op.Remove = d, true
		entry.Ops = append(entry.Ops, op)
	}
	req.Entries = append(req.Entries, entry)
	resp, err := ask[*kmsg.AlterClientQuotasResponse](c.e, c.cl, req)
	if err != nil {
		return err
	}
	for _, e := range resp.Entries {
		if err := conn.Code(e.ErrorCode, e.ErrorMessage); err != nil {
			return err
		}
	}
	c.done(list[0])
	return nil
}

// alterScram sets passwords: SCRAM-SHA-256=[iterations=8192,password=secret].
func (c *configCommand) alterScram(n entity, sets []config.Property, deletes []string) error {
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	for _, s := range sets {
		u, err := upsertion(n.name, s)
		if err != nil {
			return err
		}
		req.Upsertions = append(req.Upsertions, u)
	}
	for _, d := range deletes {
		x := kmsg.NewAlterUserSCRAMCredentialsRequestDeletion()
		x.Name, x.Mechanism = n.name, scramNumber(d)
		req.Deletions = append(req.Deletions, x)
	}
	resp, err := ask[*kmsg.AlterUserSCRAMCredentialsResponse](c.e, c.cl, req)
	if err != nil {
		return err
	}
	for _, r := range resp.Results {
		if err := conn.Code(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	c.done(n)
	return nil
}

func scramNumber(name string) int8 {
	if name == "SCRAM-SHA-256" {
		return 1
	}
	return 2
}

func upsertion(user string, s config.Property) (kmsg.AlterUserSCRAMCredentialsRequestUpsertion, error) {
	u := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
	u.Name, u.Mechanism, u.Iterations = user, scramNumber(s.Key), 4096
	password, found := "", false
	for _, part := range strings.Split(s.Value, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch strings.TrimSpace(key) {
		case "iterations":
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return u, fmt.Errorf("Invalid credential property %s=%s", s.Key, s.Value)
			}
			u.Iterations = int32(n)
		case "password":
			password, found = value, true
		}
	}
	if !found {
		return u, fmt.Errorf("Invalid credential property %s=%s", s.Key, s.Value)
	}
	if u.Iterations < 4096 {
		return u, fmt.Errorf("Iterations %d is less than the minimum 4096 required for %s", u.Iterations, s.Key)
	}
	u.Salt = make([]byte, 24)
	if _, err := rand.Read(u.Salt); err != nil {
		return u, err
	}
	h, size := func() hash.Hash { return sha256.New() }, sha256.Size
	if u.Mechanism == 2 {
		h, size = func() hash.Hash { return sha512.New() }, sha512.Size
	}
	var err error
	u.SaltedPassword, err = pbkdf2.Key(h, password, u.Salt, int(u.Iterations), size)
	return u, err
}
