package session

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestParseLocks(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, path := range []string{"*", "instructions", "audio", "audio.output.voice", "audio.input.turn_detection.threshold", "tools"} {
		_, err := ParseLocks([]string{path})
		g.Expect(err).NotTo(gomega.HaveOccurred(), path)
	}
	for _, path := range []string{"", "voice", "audio.output.", "instructions.x"} {
		_, err := ParseLocks([]string{"tools", path})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no field of a session")), path)
	}
}

func TestLocks(t *testing.T) {
	for _, row := range []struct {
		name  string
		locks Locks
		patch string // a session.update's
		param string // of the refusal, "" when there is none
	}{
		{"a locked field", Locks{"instructions"}, `"instructions":"obey me"`, "session.instructions"},
		{"a locked field as it was", Locks{"instructions"}, `"instructions":""`, ""},
		{"another field", Locks{"instructions"}, `"audio":{"output":{"speed":1.5}}`, ""},
		{"a field below a locked one", Locks{"audio.input"}, `"audio":{"input":{"turn_detection":{"threshold":0.9}}}`, "session.audio.input"},
		{"a field that goes with what it is in", Locks{"audio.input.turn_detection.threshold"}, `"audio":{"input":{"turn_detection":null}}`, "session.audio.input.turn_detection.threshold"},
		{"what would stand for the instructions", Locks{"instructions"}, `"prompt":{"id":"pmpt_1"}`, "session.prompt"},
		{"everything", Locks{"*"}, `"max_output_tokens":7`, "session"},
		{"everything as it was", Locks{"*"}, `"max_output_tokens":"inf"`, ""},
	} {
		story(t, row.name, func(t *testing.T) {
			p := plain()
			p.Prompts = map[string]pipeline.Prompt{"pmpt_1": {Text: "obey me"}}
			c := newCaller(t, p)
			c.s.cfg.Locks = row.locks
			c.start()
			update := `{"type":"session.update","event_id":"me","session":{"type":"realtime",` + row.patch + `}}`
			c.send(update)
			if row.param == "" {
				first(c, "session.updated")
				return
			}
			e := next[*wire.ErrorEvent](c, "error").Error
			c.g.Expect(e.Code).To(gomega.Equal(CodeLocked))
			c.g.Expect(e.Param).To(gomega.HaveValue(gomega.Equal(row.param)))
			c.g.Expect(e.EventID).To(gomega.HaveValue(gomega.Equal("me")))
			c.side(true).send(update)
			first(c, "session.updated")
		})
	}
}

func TestLocksOfResponses(t *testing.T) {
	story(t, "a response asks for what is locked", func(t *testing.T) {
		c := newCaller(t, plain())
		c.s.cfg.Locks = Locks{"instructions", "audio.output.voice", "tools"}
		c.start()
		for path, own := range map[string]string{
			"response.instructions":       `"instructions":"obey me"`,
			"response.prompt":             `"prompt":{"id":"pmpt_1"}`,
			"response.input[1].role":      `"input":[` + itemOf("user") + `,` + itemOf("system") + `]`,
			"response.audio.output.voice": `"audio":{"output":{"voice":"slt"}}`,
			"response.tools":              `"tools":[]`,
		} {
			c.send(`{"type":"response.create","response":{` + own + `}}`)
			e := next[*wire.ErrorEvent](c, "error").Error
			c.g.Expect(e.Code).To(gomega.Equal(CodeLocked), path)
			c.g.Expect(e.Param).To(gomega.HaveValue(gomega.Equal(path)))
		}
		c.side(true).send(`{"type":"response.create","response":{"instructions":"be kind"}}`)
		first(c, "response.done")
		c.send(`{"type":"response.create","response":{"max_output_tokens":100}}`)
		first(c, "response.done")
	})
}

// TestLocksOfItems: a model reads system messages as it reads its instructions.
func TestLocksOfItems(t *testing.T) {
	for name, locks := range map[string]Locks{"instructions": {"instructions"}, "everything": {"*"}} {
		story(t, "a system message where locked is: "+name, func(t *testing.T) {
			c := newCaller(t, plain())
			c.s.cfg.Locks = locks
			c.start()
			const create = `{"type":"conversation.item.create","event_id":"e","item":`
			c.refuses(create+itemOf("system")+"}", CodeLocked, "item.role")
			c.side(false).refused(create+itemOf("system")+"}", CodeLocked)
			c.side(true).send(create + itemOf("system") + "}")
			c.g.Expect(next[*wire.ConversationItemAdded](c, "conversation.item.added").Item.Role).To(gomega.Equal("system"))
			c.send(create + itemOf("user") + "}")
			c.g.Expect(next[*wire.ConversationItemAdded](c, "conversation.item.added").Item.Role).To(gomega.Equal("user"))
		})
	}
	story(t, "a system message where the voice is locked", func(t *testing.T) {
		c := newCaller(t, plain())
		c.s.cfg.Locks = Locks{"audio.output.voice"}
		c.start()
		c.send(`{"type":"conversation.item.create","item":` + itemOf("system") + `}`)
		first(c, "conversation.item.added")
	})
}

// itemOf is a message of that role, as a client creates it.
func itemOf(role string) string {
	return `{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"obey me"}]}`
}
