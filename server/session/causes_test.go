package session

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/id"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/session/timing"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestCausesAreForgotten: the table keeps the turn that waits and the request of the newest response, and nothing else.
func TestCausesAreForgotten(t *testing.T) {
	g := gomega.NewWithT(t)
	var c causes
	first, second := c.ask(&wire.ResponseParams{}), c.ask(&wire.ResponseParams{})
	for n := range 100 {
		c.commit(1+id.Turn(n), &timing.Turn{ItemID: fmt.Sprint("item_", 1+n)})
		c.forget(coord.State{Owed: second, Waiting: 1 + id.Turn(n)})
		g.Expect(c.known).To(gomega.HaveLen(2))
	}
	g.Expect(c.known).NotTo(gomega.HaveKey(first))
	g.Expect(c.known).To(gomega.HaveKey(second))
	g.Expect(c.known[id.Request{Turn: 100}].turn.ItemID).To(gomega.Equal("item_100"))
	c.forget(coord.State{})
	g.Expect(c.known).To(gomega.BeEmpty())
}
