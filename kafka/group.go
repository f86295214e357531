package kafka

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/group"
)

// toGroup hands a request to its group's coordinator and answers with what encode makes of the reply.
func (f *Frontend) toGroup(r *request, req group.Request, encode func(reply any) kmsg.Response) {
	f.node.Group(req, func(reply any) { r.respondLater(encode(reply)) })
}

// groupHeader is what a coordinator is told of a request and its sender.
func (r *request) groupHeader(id string) group.Header {
	return group.Header{Group: id, Version: r.hdr.Version, ClientID: string(r.hdr.ClientID), ClientHost: r.clientHost()}
}

// clientHost is the client's address as Kafka shows it.
func (r *request) clientHost() string { return "/" + r.conn.nc.Info().Remote.Addr().Unmap().String() }

// newUUID draws a random UUID and writes it as Java does.
func newUUID() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail on Linux
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	s := make([]byte, 36)
	hex.Encode(s, b[:4])
	hex.Encode(s[9:], b[4:6])
	hex.Encode(s[14:], b[6:8])
	hex.Encode(s[19:], b[8:10])
	hex.Encode(s[24:], b[10:])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s)
}

// keep copies bytes out of a request's frame, which is gone when they are needed.
func keep(b []byte) []byte { return append([]byte{}, b...) }

// joinGroup answers JoinGroup, versions 0 to 9. The answer may take as long as the slowest member.
func (f *Frontend) joinGroup(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.JoinGroupRequest)
	j := &group.JoinRequest{
		Header: r.groupHeader(req.Group), MemberID: req.MemberID, InstanceID: req.InstanceID,
		SessionTimeoutMs: req.SessionTimeoutMillis, RebalanceTimeoutMs: req.RebalanceTimeoutMillis, ProtocolType: req.ProtocolType,
	}
	j.NewID = newUUID()
	if r.hdr.Version == 0 {
		j.RebalanceTimeoutMs = j.SessionTimeoutMs
	}
	for i := range req.Protocols {
		j.Protocols = append(j.Protocols, group.Protocol{Name: req.Protocols[i].Name, Metadata: keep(req.Protocols[i].Metadata)})
	}
	f.toGroup(r, j, encodeJoin)
	return nil
}

func encodeJoin(reply any) kmsg.Response {
	j := reply.(*group.JoinReply)
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.ErrorCode, resp.Generation, resp.ProtocolType, resp.Protocol = int16(j.Code), j.Generation, j.ProtocolType, j.Protocol
	resp.LeaderID, resp.SkipAssignment, resp.MemberID = j.Leader, j.SkipAssignment, j.MemberID
	resp.Members = make([]kmsg.JoinGroupResponseMember, len(j.Members))
	for i := range j.Members {
		m := &resp.Members[i]
		*m = kmsg.NewJoinGroupResponseMember()
		m.MemberID, m.InstanceID, m.ProtocolMetadata = j.Members[i].MemberID, j.Members[i].InstanceID, j.Members[i].Metadata
	}
	return resp
}

// syncGroup answers SyncGroup, versions 0 to 5.
func (f *Frontend) syncGroup(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.SyncGroupRequest)
	s := &group.SyncRequest{
		Header: r.groupHeader(req.Group), Generation: req.Generation, MemberID: req.MemberID, InstanceID: req.InstanceID,
		ProtocolType: req.ProtocolType, Protocol: req.Protocol,
	}
	for i := range req.GroupAssignment {
		a := &req.GroupAssignment[i]
		s.Assignments = append(s.Assignments, group.Assignment{MemberID: a.MemberID, Bytes: keep(a.MemberAssignment)})
	}
	f.toGroup(r, s, func(reply any) kmsg.Response {
		s := reply.(*group.SyncReply)
		resp := kmsg.NewPtrSyncGroupResponse()
		resp.ErrorCode, resp.ProtocolType, resp.Protocol, resp.MemberAssignment = int16(s.Code), s.ProtocolType, s.Protocol, s.Assignment
		return resp
	})
	return nil
}

// heartbeat answers Heartbeat, versions 0 to 4.
func (f *Frontend) heartbeat(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.HeartbeatRequest)
	h := &group.HeartbeatRequest{Header: r.groupHeader(req.Group), Generation: req.Generation, MemberID: req.MemberID, InstanceID: req.InstanceID}
	f.toGroup(r, h, func(reply any) kmsg.Response {
		resp := kmsg.NewPtrHeartbeatResponse()
		resp.ErrorCode = int16(reply.(*group.CodeReply).Code)
		return resp
	})
	return nil
}

// leaveGroup answers LeaveGroup, versions 0 to 5. Up to version 2 one member leaves and its error is that of the answer.
func (f *Frontend) leaveGroup(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.LeaveGroupRequest)
	l := &group.LeaveRequest{Header: r.groupHeader(req.Group)}
	version := r.hdr.Version
	if version < 3 {
		l.Members = []group.LeaveMember{{MemberID: req.MemberID}}
	}
	for i := range req.Members {
		l.Members = append(l.Members, group.LeaveMember{MemberID: req.Members[i].MemberID, InstanceID: req.Members[i].InstanceID})
	}
	f.toGroup(r, l, func(reply any) kmsg.Response {
		l := reply.(*group.LeaveReply)
		resp := kmsg.NewPtrLeaveGroupResponse()
		resp.ErrorCode = int16(l.Code)
		if version < 3 {
			if l.Code == group.None && len(l.Members) > 0 {
				resp.ErrorCode = int16(l.Members[0].Code)
			}
			return resp
		}
		for i := range l.Members {
			m := kmsg.NewLeaveGroupResponseMember()
			m.MemberID, m.InstanceID, m.ErrorCode = l.Members[i].MemberID, l.Members[i].InstanceID, int16(l.Members[i].Code)
			resp.Members = append(resp.Members, m)
		}
		return resp
	})
	return nil
}
