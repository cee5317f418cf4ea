package session

// Tool calls without arguments.

import (
	"context"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestToolCallsWithoutArguments: clients and models parse the arguments of a tool call as a JSON object, so empty arguments become
// "{}".
func TestToolCallsWithoutArguments(t *testing.T) {
	story(t, "a client's", func(t *testing.T) {
		p, l := remembered(byScript(t, `model: {replies: [{say: ok}]}`))
		c := byWebSocket(t, p)
		for _, left := range []string{"", `,"arguments":""`} {
			c.send(`{"type":"conversation.item.create","item":{"type":"function_call","name":"clock"` + left + `}}`)
			added := next[*wire.ConversationItemAdded](c, "conversation.item.added").Item
			c.g.Expect(added.Arguments).To(gomega.Equal("{}"))
			c.g.Expect(added.CallID).NotTo(gomega.BeEmpty())
		}
		c.answer()
		for _, m := range l.request().Messages {
			c.g.Expect(m.Call.Arguments).To(gomega.Equal("{}"))
		}
		c.send(request(`"input":[{"type":"function_call","name":"clock"}],"conversation":"none","output_modalities":["text"]`))
		first(c, "response.done")
		c.g.Expect(l.request().Messages[0].Call.Arguments).To(gomega.Equal("{}"))
	})

	story(t, "a model's", func(t *testing.T) {
		c := byWebSocket(t, withModel(func(_ context.Context, emit func(pipeline.ModelEvent) error) error {
			return emit(pipeline.ToolCallDone{Index: 0, Name: "clock"})
		}))
		c.settle(twoTools)
		c.ask("now")
		c.g.Expect(next[*wire.ResponseFunctionCallArgumentsDelta](c, "response.function_call_arguments.delta").Delta).To(gomega.Equal("{}"))
		c.g.Expect(next[*wire.ResponseFunctionCallArgumentsDone](c, "response.function_call_arguments.done").Arguments).To(gomega.Equal("{}"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Output[0].Arguments).To(gomega.Equal("{}"))
	})
}
