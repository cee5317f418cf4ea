package conform

// The adapter of session_text.fizz: compares a session that waits for transcripts with coord/session.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// sessionTextMachine returns the adapter of session_text.fizz.
func sessionTextMachine() sessionSpec {
	return sessionSpec{
		Spec: "session_text",
		Next: session.Next,
		First: []session.Config{
			{Interrupt: true, CreateResponse: true}, {Interrupt: false, CreateResponse: true}, {Interrupt: true},
		},
		Begin:  []session.Event{session.OfConn{Event: conn.Opened{VAD: true}}},
		Events: sessionTextEvents,
		Vars: func(s session.State) map[string]any {
			return map[string]any{
				"conn": s.Conn.Name(), "turn": s.Turn.Name(), "resp": s.Response.Name(), "live": streamName(s.Live),
				"final": streamName(s.Final), "older": streamName(s.Older), "waiting": answeredAfter(s), "owed": owed(s),
				"interrupt": s.Config.Interrupt, "answers": s.Config.CreateResponse,
			}
		},
		Odd: func(s session.State) string {
			_, silent := s.Playout.(playout.Silent)
			_, ended := s.Playout.(playout.Terminated)
			switch {
			case !silent && !ended, s.Begun != 0, s.Queued.Len() > 0:
				return "something is heard"
			case transcription.TurnOf(s.Live) != 0 && transcription.TurnOf(s.Live) != turn.Open(s.Turn):
				return "the stream is not the open turn's"
			}
			return oddBodyOrHold(s)
		},
	}
}

// streamName returns the spec's name of the state of a turn's stream.
func streamName(s transcription.State) string {
	switch s := s.(type) {
	case transcription.Closed:
		return ""
	case transcription.Finalizing:
		if s.Whole {
			return "Whole"
		}
	case transcription.Opening, transcription.Streaming, transcription.Unavailable:
	}
	return s.Name()
}

// answeredAfter returns what the turn that is to get a response waits for.
func answeredAfter(s session.State) string {
	switch {
	case s.Waiting == 0:
		return ""
	case s.Texted:
		return "reply"
	}
	return turnName(s, s.Waiting)
}

// sessionTextEvents returns the events that session_text.fizz models.
func sessionTextEvents(s session.State) []Labelled[moment] {
	var o offers
	o.createOrCancel(s)
	o.add("Commit", session.OfTurn{Event: turn.Commit{}})
	o.speech(turn.Open(s.Turn))
	o.add("Silence of another turn", session.OfTurn{Event: turn.Silence{Turn: nobody}})
	o.recogniser(s)
	o.bodyEnds(body(s.Response), session.OfSynthesis{Event: synthesis.WorkerExited{}})
	o.add("Close", session.OfConn{Event: conn.Close{Reason: conn.ByClient}})
	return o
}

// recogniser adds the events about each stream, also about one that does not exist. Only a decoding of the whole audio fails.
func (o *offers) recogniser(s session.State) {
	live := transcription.TurnOf(s.Live)
	o.add("Refused", session.OfTranscription{Event: transcription.Refuse{Turn: live}})
	o.add("Words before their end", session.OfTranscription{Event: transcription.Done{Turn: live}})
	o.add("Words of another turn", session.OfTranscription{Event: transcription.Done{Turn: nobody}})
	o.add("TextFails of another turn", session.OfTranscription{Event: transcription.Failed{Turn: nobody}})
	o.words("", s.Final)
	o.words("Older", s.Older)
}

// words adds the events about the stream of a committed turn.
func (o *offers) words(prefix string, stream transcription.State) {
	t := transcription.TurnOf(stream)
	o.add(prefix+"Words", session.OfTranscription{Event: transcription.Done{Turn: t}})
	o.add(prefix+"NoWords", session.OfTranscription{Event: transcription.Done{Turn: t, Empty: true}})
	if at, is := stream.(transcription.Finalizing); !is || at.Whole {
		o.add(prefix+"TextFails", session.OfTranscription{Event: transcription.Failed{Turn: t}})
	}
}
