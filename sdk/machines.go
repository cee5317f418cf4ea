package sdk

// Whether the client's state machines are the server's.

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/wire"
)

// machines returns the versions of the machines that a client runs. The server has these too, and others of its own.
func machines() []machine.Version {
	return []machine.Version{
		machine.VersionOf("bargein", bargein.Fingerprint),
		machine.VersionOf("view", view.Fingerprint),
	}
}

// ownMachines returns the fingerprints of these machines as JSON.
func ownMachines() wire.Raw {
	var told wire.Raw
	for _, m := range machines() {
		told = told.WithText(m.Name, m.Fingerprint)
	}
	return told
}

// compareMachines compares the server's fingerprints with the client's. differ names the machines that differ.
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

// machinesTold takes the server's fingerprints from its answer to antiphon.hello.
func (s *Session) machinesTold(told wire.Raw) {
	match, differ := compareMachines(told)
	if match == MachinesUnknown {
		return
	}
	s.server.machines, s.dirty = match, true
	s.barge.ServerTakes = s.barge.Machine != nil // a server that lists its machines accepts candidates
	for _, name := range differ {
		s.trace("the server runs another version of the machine " + name + ": predictions may be wrong")
	}
}
