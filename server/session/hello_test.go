package session

// antiphon.hello: the comparison of the state machines of both ends.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestHello(t *testing.T) {
	story(t, "the two ends tell each other which machines they run", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.send(`{"type":"antiphon.hello","event_id":"h1","barge_in":true,"machines":{"turn":"0000000000000001"}}`)
		ack := next[*wire.AntiphonAck](c, "antiphon.ack")
		c.g.Expect(ack.Acknowledges).To(gomega.Equal("h1"))
		known, differ := machine.Differing(coord.Machines(), func(name string) (string, bool) {
			v, ok := ack.Machines.Field(name)
			c.g.Expect(ok).To(gomega.BeTrue(), name)
			return v.Text()
		})
		c.g.Expect(known).To(gomega.Equal(len(coord.Machines())))
		c.g.Expect(differ).To(gomega.BeEmpty())
	})
	for name, machines := range map[string]string{
		"none": ``, "no texts": `,"machines":{"turn":7}`, "strangers": `,"machines":{"run":"1"}`, "empty": `,"machines":{}`,
	} {
		story(t, "machines: "+name, func(t *testing.T) {
			c := byWebSocket(t, plain())
			c.send(`{"type":"antiphon.hello","event_id":"h1"` + machines + `}`)
			c.g.Expect(next[*wire.AntiphonAck](c, "antiphon.ack").Machines).NotTo(gomega.BeEmpty())
		})
	}
}
