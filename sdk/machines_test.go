package sdk

// What client and server say of themselves: the user's time zone, and which state machines they have.

import (
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

func TestMachinesAreCompared(t *testing.T) {
	for name, row := range map[string]struct {
		told wire.Raw
		want MachinesMatch
	}{
		"the same build":           {ownMachines(), MachinesSame},
		"a server without a word":  {nil, MachinesUnknown},
		"other machines":           {wire.Raw(nil).WithText("telephone", "1"), MachinesUnknown},
		"a server of another time": {wire.Raw(nil).WithText("view", "1"), MachinesDiffer},
		"no texts":                 {wire.Raw(`{"view":1}`), MachinesUnknown},
		"no object":                {wire.Raw(`7`), MachinesUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gomega.NewWithT(t)
				s, peer := onCall(t, Options{})
				g.Expect(s.Snapshot().Machines).To(gomega.Equal(MachinesUnknown))
				tell(peer, &wire.AntiphonAck{EventID: "e", Acknowledges: "client_1", Machines: row.told})
				g.Expect(s.Snapshot().Machines).To(gomega.Equal(row.want))
				tell(peer, &wire.AntiphonAck{EventID: "e", Acknowledges: "client_2"})
				g.Expect(s.Snapshot().Machines).To(gomega.Equal(row.want), "another acknowledgement says nothing of them")
				g.Expect(s.Close(t.Context())).To(gomega.Succeed())
			})
		})
	}
}

func TestTheServerLearnsTheTimeZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{token: "T"})
		l.g.Expect(l.x.peers[0].got()).To(gomega.ContainElement("client_1 antiphon.hello Europe/Oslo"))
		l.g.Expect(l.Close(t.Context())).To(gomega.Succeed())
	})
}
