package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/controller"
)

// createPartitions answers CreatePartitions, versions 0 to 3, when the new partitions can take writes.
func (f *Frontend) createPartitions(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.CreatePartitionsRequest)
	body := &controller.CreatePartitions{}
	for i := range req.Topics {
		q := &req.Topics[i]
		t := controller.MorePartitions{Name: q.Topic, Count: q.Count, Manual: q.Assignment != nil}
		for _, a := range q.Assignment {
			t.Assignment = append(t.Assignment, a.Replicas)
		}
		body.Topics = append(body.Topics, t)
	}
	if req.ValidateOnly {
		return grownReply(controller.ValidateCreatePartitions(f.node.Image(), body))
	}
	f.node.Propose(body, func(res controller.Result) {
		if res.Code != controller.CodeNone {
			res.Topics = make([]controller.TopicResult, len(body.Topics))
			for i, t := range body.Topics {
				res.Topics[i] = controller.TopicResult{Name: t.Name, Code: res.Code, Text: res.Text}
			}
		}
		r.respondLater(grownReply(res.Topics))
	})
	return nil
}

func grownReply(results []controller.TopicResult) kmsg.Response {
	resp := kmsg.NewPtrCreatePartitionsResponse()
	for i := range results {
		res := &results[i]
		t := kmsg.NewCreatePartitionsResponseTopic()
		t.Topic, t.ErrorCode = res.Name, int16(res.Code)
		if res.Text != "" {
			t.ErrorMessage = &res.Text
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}
