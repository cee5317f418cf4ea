package sdk

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/wire"
)

// machines are those that a client runs. The server has them too, to compare: the others are its own.
func machines() []machine.Version {
	return []machine.Version{
		machine.VersionOf("bargein", bargein.Fingerprint),
		machine.VersionOf("view", view.Fingerprint),
	}
}

// ownMachines are the fingerprints of the machines that this client runs.
func ownMachines() wire.Raw {
	var told wire.Raw
	for _, m := range machines() {
		told = told.WithText(m.Name, m.Fingerprint)
	}
	return told
}

// compareMachines says whether those of the server are the same; differ names those that are not.
func compareMachines(told wire.Raw) (match MachinesMatch, differ []string) {
	known, differ := machine.Differing(machines(), func(name string) (string, bool) {
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
	s.server.machines, s.dirty = match, true
	s.barge.serverTakes = s.barge.machine != nil // it lists its machines, so it takes candidates
	for _, name := range differ {
		s.trace("the server runs another version of the machine " + name + ": predictions may be wrong")
	}
}

// bargesIn: interruptions are predicted in this call, so the server may count on what the client says of them.
func (s *Session) bargesIn() bool { return s.barge.machine != nil }
