package protocolcheck_test

import (
	"fmt"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
)

// A record of a session that says nothing but an event without its name.
func ExampleRecord() {
	report, err := protocolcheck.Record(strings.NewReader(
		`{"t":"2026-01-01T10:00:00Z","session":"sess_1","dir":"server","event":{"type":"input_audio_buffer.cleared"}}`))
	if err != nil {
		fmt.Println(err)
	}
	for _, p := range report.Problems {
		fmt.Println(p)
	}
	// Output:
	// line 1, sess_1: SessionFirst: input_audio_buffer.cleared is event number 1
	// line 1, sess_1: EventIDs: the event_id "" of input_audio_buffer.cleared is not new
	// line 1, sess_1: RequiredFields: input_audio_buffer.cleared: server input_audio_buffer.cleared lacks event_id
	// line 1, sess_1: RealIDs: event_id of input_audio_buffer.cleared is "": want event_…
}
