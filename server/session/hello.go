package session

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// hello takes what a client says that knows our extensions, and tells it which machines run here.
func (s *Session) hello(e *wire.AntiphonHello) {
	s.extended = true
	if s.side != nil {
		s.side.SetExtended()
		s.metrics = s.metrics || e.Metrics
	} else {
		s.resumable.Store(true)
		s.metrics = e.Metrics
		s.reports = e.BargeIn
		s.player.NewClient()
	}
	s.step(coord.Configure{Config: s.coordConfig()})
	_, differ := machine.Differing(coord.Machines(), func(name string) (string, bool) {
		theirs, ok := e.Machines.Field(name)
		if !ok {
			return "", false
		}
		return theirs.Text()
	})
	if len(differ) > 0 {
		s.log.Warn("the client runs other state machines than this server: one of them is of another version, and the client may predict what does not come",
			"machines", differ)
	}
	var machines wire.Raw
	for _, m := range coord.Machines() {
		machines = machines.WithText(m.Name, m.Fingerprint)
	}
	ack := &wire.AntiphonAck{Acknowledges: e.ID(), Machines: machines}
	if s.side == nil { // nobody else comes back to this call
		ack.Resume = s.cfg.Token
	}
	s.answer(ack)
}

// coordConfig is what of the settings, and of what the client has said of itself, decides transitions.
// Over a WebSocket the client plays the audio itself and its reports are not used.
func (s *Session) coordConfig() coord.Config {
	return s.settings.MachineConfig(s.reports && s.player.ServerPaced())
}
