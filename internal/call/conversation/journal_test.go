package conversation

// The journal of the items: what another process reads is the same conversation.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestTheJournalOfItems(t *testing.T) {
	g := gomega.NewWithT(t)
	c, kept := New(env.System(), nil), journal.State{}
	note := func(changed, removed int) {
		t.Helper()
		r := journal.Record{Last: c.Newest()}
		r.Items, r.Removed = c.Changes()
		g.Expect(r.Items).To(gomega.HaveLen(changed))
		g.Expect(r.Removed).To(gomega.HaveLen(removed))
		kept.Apply(r)
	}
	note(0, 0)
	asked, _, _ := c.Append(wire.Item{ID: "asked", Type: wire.ItemMessage, Role: "user", Status: "completed", Content: []wire.Content{{Type: wire.ContentInputAudio, Audio: []byte("sound")}}})
	asked.AwaitTranscript()
	note(1, 0)
	g.Expect(kept.Items[0].Item.Content[0].Audio).To(gomega.BeNil(), "no audio is journalled")
	g.Expect(asked.Content[0].Audio).NotTo(gomega.BeNil())
	asked.SetTranscript(0, "where")
	note(1, 0)
	note(0, 0)
	said, _ := c.Begin(wire.Item{ID: "said", Type: wire.ItemMessage, Role: "assistant", Status: "in_progress"})
	note(1, 0)
	first := said.AddClause("Here it is. ")
	said.SpokenClause(first, 0, 24000)
	c.AddAudio(said, make([]int16, 24000))
	note(0, 0)
	said.EndClause(first, 24000)
	note(1, 0)
	_, _, _, ok := c.insert(wire.Item{ID: "between", Type: wire.ItemMessage, Role: "system"}, "asked")
	g.Expect(ok).To(gomega.BeTrue())
	note(1, 0)
	second := said.AddClause("Over there.")
	said.SpokenClause(second, 24000, 12000)
	_, refused := c.Delete("asked")
	g.Expect(refused).To(gomega.BeNil())
	note(0, 1)

	again := New(env.System(), nil)
	again.Restore("conv_1", kept.Items, kept.Last, "")
	g.Expect(again.ID()).To(gomega.Equal("conv_1"))
	g.Expect(again.items).To(gomega.HaveLen(2))
	g.Expect(again.items[0].ID).To(gomega.Equal("between"))
	restored := again.Find("said")
	g.Expect(again.SpokenFrom(uint64(restored.Num()))).To(gomega.ConsistOf(restored))
	g.Expect(restored.Interrupt(true)).To(gomega.Equal("Here it is."))
	g.Expect(restored.Status).To(gomega.Equal("incomplete"))
	g.Expect(again.Interrupted()).To(gomega.BeIdenticalTo(restored))
	again.Cut(restored, 500)
	g.Expect(*restored.Content[0].Transcript).To(gomega.Equal("Here"))
	fresh, _, _ := again.Append(wire.Item{ID: "fresh", Type: wire.ItemMessage, Role: pipeline.RoleUser})
	g.Expect(fresh.Num()).To(gomega.BeNumerically(">", restored.Num()), "no number is used twice")
}
