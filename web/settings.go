package web

// The settings of the drawer: what the user has chosen for the calls of this browser.

import "github.com/antiphon-rt/antiphon/sdk"

// Settings are the user's choices. What is empty is the server's own.
type Settings struct {
	Voice, Language, Instructions string
	// Turns is how a turn ends: turnsBySilence, turnsByWords or turnsByHand. Eagerness is for turnsByWords.
	Turns, Eagerness string
	// Noise is the kind of noise reduction: "near_field", "far_field" or empty.
	Noise string
	// DuckBy is by how many decibels the agent is ducked; 0 for 20.
	DuckBy float64
}

// The ways in which a turn ends.
const (
	turnsBySilence = "silence"
	turnsByWords   = "words"
	turnsByHand    = "hand" // push-to-talk
)

// patch returns what has changed since before. server has the turn detection of those who choose none.
func (s *Settings) patch(before *Settings, server *sdk.TurnDetection) (p sdk.Patch) {
	changed := func(to **string, now, then *string) {
		if *now != *then {
			*to = now
		}
	}
	changed(&p.Voice, &s.Voice, &before.Voice)
	changed(&p.Language, &s.Language, &before.Language)
	changed(&p.Instructions, &s.Instructions, &before.Instructions)
	changed(&p.NoiseReduction, &s.Noise, &before.Noise)
	if s.DuckBy != before.DuckBy {
		p.DuckBy = &s.DuckBy
	}
	if s.Turns != before.Turns || s.Eagerness != before.Eagerness {
		p.TurnDetection = &sdk.TurnDetection{Manual: s.Turns == turnsByHand, Semantic: s.Turns == turnsByWords, Eagerness: s.Eagerness}
		if s.Turns == "" && server != nil {
			p.TurnDetection = server
		}
	}
	return p
}
