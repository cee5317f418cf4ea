package gate

import (
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

// Assertions that the design asks for, by spec. An `# ask` of that name does as well.
var designed = map[string][]string{
	"response": {
		"AtMostOneLive", "AtMostOneBody", "ExactlyOneTerminal", "TerminalAfterCreated", "NoStartAfterShutdown",
		"StaleIsHarmless", "DoneOnceAndLast", "EveryCreatedTerminates", "DrainingEnds",
	},
	"turn":          {"Coupled", "AtMostOneTurnOpen", "EveryTurnEndsOnce", "BargeInOnlyFromSpeech", "BargeInBeforeCommit"},
	"conn":          {"TeardownOnce", "NoVADAfterClosing", "ReleaseAfterChildren"},
	"playout":       {"NothingHeardAfterCleared", "TruncateWithinSent", "HoldEnds", "StartedThenStoppedOrCleared"},
	"synthesis":     {"WakeOnce", "Monotonic"},
	"transcription": {"EOUNotLost", "UnavailableIsSticky"},
	"compaction":    {"SingleFlight", "NoneAfterTeardown", "OverflowIsEventuallyCompacted"},
	"session":       {"ChildrenDieWithParent", "NoChildStartsAfterTeardown", "NoTurnLost", "NoOverlap"},
	"run":           {},
	"idempotency": {
		"RequestIsProcessedOnlyOnce", "EveryReqFinishAsCachedOrFromCache", "AttemptsCanBeProcessedConcurrently",
	},
}

// Reference is a spec that no code of ours stands behind, and what is known of it.
type Reference struct {
	Why       string
	Verdict   check.Verdict
	Assertion string // that fails
	States    int    // 0: not known
}

// references lie in specs/reference. They are no proofs of this code but of the checker:
// their figures are known from elsewhere.
var references = map[string]Reference{
	"reference/response_source": {
		Why: "the response coordinator of the source document", Verdict: check.Passed, States: 14,
	},
	"reference/response_source_serial": {
		Why: "the same with its start made serial", Verdict: check.Failed, Assertion: "AtMostOneLive",
	},
}

// differs says how a result is not what is known of the reference, or "".
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

// lacking are the names that are wanted and not there.
func lacking(wanted, there []string) []string {
	var out []string
	for _, name := range wanted {
		if !slices.Contains(there, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
