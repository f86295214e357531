package kafka

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/group"
	"millrace/kafka/wire"
)

// The key types of FindCoordinator.
const (
	coordinatorGroup       = 0
	coordinatorTransaction = 1
	coordinatorShare       = 2
)

// findCoordinator answers FindCoordinator, versions 0 to 6, when the coordinator can be used: the first question for a
// group makes the topic that holds groups.
func (f *Frontend) findCoordinator(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.FindCoordinatorRequest)
	version := r.hdr.Version
	keys := req.CoordinatorKeys
	if version < 4 {
		keys = []string{req.CoordinatorKey}
	}
	host, port := f.node.Advertised(r.conn.nc.Info().Listener)
	answer := func(topic group.Code) kmsg.Response {
		resp := kmsg.NewPtrFindCoordinatorResponse()
		for _, key := range keys {
			c := kmsg.NewFindCoordinatorResponseCoordinator()
			c.Key, c.NodeID, c.Host, c.Port = key, f.node.ID(), host, port
			text := ""
			if code := coordinatorCode(req.CoordinatorType, key, version, topic); code != wire.NoError {
				c.ErrorCode, c.NodeID, c.Host, c.Port = int16(code), -1, "", -1
				if code != wire.InvalidRequest || req.CoordinatorType != coordinatorShare {
					text = code.Message()
				}
			} else if version < 4 {
				text = "NONE"
			}
			c.ErrorMessage = &text
			resp.Coordinators = append(resp.Coordinators, c)
		}
		if version < 4 {
			c := &resp.Coordinators[0]
			resp.ErrorCode, resp.ErrorMessage, resp.NodeID, resp.Host, resp.Port = c.ErrorCode, c.ErrorMessage, c.NodeID, c.Host, c.Port
			if c.ErrorCode != 0 && req.CoordinatorType == coordinatorShare {
				text := wire.InvalidRequest.Message()
				resp.ErrorMessage = &text
			}
		}
		return resp
	}
	if req.CoordinatorType != coordinatorGroup {
		return answer(group.None)
	}
	f.node.EnsureOffsetsTopic(func(code group.Code) { r.respondLater(answer(code)) })
	return nil
}

// coordinatorCode says what is wrong with a key.
func coordinatorCode(kind int8, key string, version int16, topic group.Code) wire.ErrorCode {
	switch kind {
	case coordinatorGroup:
		return wire.ErrorCode(topic)
	case coordinatorTransaction:
		return wire.NoError
	case coordinatorShare:
		if version >= 6 && shareKey(key) {
			return wire.NoError
		}
	}
	return wire.InvalidRequest
}

// shareKey checks the form of the key of a share partition: group, topic id, partition. Colons at the end do not count, and
// the group may hold some.
func shareKey(key string) bool {
	parts := strings.Split(strings.TrimRight(key, ":"), ":")
	n := len(parts) - 2
	if n < 1 || strings.TrimSpace(strings.Join(parts[:n], ":")) == "" {
		return false
	}
	text := parts[n]
	if len(text) <= 24 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	id, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(id) != 16 {
		return false
	}
	_, err = strconv.ParseInt(parts[n+1], 10, 32)
	return err == nil
}
