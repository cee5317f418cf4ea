package session

// The list of all machines that take part in a call, with their versions.

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// Machines are all that take part in a call, whichever end runs them, in the order of their names.
func Machines() []machine.Version {
	return []machine.Version{
		machine.VersionOf("bargein", bargein.Fingerprint),
		machine.VersionOf("conn", conn.Fingerprint),
		machine.VersionOf("playout", playout.Fingerprint),
		machine.VersionOf("response", response.Fingerprint),
		machine.VersionOf("session", Fingerprint),
		machine.VersionOf("synthesis", synthesis.Fingerprint),
		machine.VersionOf("transcription", transcription.Fingerprint),
		machine.VersionOf("turn", turn.Fingerprint),
		machine.VersionOf("view", view.Fingerprint),
	}
}
