package gate

// Which assertions each specification must have: the invariants of the code's monitor and some more.

import (
	"fmt"
	"maps"
	"slices"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
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
	"turnend":       {"EndsOnce", "JoinsWords", "EndIsFinalAtLast"},
	"transcription": {"EOUNotLost", "UnavailableIsSticky"},
	"compaction":    {"SingleFlight", "NoneAfterTeardown", "OverflowIsEventuallyCompacted"},
	"remotecall":    {"CalledOnce", "OnlyApproved", "RunningEnds"},
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

// designed returns, for each spec of design, these assertions and the invariants of the code's monitor: the spec must have assertions with the same names.
func designed(machines []conform.Comparer) map[string][]string {
	out := maps.Clone(design)
	for _, m := range machines {
		if named, is := out[m.Name()]; is {
			out[m.Name()] = slices.Concat(named, conform.Invariants(m))
		}
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

func lacking(wanted, there []string) []string {
	var out []string
	for _, name := range wanted {
		if !slices.Contains(there, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
