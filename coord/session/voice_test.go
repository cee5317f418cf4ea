package session

// The server's detector and recogniser in a simulated call.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// detector is the server's speech detector. It has the frames that have arrived.
type detector struct {
	source
	on     bool
	frames int // voiced ones since the last tick
	run    ms  // of voice
	silent ms  // since then nobody was heard
	idled  ms
	// ignored is for how long somebody has talked outside of a turn.
	ignored ms
	idles   int
}

// recognition is the recogniser of one turn.
type recognition struct {
	source
	turn   turn.ID
	whole  bool
	ready  bool
	voiced bool
	eou    bool
}

// listen is one step of the detector.
func (c *call) listen() {
	d := &c.detector
	heard := d.frames > 0
	d.frames = 0
	if heard {
		d.run, d.silent, d.idled = d.run+tick, 0, 0
	} else {
		d.run, d.silent, d.idled = 0, d.silent+tick, d.idled+tick
	}
	if c.gone {
		return
	}
	c.attends(heard)
	if st := c.streams[turn.Open(c.w.s.Turn)]; st != nil {
		c.recognise(st, heard)
	}
	switch s := c.w.s.Turn.(type) {
	case turn.Idle:
		c.listenIdle(heard)
	case turn.Candidate:
		switch {
		case d.run >= 300:
			c.take(OfTurn{turn.Sustained{Turn: s.Turn}})
		case d.silent >= 300 && d.percent(50):
			c.take(OfTurn{turn.Misfire{Turn: s.Turn}})
		}
	case turn.Speaking:
		c.listenSpeaking(s.Turn, heard)
	case turn.Confirming:
		switch {
		case heard:
			c.take(OfTurn{turn.VoiceResumed{Turn: s.Turn}})
		case c.now < c.end && d.percent(1):
			c.take(OfTurn{turn.NoSpeech(s)})
		}
	}
}

// attends: who talks on and on is listened to, over the agent's voice too. The bound leaves time for a verdict, and for one
// turn that is dropped meanwhile.
func (c *call) attends(heard bool) {
	d := &c.detector
	_, speaking := c.w.s.Turn.(turn.Speaking)
	if live, up := c.w.s.Conn.(conn.Live); !up || !live.VAD || !heard || speaking {
		d.ignored = 0
		return
	}
	if d.ignored += tick; d.ignored > 2*decision {
		c.wrong("somebody talks on and on, and no turn opens")
	}
}

func (c *call) listenIdle(heard bool) {
	d := &c.detector
	switch {
	case heard && (d.on || d.percent(2)): // it may be switched off while it speaks
		c.take(OfTurn{turn.Onset{}})
	case c.plan.idle && d.on && d.idled >= 4_000 && d.idles < 2 && c.now < c.end:
		d.idled = 0
		d.idles++
		c.take(OfTurn{turn.IdleTimeout{}})
	}
}

func (c *call) listenSpeaking(t turn.ID, heard bool) {
	d := &c.detector
	switch {
	case heard && c.w.paused:
		c.take(OfTurn{turn.VoiceResumed{Turn: t}})
	case !heard && !c.w.paused && d.silent >= c.plan.pause:
		var fallback uint32
		if c.plan.patient {
			fallback = 1_500
		}
		c.take(OfTurn{turn.Silence{Turn: t, FallbackMS: fallback}})
	}
}

// recognise is what the live recogniser says of the open turn while it goes on.
func (c *call) recognise(st *recognition, heard bool) {
	st.voiced = st.voiced || heard
	if !st.ready || st.whole {
		return
	}
	switch {
	case c.now > c.end: // what is owed must do
	case !heard && !st.eou && st.voiced && st.percent(15):
		st.eou = true
		c.report(st, 0, 200, transcription.EOU{Turn: st.turn}, func() {
			c.take(OfTurn{turn.EndOfUtterance{Turn: st.turn, Voiced: c.detector.run > 0, Gate: c.plan.asks}})
		})
	case heard && st.eou:
		st.eou = false
		c.report(st, 0, 200, transcription.Resumed{Turn: st.turn}, nil)
	case st.percent(1):
		c.report(st, 0, 50, transcription.Failed{Turn: st.turn}, nil)
	case st.percent(1): // its back end ends the stream by itself
		c.report(st, 0, 50, transcription.Done{Turn: st.turn}, nil)
	}
}

// report brings a word of a stream to the actor, unless the stream has had its last.
func (c *call) report(st *recognition, low, high ms, e transcription.Event, then func()) {
	st.say(low, high, func() {
		if c.streams[st.turn] != st {
			return
		}
		switch e.(type) {
		case transcription.Ready:
			st.ready = true
		case transcription.Refuse, transcription.Failed, transcription.Done:
			delete(c.streams, st.turn)
		}
		c.take(OfTranscription{e})
		if then != nil {
			then()
		}
	})
}

func (c *call) performTranscription(f transcription.Effect) {
	switch f := f.(type) {
	case transcription.OpenStream:
		st := &recognition{source: c.source(ofStream, uint64(f.Turn)), turn: f.Turn}
		c.streams[f.Turn] = st
		switch n := st.dice.IntN(100); {
		case n < 90:
			c.report(st, 5, 400, transcription.Ready{Turn: f.Turn}, nil)
		case n < 92:
			c.report(st, 5, 400, transcription.Refuse{Turn: f.Turn}, nil)
		case n < 97:
			c.report(st, 5, 400, transcription.Failed{Turn: f.Turn}, nil)
		default:
			c.report(st, hang, hang, transcription.Failed{Turn: f.Turn}, nil)
		}
	case transcription.CloseInput:
		if st := c.streams[f.Turn]; st != nil {
			c.finalise(st)
		}
	case transcription.DecodeWhole:
		st := &recognition{source: c.source(ofWhole, uint64(f.Turn)), turn: f.Turn, whole: true, ready: true, voiced: true}
		c.streams[f.Turn] = st
		c.finalise(st)
	case transcription.CloseStream:
		delete(c.streams, f.Turn)
	case transcription.Degrade, transcription.DeliverText, transcription.DeliverFailure:
	}
}

// finalise: the audio has ended, the last word comes.
func (c *call) finalise(st *recognition) {
	switch n := st.dice.IntN(100); {
	case n < 85:
		c.report(st, 20, 1_200, transcription.Done{Turn: st.turn, Empty: !st.voiced || st.percent(8)}, nil)
	case n < 93:
		c.report(st, 20, 600, transcription.Failed{Turn: st.turn}, nil)
	case n < 95 && st.whole:
		c.report(st, 20, 600, transcription.Refuse{Turn: st.turn}, nil)
	default:
		c.report(st, hang, hang, transcription.Failed{Turn: st.turn}, nil)
	}
}

func (c *call) performTurn(f turn.Effect) {
	switch f := f.(type) {
	case turn.OpenCandidate:
		c.after(decision, func() {
			cand, still := c.w.s.Turn.(turn.Candidate)
			if still && cand.Turn == f.Turn || c.detector.percent(5) { // a verdict may come late
				c.take(OfTurn{turn.Misfire{Turn: f.Turn}})
			}
		})
	case turn.OpenTurn:
		if st := c.streams[f.Turn]; st != nil && st.eou { // it was heard while the turn was a candidate
			c.after(0, func() { c.take(OfTurn{turn.EndOfUtterance{Turn: f.Turn, Gate: c.plan.asks}}) })
		}
	case turn.ArmFallback:
		c.after(ms(f.MS), func() { c.take(OfTurn{turn.FallbackExpired{Turn: f.Turn, Gen: f.Gen}}) })
	case turn.AskGate:
		gate := c.source(ofGate, uint64(f.Turn)<<16|uint64(f.Gen))
		if gate.percent(70) {
			gate.say(20, 900, func() { c.take(OfTurn{turn.GatePassed(f)}) })
			return
		}
		gate.say(20, hang, func() { c.take(OfTurn{turn.GateRefused{Turn: f.Turn, Gen: f.Gen, FallbackMS: 1_500}}) })
	case turn.CommitTurn, turn.DiscardTurn:
		c.detector.idled = 0
	case turn.RejectCandidate, turn.EmitSpeechStarted, turn.EmitSpeechStopped, turn.EmitTimeout, turn.BargeIn:
	}
}

// hears is the microphone's way to the detector: a frame that is lost was never heard.
func (c *call) hears() {
	if c.gone {
		return
	}
	c.up.packet(func() {
		if _, live := c.w.s.Conn.(conn.Live); live {
			c.detector.frames++
		}
	})
}
