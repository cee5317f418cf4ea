package speaking

// The memory of the inputs of responses.

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/wire"
)

// Requests of responses that run count for the memory of the server, until the responses have ended.
func TestInputsCountForTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		memory := conversation.NewMemory(4<<20, 1) // a share of 2 MiB, and a pool of 2 MiB
		b.Conversation.ShareMemory(memory)
		large := func() *wire.ResponseParams {
			p, text := asText(), strings.Repeat("x", 3<<19)
			p.Instructions, p.HasInput = &text, true
			return p
		}
		for range 2 {
			p := large()
			b.g.Expect(b.Reserve(p)).To(gomega.BeNil())
			out, refused := b.CreateOutOfBand(p)
			b.g.Expect(refused).To(gomega.BeNil())
			b.do(out)
		}
		b.g.Expect(memory.Free()).To(gomega.Equal(1 << 20))
		b.g.Expect(b.Reserve(large())).To(gomega.HaveField("Code", "memory_full"))
		b.g.Expect(memory.Free()).To(gomega.Equal(1 << 20))
		b.finish()
		b.do(b.Settle(&b.state))
		b.g.Expect(memory.Free()).To(gomega.Equal(2 << 20))
		b.g.Expect(b.inputs).To(gomega.BeEmpty())

		huge := strings.Repeat("x", 17<<20)
		b.g.Expect(b.Reserve(&wire.ResponseParams{Instructions: &huge})).To(gomega.HaveField("Code", "input_too_large"))
		b.g.Expect(b.Reserve(&wire.ResponseParams{})).To(gomega.BeNil())
		b.g.Expect(b.inputs).To(gomega.BeEmpty(), "a request without texts of its own takes nothing")
		b.g.Expect(b.Reserve(large())).To(gomega.BeNil())
		b.do(b.Settle(&b.state)) // the machines did not take it
		b.g.Expect(memory.Free()).To(gomega.Equal(2 << 20))
	})
}
