package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/controller"
	"millrace/kafka/wire"
)

// deleteTopics answers DeleteTopics, versions 1 to 6, when the topics are gone for clients; their files go later.
func (f *Frontend) deleteTopics(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DeleteTopicsRequest)
	body := &controller.DeleteTopics{}
	for i := range req.TopicNames {
		body.Topics = append(body.Topics, controller.TopicRef{Name: &req.TopicNames[i]})
	}
	for i := range req.Topics {
		body.Topics = append(body.Topics, controller.TopicRef{Name: req.Topics[i].Topic, ID: req.Topics[i].TopicID})
	}
	if !f.node.Config().DeleteTopics {
		return deletionDisabled(body, r.hdr.Version)
	}
	f.node.Propose(body, func(res controller.Result) {
		resp := kmsg.NewPtrDeleteTopicsResponse()
		if res.Code != controller.CodeNone {
			res.Topics = make([]controller.TopicResult, len(body.Topics))
			for i, t := range body.Topics {
				res.Topics[i] = controller.TopicResult{ID: t.ID, NoName: t.Name == nil, Code: res.Code, Text: res.Text}
				if t.Name != nil {
					res.Topics[i].Name = *t.Name
				}
			}
		}
		for i := range res.Topics {
			resp.Topics = append(resp.Topics, deletedTopic(&res.Topics[i]))
		}
		r.respondLater(resp)
	})
	return nil
}

func deletedTopic(res *controller.TopicResult) kmsg.DeleteTopicsResponseTopic {
	t := kmsg.NewDeleteTopicsResponseTopic()
	if !res.NoName {
		t.Topic = &res.Name
	}
	t.TopicID, t.ErrorCode = res.ID, int16(res.Code)
	if res.Text != "" {
		t.ErrorMessage = &res.Text
	}
	return t
}

// deletionDisabled answers while delete.topic.enable is false.
func deletionDisabled(body *controller.DeleteTopics, version int16) kmsg.Response {
	code := wire.TopicDeletionDisabled
	if version < 3 {
		code = wire.InvalidRequest
	}
	text := "topic deletion is switched off: delete.topic.enable=false"
	resp := kmsg.NewPtrDeleteTopicsResponse()
	for _, ref := range body.Topics {
		t := kmsg.NewDeleteTopicsResponseTopic()
		t.Topic, t.TopicID, t.ErrorCode, t.ErrorMessage = ref.Name, ref.ID, int16(code), &text
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}
