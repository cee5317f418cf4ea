package protocolcheck

// Each rule finds a record that breaks it, and a good record has no problems.

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// good is the record of two calls: one over WebRTC with a turn, a tool call and an interruption, and one over a WebSocket.
//
//go:embed testdata/good.jsonl
var good []byte

func TestGoodRecordHasNoProblems(t *testing.T) {
	g := gomega.NewWithT(t)
	report, err := Record(bytes.NewReader(good))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(report.Problems).To(gomega.BeEmpty())
	g.Expect([]int{report.Sessions, report.Responses}).To(gomega.Equal([]int{2, 6}))
}

// edit changes a record; lines count from 1.
type edit func(lines []string) []string

func drop(n int) edit { return func(lines []string) []string { return slices.Delete(lines, n-1, n) } }

func move(from, to int) edit {
	return func(lines []string) []string {
		line := lines[from-1]
		return slices.Insert(slices.Delete(lines, from-1, from), to-1, line)
	}
}

func repeat(n, at int) edit {
	return func(lines []string) []string {
		line := strings.Replace(lines[n-1], `"event_id":"`, `"event_id":"again_`, 1)
		return slices.Insert(lines, at-1, line)
	}
}

func replace(n int, old, with string) edit {
	return func(lines []string) []string {
		lines[n-1] = strings.Replace(lines[n-1], old, with, 1)
		return lines
	}
}

func cut(n int) edit { return func(lines []string) []string { return lines[:n] } }

// copyID replaces the value of key in line to by its value in line from.
func copyID(from, to int, key string) edit {
	value := func(line string) string {
		_, rest, _ := strings.Cut(line, `"`+key+`":"`)
		id, _, _ := strings.Cut(rest, `"`)
		return id
	}
	return func(lines []string) []string {
		lines[to-1] = strings.Replace(lines[to-1], value(lines[to-1]), value(lines[from-1]), 1)
		return lines
	}
}

// breach is an edit that makes the good record break a rule.
type breach struct {
	rule string
	do   edit
}

var breaches = map[string]breach{
	"no session.created":                          {"SessionFirst", drop(1)},
	"session.created twice":                       {"SessionFirst", repeat(1, 10)},
	"an error first":                              {"SessionFirst", move(142, 116)},
	"an event_id twice":                           {"EventIDs", copyID(9, 10, "event_id")},
	"an event without id":                         {"EventIDs", replace(9, `"event_id":"`, `"other":"`)},
	"an error about an unknown event":             {"EventIDs", drop(141)},
	"a key is missing":                            {"RequiredFields", replace(88, `"status_details":`, `"other":`)},
	"a key is missing deep inside":                {"RequiredFields", replace(1, `"interrupt_response":`, `"other":`)},
	"a field is null":                             {"RequiredFields", replace(82, `"response_id":"`, `"response_id":null,"other":"`)},
	"no object where there is one":                {"RequiredFields", replace(88, `"usage":{`, `"usage":7,"other":{`)},
	"no list where there is one":                  {"RequiredFields", replace(88, `"output":[`, `"output":{},"other":[`)},
	"an unknown type":                             {"RequiredFields", replace(9, `"type":"message"`, `"type":"song"`)},
	"an unknown event":                            {"RequiredFields", replace(9, `"type":"conversation.item.added"`, `"type":"response.audio.delta"`)},
	"a beta name of an item":                      {"RealIDs", replace(6, `"item_id":"item_`, `"item_id":"TODO`)},
	"a tool call without an id":                   {"RealIDs", replace(38, `"call_id":"call_`, `"call_id":"`)},
	"an item without an id":                       {"RealIDs", replace(9, `"item":{"id":"`, `"item":{"id":"","x":"`)},
	"metadata that nobody sent":                   {"MetadataComesBack", replace(88, `"metadata":null`, `"metadata":{"a":"b"}`)},
	"a transcript twice":                          {"OneTranscriptPerTurn", repeat(11, 12)},
	"an out-of-band response in the conversation": {"OneLiveResponse", replace(69, `"conversation_id":"`, `"conversation_id":null,"other":"`)},
	"no response.done":                            {"OneDonePerResponse", drop(41)},
	"response.done twice":                         {"OneDonePerResponse", repeat(41, 42)},
	"the record ends too early":                   {"OneDonePerResponse", cut(39)},
	"an unknown response":                         {"OneDonePerResponse", drop(34)},
	"no usage":                                    {"OneDonePerResponse", replace(25, `"usage":{`, `"usage":null,"x":{`)},
	"output_item.done is missing":                 {"EveryAddedIsDone", drop(39)},
	"item.done is missing":                        {"EveryAddedIsDone", drop(40)},
	"item.done of the user is missing":            {"EveryAddedIsDone", drop(10)},
	"part done before its text":                   {"EveryAddedIsDone", move(22, 21)},
	"delta before the part":                       {"EveryAddedIsDone", move(16, 15)},
	"another output":                              {"EveryAddedIsDone", replace(25, `"output":[{`, `"output":[{"id":"x"},{`)},
	"delta after response.done":                   {"NothingAfterDone", move(18, 25)},
	"two live responses":                          {"OneLiveResponse", move(41, 46)},
	"committed under another id":                  {"OneItemPerTurn", copyID(6, 30, "item_id")},
	"stopped under another id":                    {"OneItemPerTurn", copyID(6, 29, "item_id")},
	"committed without stopped":                   {"OneItemPerTurn", drop(29)},
	"item under another id":                       {"OneItemPerTurn", replace(31, `"item":{"id":"`, `"item":{"id":"x`)},
	"captions of an unknown item":                 {"OneItemPerTurn", replace(62, `"item_id":"`, `"item_id":"x`)},
	"an unknown previous item":                    {"KnownPreviousItem", replace(36, `"previous_item_id":"`, `"previous_item_id":"x`)},
	"done after another item":                     {"KnownPreviousItem", replace(40, `"previous_item_id":"`, `"previous_item_id":"x`)},
	"a delta is missing":                          {"DeltasAreTheText", drop(17)},
	"another transcript":                          {"DeltasAreTheText", replace(21, "You said", "You sang")},
	"another part":                                {"DeltasAreTheText", replace(22, "You said", "You sang")},
	"another item":                                {"DeltasAreTheText", replace(23, "You said", "You sang")},
	"other arguments":                             {"DeltasAreTheText", replace(38, `{}`, `{ }`)},
	"another output_index":                        {"StableIndexes", replace(20, `"output_index":0`, `"output_index":1`)},
	"another content_index":                       {"StableIndexes", replace(20, `"content_index":0`, `"content_index":1`)},
	"a gap in output_index":                       {"StableIndexes", replace(13, `"output_index":0`, `"output_index":3`)},
	"truncated beyond the sent audio":             {"TruncateWithinSent", replace(89, `"audio_end_ms":`, `"audio_end_ms":9`)},
	"an unknown item is truncated":                {"TruncateWithinSent", replace(89, `"item_id":"`, `"item_id":"x`)},
	"started has no end":                          {"PlaybackIsClosed", drop(26)},
	"stopped without started":                     {"PlaybackIsClosed", drop(19)},
	"started before the part":                     {"PlaybackIsClosed", move(19, 14)},
	"stopped before response.done":                {"PlaybackIsClosed", move(26, 25)},
	"stopped twice":                               {"PlaybackIsClosed", repeat(26, 27)},
	"cleared after the dones":                     {"InterruptionOrder", move(82, 87)},
	"cleared after response.done":                 {"InterruptionOrder", move(82, 88)},
	"cleared before speech_started":               {"InterruptionOrder", move(82, 80)},
	"truncated before response.done":              {"InterruptionOrder", move(89, 88)},
	"no truncated":                                {"InterruptionOrder", drop(89)},
	"audio in events over WebRTC":                 {"OneTransport", replace(16, "response.output_audio_transcript.delta", "response.output_audio.delta")},
	"a playback over WebSocket":                   {"OneTransport", replace(142, `"type":"error"`, `"type":"output_audio_buffer.stopped"`)},
}

// TestEveryRuleFindsItsBreach breaks the good record in one place, and expects a problem that names the rule.
func TestEveryRuleFindsItsBreach(t *testing.T) {
	for name, row := range breaches {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			lines := strings.Split(strings.TrimSpace(string(good)), "\n")
			broken := strings.Join(row.do(lines), "\n")
			g.Expect(broken + "\n").NotTo(gomega.Equal(string(good)))
			report, err := Record(strings.NewReader(broken))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(report.Problems).NotTo(gomega.BeEmpty())
			var rules []string
			for _, p := range report.Problems {
				rules = append(rules, p.Rule)
			}
			g.Expect(rules).To(gomega.ContainElement(row.rule), "%v", report.Problems)
		})
	}
}

func TestProblemIsALine(t *testing.T) {
	gomega.NewWithT(t).Expect(Problem{7, "sess_x", "OneLiveResponse", "two"}.String()).To(gomega.Equal("line 7, sess_x: OneLiveResponse: two"))
}

func TestNoRecord(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := Record(strings.NewReader("{\"session\":\"s\"}\nnothing\n"))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("line 1")))
	_, err = Record(strings.NewReader("nothing\n"))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("line 1 is not a line of a record")))
}

// TestTruncationsThatNobodyWaitsFor has truncations that are no breach of InterruptionOrder.
func TestTruncationsThatNobodyWaitsFor(t *testing.T) {
	g := gomega.NewWithT(t)
	said, called := &output{id: "item_said", kind: "message"}, &output{id: "item_called", kind: "function_call"}
	for _, left := range []string{said.id, called.id} {
		s := newSession("sess_1", &Report{})
		s.conversation = []string{left}
		s.playback.owed = &response{id: "resp_1", outputs: []*output{said, called}}
		next := &event{}
		next.Response.ID, next.Response.Status = "resp_2", "in_progress"
		s.created(next)
		g.Expect(len(s.problems)).To(gomega.Equal(map[string]int{said.id: 1, called.id: 0}[left]), "the client has deleted the other item")
	}

	s := newSession("sess_1", &Report{})
	r := &response{id: "resp_1", outputs: []*output{said, {id: "item_more", kind: "message"}}}
	s.line, s.responses[r.id], s.conversation = 7, r, []string{said.id, "item_more"}
	s.clearing = true
	s.truncated(&event{ItemID: said.id, AudioEndMS: 100})
	s.clearing = false
	s.truncated(&event{ItemID: "item_more"})
	g.Expect(r.early).To(gomega.BeZero(), "the message began after the client had cleared the output")
	s.truncated(&event{ItemID: said.id, AudioEndMS: 100})
	g.Expect(r.early).To(gomega.Equal(7))
}
