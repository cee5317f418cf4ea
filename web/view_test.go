package web

// The page's snapshot from a snapshot of the SDK.

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

func TestTheCaptionHasTheUsersWords(t *testing.T) {
	agent := sdk.Entry{ItemID: "a", Role: sdk.Agent, Text: "Before."}
	said := sdk.Entry{ItemID: "u", Role: sdk.User, Text: "what is", Spoken: true, Live: true}
	typed := sdk.Entry{ItemID: "u", Role: sdk.User, Text: "typed"}
	begun := sdk.Entry{ItemID: "b", Role: sdk.Agent, Live: true}
	tool := sdk.Entry{ItemID: "t", Role: sdk.ToolUse, ToolCall: &sdk.ToolCall{Name: "clock"}}
	for _, row := range []struct {
		name    string
		state   sdk.State
		entries []sdk.Entry
		want    string
	}{
		{"they speak", sdk.UserSpeaking, []sdk.Entry{agent, said}, "what is"},
		{"the answer is being made", sdk.Thinking, []sdk.Entry{agent, said, tool, begun}, "what is"},
		{"the answer is heard", sdk.AgentSpeaking, []sdk.Entry{agent, said, begun}, ""},
		{"they have said nothing new", sdk.UserSpeaking, []sdk.Entry{said, agent}, ""},
		{"they wrote", sdk.Thinking, []sdk.Entry{typed}, ""},
		{"nothing was said", sdk.UserSpeaking, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			v := viewOf(sdk.Snapshot{State: row.state, Transcript: row.entries})
			g.Expect(v.Caption).To(gomega.Equal(row.want))
		})
	}
}

func TestACutIsShownWhenThePlayedPositionIsKnown(t *testing.T) {
	g := gomega.NewWithT(t)
	asking := lineOf(&sdk.Entry{ItemID: "a", Role: sdk.Agent, Text: "One, two, three.", Interrupted: true, Live: true})
	g.Expect(asking.Interrupted).To(gomega.BeFalse())
	known := lineOf(&sdk.Entry{ItemID: "a", Role: sdk.Agent, Text: "One, two,", Interrupted: true})
	g.Expect(known.Interrupted).To(gomega.BeTrue())
}

func TestToolCallsAreOneLine(t *testing.T) {
	long := strings.Repeat("ä", maxCallText)
	for _, row := range []struct {
		call *sdk.ToolCall
		want string
	}{
		{nil, ""},
		{&sdk.ToolCall{Name: "clock", Arguments: "{}"}, "clock({}) …"},
		{&sdk.ToolCall{Name: "clock", Arguments: "{}", Output: "nine", Done: true}, "clock({}) → nine"},
		{&sdk.ToolCall{Name: "clock", Arguments: "{}", Output: "broken", Done: true, Failed: true}, "clock({}) failed: broken"},
		{&sdk.ToolCall{Name: "clock", Arguments: "{}", Output: long, Done: true}, "clock({}) → " + long[:maxCallText] + "…"},
	} {
		g := gomega.NewWithT(t)
		g.Expect(callText(row.call)).To(gomega.Equal(row.want))
	}
	g := gomega.NewWithT(t)
	g.Expect(clip("x" + long)).To(gomega.HaveSuffix("ä…"))
}

func TestLatencyPrefersTheServersMeasurement(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	spoken := []sdk.Entry{{ItemID: "u", Role: sdk.User, Spoken: true}}
	server := &sdk.ServerTurnMetrics{
		Commit: ms(310), Transcript: ms(370), FirstToken: ms(372), FirstAudio: ms(420), FirstPacket: ms(424), PlaybackEnd: sdk.Never,
	}
	for _, row := range []struct {
		name string
		turn *sdk.TurnMetrics
		want Latency
	}{
		{"no turn yet", nil, Latency{}},
		{
			"both", &sdk.TurnMetrics{ItemID: "u", FirstSound: ms(130), FirstText: ms(100), Server: server},
			Latency{Total: 424, Silence: 310, Recognition: 60, Model: 2, Voice: 48, Network: 4},
		},
		{"the client's sound", &sdk.TurnMetrics{ItemID: "u", FirstSound: ms(130), FirstText: ms(100)}, Latency{Total: 130}},
		{"the client's text", &sdk.TurnMetrics{ItemID: "u", FirstSound: sdk.Never, FirstText: ms(100)}, Latency{Total: 100}},
		{"nothing came", &sdk.TurnMetrics{ItemID: "u", FirstSound: sdk.Never, FirstText: sdk.Never}, Latency{}},
		{"unknown item", &sdk.TurnMetrics{ItemID: "x", FirstSound: ms(5)}, Latency{Total: 5}},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(viewOf(sdk.Snapshot{Transcript: spoken, LastTurn: row.turn}).Latency).To(gomega.Equal(row.want))
		})
	}
	g := gomega.NewWithT(t)
	underWay := sdk.Snapshot{State: sdk.AgentSpeaking, Transcript: spoken, LastTurn: &sdk.TurnMetrics{ItemID: "u", FirstSound: ms(26)}}
	g.Expect(viewOf(underWay).Latency).To(gomega.Equal(Latency{}), "the server has not said yet")
	written := sdk.Snapshot{Transcript: []sdk.Entry{{ItemID: "u"}}, LastTurn: &sdk.TurnMetrics{ItemID: "u", FirstSound: ms(5)}}
	g.Expect(viewOf(written).Latency.Written).To(gomega.BeTrue())
}

// TestAStageThatWorksAgain: the problem of a stage goes when the stage works, and the page says nothing of what its server's addresses are.
func TestAStageThatWorksAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	lost := sdk.Entry{ItemID: "1", Role: sdk.User, Spoken: true, Failed: true, Note: "dial tcp 10.0.0.7:9000: refused"}
	failed := viewOf(sdk.Snapshot{Transcript: []sdk.Entry{lost}})
	g.Expect(failed.Lines[0].Note).To(gomega.BeEmpty())
	g.Expect(failed.Problem.Advice).To(gomega.ContainSubstring("Writing works."))
	g.Expect(failed.Latency).To(gomega.Equal(Latency{Failed: true}))
	g.Expect(viewOf(sdk.Snapshot{Transcript: []sdk.Entry{lost, {ItemID: "2", Role: sdk.User, Spoken: true}}}).Problem).To(gomega.BeNil())
}

func TestErrorsBecomeProblems(t *testing.T) {
	for _, row := range []struct {
		name string
		s    sdk.Snapshot
		want ProblemKind
	}{
		{"server gone", sdk.Snapshot{Err: &sdk.Error{Kind: sdk.ErrServerGone}}, problemServerGone},
		{"being brought back", sdk.Snapshot{State: sdk.Reconnecting, Err: sdk.ErrServerGone}, problemAway},
		{"brought back without the conversation", sdk.Snapshot{State: sdk.Listening, Err: sdk.ErrBegunAnew}, problemAnew},
		{"server silent", sdk.Snapshot{Err: sdk.ErrServerSilent}, problemSilent},
		{"no WebRTC", sdk.Snapshot{Err: &sdk.Error{Kind: sdk.ErrUnsupported}}, problemUnsupported},
		{"wrong key", sdk.Snapshot{Err: &sdk.RefusedError{Status: 401}}, problemKey},
		{"full", sdk.Snapshot{Err: &sdk.RefusedError{Status: 503}}, problemBusy},
		{"refused", sdk.Snapshot{Err: &sdk.RefusedError{Status: 400}}, problemServer},
		{"error event", sdk.Snapshot{Err: &sdk.ServerError{Message: "no"}}, problemServer},
		{"refused microphone", sdk.Snapshot{AudioState: sdk.AudioState{MicErr: &sdk.Error{Kind: sdk.ErrPermission}}}, problemPermission},
		{"no microphone", sdk.Snapshot{AudioState: sdk.AudioState{MicErr: sdk.ErrNoMicrophone}}, problemNoMicrophone},
		{"busy microphone", sdk.Snapshot{AudioState: sdk.AudioState{MicErr: sdk.ErrMicrophoneBusy}}, problemMicBusy},
		{"insecure page", sdk.Snapshot{AudioState: sdk.AudioState{MicErr: sdk.ErrUnsupported}}, problemInsecure},
		{"the call comes first", sdk.Snapshot{Err: sdk.ErrServerGone, AudioState: sdk.AudioState{MicErr: sdk.ErrNoMicrophone}}, problemServerGone},
		{"no sound before a click", sdk.Snapshot{AudioState: sdk.AudioState{SoundBlocked: true}}, problemBlocked},
		{"a page of a wrong origin", sdk.Snapshot{Err: &sdk.RefusedError{Status: 403}}, problemServer},
		{"the model fails", sdk.Snapshot{Err: &sdk.ServerError{Code: "model_failed", Message: "no"}}, problemModel},
		{"the voice fails", sdk.Snapshot{Err: &sdk.ServerError{Code: "synthesizer_failed", Message: "no"}}, problemVoice},
		{"the server says that the model has failed", sdk.Snapshot{Pipeline: sdk.Pipeline{Components: []sdk.Component{{Stage: "model", State: "failed"}}}}, problemModel},
		{
			"a stage that has failed comes before its error", sdk.Snapshot{
				Err:      &sdk.ServerError{Code: "model_failed"},
				Pipeline: sdk.Pipeline{Components: []sdk.Component{{Stage: "model", State: "failed", Detail: "start Ollama"}}},
			}, problemModel,
		},
		{"words that are not understood", sdk.Snapshot{Transcript: []sdk.Entry{{Role: sdk.User, Spoken: true, Failed: true}}}, problemEars},
		{"a key is needed", sdk.Snapshot{Pipeline: sdk.Pipeline{Err: &sdk.RefusedError{Status: 401}}}, problemKey},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(viewOf(row.s).Problem).To(gomega.HaveField("Kind", row.want))
		})
	}
	g := gomega.NewWithT(t)
	g.Expect(viewOf(sdk.Snapshot{}).Problem).To(gomega.BeNil())
}

func TestDetailsDoNotRepeatThePage(t *testing.T) {
	cause := errors.New("NotAllowedError: denied")
	for _, row := range []struct {
		err  error
		want string
	}{
		{sdk.ErrServerGone, ""},
		{&sdk.Error{Kind: sdk.ErrPermission, Cause: cause}, "NotAllowedError: denied"},
		{&sdk.Error{Kind: sdk.ErrServerSilent, Detail: "no data"}, "no data"},
		{&sdk.Error{Kind: sdk.ErrServerGone, Detail: "its answer", Cause: cause}, "its answer: NotAllowedError: denied"},
		{&sdk.RefusedError{Status: 400, Message: "no audio in the offer"}, "no audio in the offer"},
		{&sdk.ServerError{Message: "no such item"}, "no such item"},
	} {
		g := gomega.NewWithT(t)
		g.Expect(viewOf(sdk.Snapshot{Err: row.err}).Problem.Detail).To(gomega.Equal(row.want))
	}
}

func TestEveryStateHasAPhase(t *testing.T) {
	g := gomega.NewWithT(t)
	seen := make(map[Phase]bool)
	for s := sdk.Disconnected; s <= sdk.Failed; s++ {
		p := phaseOf(s)
		g.Expect(seen[p]).To(gomega.BeFalse(), s.String())
		seen[p] = true
		g.Expect(p.InCall()).To(gomega.Equal(s.OnCall() || s == sdk.Connecting || s == sdk.Reconnecting), s.String())
	}
}

func TestTheSystemsDefaultDeviceIsListedOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	v := viewOf(sdk.Snapshot{AudioState: sdk.AudioState{Devices: sdk.Devices{
		Microphones: []sdk.Device{{ID: "", Label: ""}, {ID: "default", Label: "Default - Headset"}, {ID: "a", Label: "Headset"}},
	}}})
	g.Expect(v.Devices.Microphones).To(gomega.Equal([]Device{{ID: "a", Label: "Headset"}}))
	g.Expect(v.Devices.Speakers).To(gomega.BeEmpty())
}
