package gate

// Which assertions each specification must have: the invariants of the code's monitor and some more.

import (
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/compaction"
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/generation"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/coord/voicegate"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/internal/coord/continuation"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
	"github.com/antiphon-rt/antiphon/internal/coord/run"
)

// design has, for each spec, the assertions that it must have in addition to the invariants of the code's monitor: mostly liveness
// properties, which a monitor cannot check.
var design = map[string][]string{
	"response": {
		"AtMostOneLive", "AtMostOneBody", "ExactlyOneTerminal", "TerminalAfterCreated", "NoStartAfterShutdown", "StaleIsHarmless",
		"DoneOnceAndLast", "NoContentAfterTerminal", "EveryAddedIsDone", "EveryCreatedTerminates", "DrainingEnds",
	},
	"turn":          {"Coupled", "AtMostOneTurnOpen", "EveryTurnEndsOnce", "BargeInOnlyFromSpeech", "BargeInBeforeCommit"},
	"conn":          {"TeardownOnce", "NoVADAfterClosing", "ReleaseAfterChildren"},
	"playout":       {"NothingHeardAfterCleared", "TruncateWithinSent", "HoldEnds", "StartedThenStoppedOrCleared"},
	"synthesis":     {"WakeOnce", "Monotonic"},
	"generation":    {"GenerationEnds"},
	"draft":         {"DraftEnds"},
	"voicegate":     {"FailsClosed", "VerdictComes"},
	"transcription": {"EOUNotLost", "UnavailableIsSticky"},
	"compaction":    {"SingleFlight", "NoneAfterTeardown", "OverflowIsEventuallyCompacted"},
	"session": {
		"ChildrenDieWithParent", "NoChildStartsAfterTeardown", "NoTurnLost", "NoOverlap", "BargeInBeforeCommit",
		"NothingOwedWhenIdle", "EveryCreatedTerminates", "DrainingEnds", "HeldPlaysOnOrIsCut", "WaitingIsPlayedOrDropped",
	},
	"session_end":     {"HeldPlaysOnOrIsCut", "WaitingIsPlayedOrDropped"},
	"session_queue":   {"HeldPlaysOnOrIsCut", "WaitingIsPlayedOrDropped"},
	"session_reports": {"HeldPlaysOnOrIsCut", "WaitingIsPlayedOrDropped"},
	"run": {
		"OneTerminal", "OneResumeWins", "AttemptsOnlyGrow", "SeqIsContiguous",
		"QueuedIsClaimed", "RunningReports", "AutoDecideEndsTheWait",
	},
	"idempotency": {
		"RequestIsProcessedOnlyOnce", "EveryReqFinishAsCachedOrFromCache", "AttemptsCanBeProcessedConcurrently",
	},
	"idempotency_unknown": {"EveryTryEnds"},
	"continuation": {
		"AskedIsKept", "SaidOnce", "FunctionIsCalledOnce", "CancelledStays", "QuestionIsAskedOnce", "AsideIsSilent", "DueIsKept", "TurnTakesItsPlace", "LossIsTold", "DueIsSaid",
	},
	"journal": {"ReleasedIsStored", "FencedIsSilent", "WithheldIsReleased", "BrokenIsRestored", "EndIsReached"},
	"journal_takeover": {
		"OneOwnerPerEpoch", "FencedWritesNothing", "ToldIsKept", "ToldIsStored", "AppliedOnce", "RefusedOnlyIfBroken", "DialIsServed",
	},
	"bargein": {
		"ConvergesWhenQuiet", "NeverStuckDucked", "NothingHeardAfterConfirm", "NoWordLost", "VerdictOnce", "AtMostOneLive",
		"BothEndsComeToRest",
	},
}

// watched has, for each spec, the invariants of the code's monitor. The spec must have assertions with the same names.
var watched = map[string][]string{
	"response":      watchedBy(response.Monitor),
	"turn":          watchedBy(turn.Monitor),
	"conn":          watchedBy(conn.Monitor),
	"playout":       watchedBy(playout.Monitor),
	"synthesis":     watchedBy(synthesis.Monitor),
	"generation":    watchedBy(generation.Monitor),
	"draft":         watchedBy(draft.Monitor),
	"voicegate":     watchedBy(voicegate.Monitor),
	"transcription": watchedBy(transcription.Monitor),
	"compaction":    watchedBy(compaction.Monitor),
	"continuation":  watchedBy(continuation.Monitor),
	"run":           watchedBy(run.Monitor),
	"journal":       watchedBy(journal.Monitor),
	"session":       watchedInSession(),
	// Holders go on to their end in "idempotency": there most of it has no meaning.
	"idempotency_unknown": watchedBy(idempotency.Monitor),
}

func watchedBy[S, E machine.Named, F, G any](m machine.Monitor[S, E, F, G]) []string {
	var out []string
	for _, inv := range m.Invariants {
		out = append(out, inv.Name)
	}
	return out
}

func watchedInSession() []string {
	var out []string
	for _, inv := range session.Invariants {
		out = append(out, inv.Name)
	}
	return out
}

// designed returns design and watched together.
func designed() map[string][]string {
	out := map[string][]string{}
	for name := range design {
		out[name] = slices.Concat(design[name], watched[name])
	}
	return out
}

// Reference is the known result of a spec that has no code of ours.
type Reference struct {
	Why       string
	Verdict   check.Verdict
	Assertion string // that fails
	States    int    // 0: not known
}

// references are the specs in specs/reference. They test the checker and not our code: their results are known from other sources.
var references = map[string]Reference{
	"reference/response_source": {
		Why: "the response coordinator of the source document", Verdict: check.Passed, States: 14,
	},
	"reference/response_source_serial": {
		Why: "the same with its start made serial", Verdict: check.Failed, Assertion: "AtMostOneLive",
	},
}

// differs returns how a result differs from the known one, or "".
func (r Reference) differs(found check.Result) string {
	switch {
	case found.Verdict != r.Verdict || found.Assertion != r.Assertion:
		return fmt.Sprintf("%s, expected %s", verdict(found), verdict(check.Result{Verdict: r.Verdict, Assertion: r.Assertion}))
	case r.States != 0 && found.States != r.States:
		return fmt.Sprintf("%d states, expected %d", found.States, r.States)
	}
	return ""
}

func verdict(r check.Result) string {
	if r.Assertion == "" {
		return string(r.Verdict)
	}
	return string(r.Verdict) + ":" + r.Assertion
}

// lacking returns the wanted names that are not there.
func lacking(wanted, there []string) []string {
	var out []string
	for _, name := range wanted {
		if !slices.Contains(there, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
