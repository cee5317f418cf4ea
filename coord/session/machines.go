package session

import (
	"strconv"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Machine is one machine as the two ends of a call tell each other of it.
type Machine struct {
	Name string
	// Fingerprint is the package's Fingerprint in 16 hexadecimal digits.
	Fingerprint string
}

// Machines are all that take part in a call, whichever end runs them, in the order of their names.
func Machines() []Machine {
	return []Machine{
		{"bargein", digits(bargein.Fingerprint)},
		{"conn", digits(conn.Fingerprint)},
		{"playout", digits(playout.Fingerprint)},
		{"response", digits(response.Fingerprint)},
		{"session", digits(Fingerprint)},
		{"synthesis", digits(synthesis.Fingerprint)},
		{"transcription", digits(transcription.Fingerprint)},
		{"turn", digits(turn.Fingerprint)},
	}
}

// Differing compares with what the other end has told: told gives its fingerprint of a machine, ok is false where it told
// none. known is how many both ends have; differ names those of them that are not the same.
func Differing(told func(name string) (fingerprint string, ok bool)) (known int, differ []string) {
	for _, m := range Machines() {
		theirs, ok := told(m.Name)
		if !ok {
			continue
		}
		known++
		if theirs != m.Fingerprint {
			differ = append(differ, m.Name)
		}
	}
	return known, differ
}

func digits(fingerprint uint64) string {
	text := strconv.FormatUint(fingerprint, 16)
	return "0000000000000000"[len(text):] + text
}
