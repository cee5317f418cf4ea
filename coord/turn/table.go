package turn

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

const (
	noTurn = "no turn is open"
	isOpen = "a turn is open already"
	other  = "it belongs to another turn"
	judged = "the verdict decides"
	gated  = "the gate decides"
)

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		when("OpenCandidate", "agent audible", func(_ Idle, e Onset) bool { return e.AgentAudible },
			func(_ Idle, e Onset) (Candidate, []Effect) { return candidate(e.Turn) }),
		on("OpenTurn", func(_ Idle, e Onset) (Speaking, []Effect) {
			return Speaking{Turn: e.Turn}, []Effect{OpenTurn{e.Turn}, EmitSpeechStarted{e.Turn}}
		}),
		on("OpenClientCandidate", func(_ Idle, e ClientCandidate) (Candidate, []Effect) { return candidate(e.Turn) }),
		on("CommitBuffer", func(_ Idle, e Commit) (Idle, []Effect) {
			return Idle{}, []Effect{CommitTurn{Turn: e.Turn, ByClient: true}}
		}),
		on("TimeOut", func(_ Idle, e IdleTimeout) (Idle, []Effect) {
			return Idle{}, []Effect{EmitTimeout{e.Turn}, CommitTurn{Turn: e.Turn, Wordless: true}}
		}),
	},
	ignore(noTurn, Idle{}, Sustained{}, Misfire{}, Silence{}, EndOfUtterance{}, VoiceResumed{}, FallbackExpired{},
		GatePassed{}, GateRefused{}, Clear{}, NoSpeech{}, Shutdown{}),

	[]row{
		when("Confirm", "same turn", func(s Candidate, e Sustained) bool { return s.Turn == e.Turn },
			func(s Candidate, _ Sustained) (Speaking, []Effect) { return Speaking{Turn: s.Turn}, interrupt(s.Turn) }),
		when("Reject", "same turn", func(s Candidate, e Misfire) bool { return s.Turn == e.Turn },
			func(s Candidate, _ Misfire) (Idle, []Effect) { return reject(s) }),
		on("ConfirmByCommit", func(s Candidate, _ Commit) (Idle, []Effect) {
			return Idle{}, append(interrupt(s.Turn), EmitSpeechStopped{s.Turn}, CommitTurn{Turn: s.Turn, ByClient: true})
		}),
		on("RejectByClear", func(s Candidate, _ Clear) (Idle, []Effect) { return reject(s) }),
		on("Shutdown", func(s Candidate, _ Shutdown) (Idle, []Effect) { return reject(s) }),
	},
	ignore(other, Candidate{}, Sustained{}, Misfire{}),
	ignore(isOpen, Candidate{}, Onset{}, ClientCandidate{}, IdleTimeout{}),
	ignore(judged, Candidate{}, Silence{}, EndOfUtterance{}, VoiceResumed{}),
	ignore("no fallback is armed", Candidate{}, FallbackExpired{}),
	ignore("the gate was not asked", Candidate{}, GatePassed{}, GateRefused{}, NoSpeech{}),

	[]row{
		when("AskGateAfterSilence", "the gate must confirm its end", func(s Speaking, e Silence) bool {
			return s.Turn == e.Turn && e.FallbackMS != 0 && s.Gate
		}, func(s Speaking, _ Silence) (Confirming, []Effect) { return ask(s) }),
		when("Commit", "silence is enough", func(s Speaking, e Silence) bool {
			return s.Turn == e.Turn && (e.FallbackMS == 0 || s.EOU)
		}, func(s Speaking, _ Silence) (Idle, []Effect) { return commit(s.Turn) }),
		when("AwaitEndOfUtterance", "same turn", func(s Speaking, e Silence) bool { return s.Turn == e.Turn },
			func(s Speaking, e Silence) (Speaking, []Effect) { return arm(s.Turn, s.Gen, e.FallbackMS) }),
		when("NoteEndOfUtterance", "the speech goes on", func(s Speaking, e EndOfUtterance) bool {
			return s.Turn == e.Turn && e.Voiced
		}, func(s Speaking, e EndOfUtterance) (Speaking, []Effect) {
			return Speaking{Turn: s.Turn, EOU: true, Gate: e.Gate, Gen: s.Gen}, nil
		}),
		when("AskGate", "gate", func(s Speaking, e EndOfUtterance) bool { return s.Turn == e.Turn && e.Gate },
			func(s Speaking, _ EndOfUtterance) (Confirming, []Effect) { return ask(s) }),
		when("CommitOnEndOfUtterance", "same turn", func(s Speaking, e EndOfUtterance) bool { return s.Turn == e.Turn },
			func(s Speaking, _ EndOfUtterance) (Idle, []Effect) { return commit(s.Turn) }),
		when("Resume", "same turn", func(s Speaking, e VoiceResumed) bool { return s.Turn == e.Turn },
			func(s Speaking, _ VoiceResumed) (Speaking, []Effect) { return resume(s.Turn, s.Gen) }),
		when("CommitOnFallback", "same generation", func(s Speaking, e FallbackExpired) bool {
			return s.Turn == e.Turn && s.Gen == e.Gen
		}, func(s Speaking, _ FallbackExpired) (Idle, []Effect) { return commit(s.Turn) }),
		on("CommitByClient", func(s Speaking, _ Commit) (Idle, []Effect) { return commitByClient(s.Turn) }),
		on("DiscardCleared", func(s Speaking, _ Clear) (Idle, []Effect) { return discard(s.Turn, Cleared) }),
		on("Shutdown", func(s Speaking, _ Shutdown) (Idle, []Effect) { return discard(s.Turn, Stopped) }),
	},
	ignore(other, Speaking{}, Silence{}, EndOfUtterance{}, VoiceResumed{}),
	ignore("it belongs to an older timer", Speaking{}, FallbackExpired{}),
	ignore(isOpen, Speaking{}, Onset{}, ClientCandidate{}, IdleTimeout{}),
	ignore("it is no candidate any more", Speaking{}, Sustained{}, Misfire{}),
	ignore("the gate was not asked", Speaking{}, GatePassed{}, GateRefused{}, NoSpeech{}),

	[]row{
		when("PassGate", "same question", func(s Confirming, e GatePassed) bool { return s == Confirming(e) },
			func(s Confirming, _ GatePassed) (Idle, []Effect) { return commit(s.Turn) }),
		when("RefuseGate", "same question", func(s Confirming, e GateRefused) bool {
			return s.Turn == e.Turn && s.Gen == e.Gen
		}, func(s Confirming, e GateRefused) (Speaking, []Effect) { return arm(s.Turn, s.Gen, e.FallbackMS) }),
		when("Resume", "same turn", func(s Confirming, e VoiceResumed) bool { return s.Turn == e.Turn },
			func(s Confirming, _ VoiceResumed) (Speaking, []Effect) { return resume(s.Turn, s.Gen) }),
		on("CommitByClient", func(s Confirming, _ Commit) (Idle, []Effect) { return commitByClient(s.Turn) }),
		on("DiscardCleared", func(s Confirming, _ Clear) (Idle, []Effect) { return discard(s.Turn, Cleared) }),
		when("DiscardNoSpeech", "same question", func(s Confirming, e NoSpeech) bool { return s == Confirming(e) },
			func(s Confirming, _ NoSpeech) (Idle, []Effect) { return discard(s.Turn, NoWords) }),
		on("Shutdown", func(s Confirming, _ Shutdown) (Idle, []Effect) { return discard(s.Turn, Stopped) }),
	},
	ignore("it answers an older question", Confirming{}, GatePassed{}, GateRefused{}, NoSpeech{}),
	ignore(other, Confirming{}, VoiceResumed{}),
	ignore(isOpen, Confirming{}, Onset{}, ClientCandidate{}, IdleTimeout{}),
	ignore("it is no candidate any more", Confirming{}, Sustained{}, Misfire{}),
	ignore(gated, Confirming{}, Silence{}, EndOfUtterance{}, FallbackExpired{}),
)

func candidate(t ID) (Candidate, []Effect) { return Candidate{t}, []Effect{OpenCandidate{t}} }

// interrupt returns the effects of a confirmed candidate. The turn is announced before the agent is interrupted, because clients rely on
// this order.
func interrupt(t ID) []Effect { return []Effect{OpenTurn{t}, EmitSpeechStarted{t}, BargeIn{t}} }

func reject(s Candidate) (Idle, []Effect) { return Idle{}, []Effect{RejectCandidate(s)} }

func commit(t ID) (Idle, []Effect) {
	return Idle{}, []Effect{EmitSpeechStopped{t}, CommitTurn{Turn: t}}
}

func commitByClient(t ID) (Idle, []Effect) {
	return Idle{}, []Effect{EmitSpeechStopped{t}, CommitTurn{Turn: t, ByClient: true}}
}

// discard drops the turn. It also announces the end of the speech, because the client has been told of its start.
func discard(t ID, why Reason) (Idle, []Effect) {
	return Idle{}, []Effect{EmitSpeechStopped{t}, DiscardTurn{t, why}}
}

func ask(s Speaking) (Confirming, []Effect) {
	return Confirming{s.Turn, s.Gen}, []Effect{AskGate{s.Turn, s.Gen}}
}

func arm(t ID, gen, ms uint32) (Speaking, []Effect) {
	return Speaking{Turn: t, Gen: gen + 1}, []Effect{ArmFallback{t, gen + 1, ms}}
}

func resume(t ID, gen uint32) (Speaking, []Effect) { return Speaking{Turn: t, Gen: gen + 1}, nil }
