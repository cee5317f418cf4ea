package session

// The output of a function call that is sent twice.

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

func TestAnOutputThatIsSentTwice(t *testing.T) {
	const output = `{"type":"function_call_output","call_id":"c","output":"noon"}`
	story(t, "the second one is answered with the item that there is, and adds none", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.item(output)
		before := c.count("conversation.item.added")
		id := ""
		for range 2 {
			c.send(`{"type":"conversation.item.create","item":` + output + `}`)
			done := next[*wire.ConversationItemRetrieved](c, "conversation.item.retrieved")
			if id == "" {
				id = done.Item.ID
			}
			c.g.Expect(done.Item.ID).To(gomega.Equal(id))
		}
		c.g.Expect(c.count("conversation.item.added")).To(gomega.Equal(before))
	})

	story(t, "a side-band controller sends it, too: it alone is told", func(t *testing.T) {
		c := byWebSocket(t, plain())
		c.item(output)
		events := len(c.Names())
		o := c.sideband(false)
		o.send(`{"type":"conversation.item.create","item":` + output + `}`)
		_, is := (<-o.told).(*wire.ConversationItemRetrieved)
		c.g.Expect(is).To(gomega.BeTrue())
		c.g.Expect(c.Names()).To(gomega.HaveLen(events))
	})

	story(t, "another output of the call, one of another call, and one for a second call with the id, are items", func(t *testing.T) {
		c := byWebSocket(t, plain())
		for i, item := range []string{
			output,
			`{"type":"function_call_output","call_id":"c","output":"midnight"}`,
			`{"type":"function_call_output","call_id":"d","output":"noon"}`,
			`{"type":"function_call","call_id":"e","name":"clock","arguments":"{}"}`,
			`{"type":"function_call_output","call_id":"e","output":"noon"}`,
			`{"type":"function_call","call_id":"e","name":"clock","arguments":"{}"}`,
			`{"type":"function_call_output","call_id":"e","output":"noon"}`,
		} {
			c.item(item)
			c.g.Expect(c.count("conversation.item.added")).To(gomega.Equal(i+1), fmt.Sprint(i))
		}
	})
}
