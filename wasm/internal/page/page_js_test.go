package page

// The texts for the page's script: snapshots, transcripts and errors.

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

// script decodes the texts as the page's script does.
type script struct {
	State, Confirmed    string
	Gone, From          int
	Entries             []struct{ ID, Text, Role string }
	Devices             *struct{ Microphones []struct{ ID string } }
	Error               *struct{ Code, Message, Remedy, Cause string }
	Metrics             struct{ Turn *struct{ FirstText *float64 } }
	transcript          []string
	MicrophoneError     *struct{ Code string }
	Volume              float64
	Muted, Interrupting bool
	Progress            string
}

// take reads one text as sdk/npm/call.js does.
func (s *script) take(g *gomega.WithT, text []byte) {
	before := s.transcript
	*s = script{Gone: -1}
	g.Expect(json.Unmarshal(text, s)).To(gomega.Succeed(), string(text))
	s.transcript = before
	if s.Gone >= 0 {
		s.transcript = append([]string(nil), before[min(s.Gone, len(before)):min(s.Gone+s.From, len(before))]...)
		for _, e := range s.Entries {
			s.transcript = append(s.transcript, e.Text)
		}
	}
}

func entries(texts ...string) (list []sdk.Entry) {
	for _, t := range texts {
		list = append(list, sdk.Entry{ItemID: "id " + t[:1], Role: sdk.Agent, Text: t})
	}
	return list
}

func TestATextHasTheTranscriptFromItsFirstChange(t *testing.T) {
	g := gomega.NewWithT(t)
	var w writer
	var s script
	for _, step := range []struct {
		shown   sdk.Snapshot
		entries int // how many entries the text has
	}{
		{sdk.Snapshot{}, 0},
		{sdk.Snapshot{Transcript: entries("a")}, 1},
		{sdk.Snapshot{Transcript: entries("a", "b")}, 1},
		{sdk.Snapshot{Transcript: entries("a", "b and more")}, 1},
		{sdk.Snapshot{Transcript: entries("a", "b and more")}, 0},
		{sdk.Snapshot{Transcript: entries("b and more", "c"), Trimmed: 1}, 1},
		{sdk.Snapshot{Transcript: entries("c", "d"), Trimmed: 2}, 1},
		{sdk.Snapshot{Transcript: entries("x"), Trimmed: 0}, 1},
		{sdk.Snapshot{}, 0},
	} {
		s.take(g, w.snapshot(step.shown))
		g.Expect(s.Entries).To(gomega.HaveLen(step.entries))
		var want []string
		for _, e := range step.shown.Transcript {
			want = append(want, e.Text)
		}
		g.Expect(s.transcript).To(gomega.HaveExactElements(want))
	}
}

func TestASnapshotIsOneText(t *testing.T) {
	g := gomega.NewWithT(t)
	var w writer
	var s script
	s.take(g, w.snapshot(sdk.Snapshot{
		State: sdk.UserSpeaking, Confirmed: sdk.AgentSpeaking, Interrupting: true, Progress: "loading",
		AudioState: sdk.AudioState{
			Volume: 0.5, Muted: true, MicErr: sdk.ErrNoMicrophone,
			Devices: sdk.Devices{Microphones: []sdk.Device{{ID: `"quoted"`}}},
		},
		LastTurn:   &sdk.TurnMetrics{FirstText: 1500000, FirstSound: sdk.Never, Server: &sdk.ServerTurnMetrics{}},
		Transcript: []sdk.Entry{{ItemID: "i", Role: sdk.ToolUse, ToolCall: &sdk.ToolCall{ID: "c", Name: "n", Arguments: "{}"}}},
	}))
	g.Expect(s.State).To(gomega.Equal("user-speaking"))
	g.Expect(s.Confirmed).To(gomega.Equal("agent-speaking"))
	g.Expect(s.Progress).To(gomega.Equal("loading"))
	g.Expect(s.Volume).To(gomega.Equal(0.5))
	g.Expect(s.Devices.Microphones[0].ID).To(gomega.Equal(`"quoted"`))
	g.Expect(*s.Metrics.Turn.FirstText).To(gomega.Equal(1.5))
	g.Expect(s.Entries[0].Role).To(gomega.Equal("tool"))
	g.Expect(s.MicrophoneError.Code).To(gomega.Equal("no_microphone"))
	s.take(g, w.snapshot(sdk.Snapshot{AudioState: sdk.AudioState{Devices: sdk.Devices{Microphones: []sdk.Device{{ID: `"quoted"`}}}}}))
	g.Expect(s.Devices).To(gomega.BeNil(), "the devices are as they were")
	i := sdk.Inspection{Machines: []sdk.MachineState{{Name: "turn", State: "Idle"}}, Last: []sdk.Transition{{Lane: "client"}}}
	g.Expect(json.Valid(inspection(i))).To(gomega.BeTrue())
}

// TestRunsAreInASnapshot: the script gets all runs when one of them has changed, and otherwise none.
func TestRunsAreInASnapshot(t *testing.T) {
	g := gomega.NewWithT(t)
	var w writer
	runs := func(list []sdk.Run) string {
		var s struct{ Runs json.RawMessage }
		g.Expect(json.Unmarshal(w.snapshot(sdk.Snapshot{Runs: list}), &s)).To(gomega.Succeed())
		return string(s.Runs)
	}
	g.Expect(runs(nil)).To(gomega.Equal("[]"))
	g.Expect(runs(nil)).To(gomega.BeEmpty())
	list := []sdk.Run{
		{ID: "run_1", Tool: "book", Status: "waiting_user", Question: &sdk.RunQuestion{ID: "ia_1", Approval: true, Prompt: "Go?"}, Timeline: []sdk.RunStep{{At: "1", Kind: "k", Text: "t"}}},
		{ID: "run_2", Status: "failed", Question: &sdk.RunQuestion{ID: "ia_2", Prompt: "Where?", Choices: []string{"Oslo", "Rome"}}, Result: &sdk.RunResult{Code: "expired", Message: "late"}},
	}
	g.Expect(runs(list)).To(gomega.MatchJSON(`[
		{"id":"run_1","tool":"book","status":"waiting_user","progress":"","question":{"id":"ia_1","approval":true,"prompt":"Go?","answered":false,"choices":[]},"result":null,"timeline":[{"at":"1","kind":"k","text":"t"}]},
		{"id":"run_2","tool":"","status":"failed","progress":"","question":{"id":"ia_2","approval":false,"prompt":"Where?","answered":false,"choices":["Oslo","Rome"]},"result":{"output":"","code":"expired","message":"late"},"timeline":[]}
	]`))
	g.Expect(runs(list)).To(gomega.BeEmpty())
	g.Expect(runs([]sdk.Run{list[1]})).To(gomega.HavePrefix("[{"))
	g.Expect(runs(nil)).To(gomega.Equal("[]"))
}

func TestAnErrorHasACodeAndARemedy(t *testing.T) {
	for name, row := range map[string]struct {
		err                   error
		code, message, remedy string
	}{
		"a sentinel":       {sdk.ErrServerGone, "server_gone", "the server is gone", "check that it runs and that the network is up, then call again"},
		"with more":        {&sdk.Error{Kind: sdk.ErrUnsupported, Detail: "it has no WebRTC", Cause: errors.New("x")}, "unsupported", "this browser cannot place calls (it has no WebRTC)", "use a current Chrome, Edge, Firefox or Safari, and open the page over https or from localhost"},
		"a wrong key":      {&sdk.RefusedError{Status: 401, Message: "no such key"}, "unauthorized", "the server refused the call with status 401: no such key", "check the key"},
		"another refusal":  {&sdk.RefusedError{Status: 400, Message: "odd (very)"}, "refused", "the server refused the call with status 400: odd (very)", ""},
		"a full server":    {&sdk.RefusedError{Status: 503}, "busy", "the server refused the call with status 503", "the server is full: try again in a moment"},
		"the server's own": {&sdk.ServerError{Code: "invalid_value", Message: "no"}, "invalid_value", "no", ""},
		"without a code":   {&sdk.ServerError{Message: "no"}, "server_error", "no", ""},
		"anything else":    {errors.New("odd"), "failed", "odd", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			code, message, remedy := describe(row.err)
			g.Expect([]string{code, message, remedy}).To(gomega.Equal([]string{row.code, row.message, row.remedy}))
			g.Expect(json.Valid([]byte(errorText(row.err)))).To(gomega.BeTrue())
		})
	}
}
