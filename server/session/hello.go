package session

// The greeting of a client that knows our extensions (antiphon.hello).

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// hello takes the greeting of a client, or of a side-band controller, and answers which machines run here.
func (s *Session) hello(o origin, e *wire.AntiphonHello) {
	s.client.extended = true
	if o.side != nil {
		o.side.SetExtended()
		s.client.metrics = s.client.metrics || e.Metrics
	} else {
		s.shared.reconnects.Store(true)
		s.client.metrics, s.client.reports = e.Metrics, e.BargeIn
		s.player.NewClient()
	}
	s.stepFor(o, coord.Configure{Config: s.machineConfig()})
	_, differ := machine.Differing(coord.Machines(), func(name string) (string, bool) {
		theirs, ok := e.Machines.Field(name)
		if !ok {
			return "", false
		}
		return theirs.Text()
	})
	if len(differ) > 0 {
		s.log.Warn("the client has another version of some state machines than this server: it may predict what does not come",
			"machines", differ)
	}
	var machines wire.Raw
	for _, m := range coord.Machines() {
		machines = machines.WithText(m.Name, m.Fingerprint)
	}
	ack := &wire.AntiphonAck{Acknowledges: e.ID(), Machines: machines}
	if o.side == nil { // a side-band controller does not come back to this call
		ack.Resume = s.cfg.Token
	}
	s.answer(o, ack)
}

// machineConfig is the part of the settings, and of what the client has said of itself, that decides transitions. A client
// that plays by itself (WebSocket) makes no reports that the server uses.
func (s *Session) machineConfig() coord.Config {
	return s.settings.MachineConfig(s.client.reports && s.player.ServerPaced())
}
