package sdk

import (
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// ownMachines are the fingerprints of the machines that this client was built with.
func ownMachines() wire.Raw {
	var told wire.Raw
	for _, m := range coord.Machines() {
		told = told.WithText(m.Name, m.Fingerprint)
	}
	return told
}

// compareMachines says whether those of the server are the same; differ names those that are not.
func compareMachines(told wire.Raw) (match MachinesMatch, differ []string) {
	known, differ := coord.Differing(func(name string) (string, bool) {
		theirs, ok := told.Field(name)
		if !ok {
			return "", false
		}
		return theirs.Text()
	})
	switch {
	case len(differ) > 0:
		return MachinesDiffer, differ
	case known > 0:
		return MachinesSame, nil
	}
	return MachinesUnknown, nil
}

// machinesTold takes the server's answer to antiphon.hello.
func (s *Session) machinesTold(told wire.Raw) {
	match, differ := compareMachines(told)
	if match == MachinesUnknown {
		return
	}
	s.machines, s.dirty = match, true
	s.interruption.knows = s.interruption.steps != nil // it lists its machines, so it takes candidates
	for _, name := range differ {
		s.trace("the server runs another version of the machine " + name + ": predictions may be wrong")
	}
}

// bargesIn: interruptions are predicted in this call, so the server may count on what the client says of them.
func (s *Session) bargesIn() bool { return s.interruption.steps != nil }
