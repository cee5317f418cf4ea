package speaking

// The table of causes forgets what ended.

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestCausesAreForgotten: the table keeps the turn that waits and the request of the newest response, and nothing else.
func TestCausesAreForgotten(t *testing.T) {
	g := gomega.NewWithT(t)
	made := New(Parts{})
	first, second := made.Request(&wire.ResponseParams{}), made.Request(&wire.ResponseParams{})
	for n := range 100 {
		made.Commit(1+machine.Turn(n), &room.Timing{ItemID: fmt.Sprint("item_", 1+n)})
		made.ForgetCauses(&coord.State{Owed: second, Waiting: 1 + machine.Turn(n)})
		g.Expect(made.causes.known).To(gomega.HaveLen(2))
	}
	g.Expect(made.causes.known).NotTo(gomega.HaveKey(first))
	g.Expect(made.causes.known).To(gomega.HaveKey(second))
	g.Expect(made.causes.known[machine.Request{Turn: 100}].turn.ItemID).To(gomega.Equal("item_100"))
	made.ForgetCauses(&coord.State{})
	g.Expect(made.causes.known).To(gomega.BeEmpty())
}
