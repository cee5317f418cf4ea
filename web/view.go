package web

// Makes a Snapshot of the page from a snapshot of the SDK.

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/sdk"
)

// maxCallText is the largest number of bytes that is shown of a tool call's
// arguments or output.
const maxCallText = 200

// viewOf returns what the page shows of a session, except what only the Client
// knows.
func viewOf(s sdk.Snapshot) Snapshot {
	v := Snapshot{
		Phase:    phaseOf(s.State),
		Muted:    s.Muted,
		MicAsked: s.MicAsked,
		Progress: s.Progress,
		TextOnly: s.TextOnly,
		Caption:  captionOf(s),
		Lines:    make([]Line, 0, len(s.Transcript)),
		Trimmed:  s.Trimmed > 0 || len(s.Transcript) > MaxLines,
		Pipeline: pipelineOf(s.Pipeline),
		Devices: Devices{
			Microphones: devicesOf(s.Devices.Microphones), Microphone: s.Microphone,
			Speakers: devicesOf(s.Devices.Speakers), Speaker: s.Speaker,
		},
		Latency: latencyOf(s),
		Problem: problemOf(s),
	}
	for i := range s.Transcript {
		v.Lines = append(v.Lines, lineOf(&s.Transcript[i]))
	}
	for i := range s.Runs {
		v.Runs = append(v.Runs, runOf(&s.Runs[i]))
	}
	return v
}

func phaseOf(s sdk.State) Phase {
	switch s {
	case sdk.Disconnected:
		return PhaseIdle
	case sdk.Connecting:
		return PhaseConnecting
	case sdk.Listening:
		return PhaseListening
	case sdk.UserSpeaking:
		return PhaseHearing
	case sdk.Thinking:
		return PhaseThinking
	case sdk.AgentSpeaking:
		return PhaseSpeaking
	case sdk.Reconnecting:
		return PhaseReconnecting
	case sdk.Failed:
		return PhaseError
	}
	return PhaseError
}

// captionOf returns what the user is saying; it stays until the answer begins.
func captionOf(s sdk.Snapshot) string {
	if s.State != sdk.UserSpeaking && s.State != sdk.Thinking {
		return ""
	}
	for i := len(s.Transcript) - 1; i >= 0; i-- {
		switch e := s.Transcript[i]; e.Role {
		case sdk.User:
			if e.Spoken {
				return e.Text
			}
			return ""
		case sdk.Agent:
			// An answer has its line before it is played; an interrupted one is over.
			if !e.Live {
				return ""
			}
		case sdk.ToolUse:
		}
	}
	return ""
}

func lineOf(e *sdk.Entry) Line {
	l := Line{
		ID: e.ItemID, Text: e.Text, Live: e.Live,
		// As long as the line is live, it is not known yet how much was heard.
		Interrupted: e.Interrupted && !e.Live,
		Failed:      e.Failed, Note: e.Note,
	}
	if e.Failed && e.Spoken && e.Role == sdk.User {
		l.Note = "" // the problem says why
	}
	switch e.Role {
	case sdk.User:
		l.Role = RoleUser
	case sdk.Agent:
		l.Role, l.Text, l.Coming = RoleAgent, e.Text[:e.Heard], coming(e.Text[e.Heard:])
	case sdk.ToolUse:
		l.Role, l.Text = RoleTool, callText(e.ToolCall)
	}
	return l
}

// maxComing is how many bytes are shown of words that are not heard yet: two lines.
const maxComing = 120

// coming returns the beginning of words that are not heard yet, up to the end of a word.
func coming(words string) string {
	if len(words) <= maxComing {
		return words
	}
	end := strings.LastIndexByte(words[:maxComing], ' ')
	if end <= 0 {
		for end = maxComing; !utf8.RuneStart(words[end]); end-- {
		}
	}
	return words[:end] + " …"
}

// callText returns a tool call in one line.
func callText(c *sdk.ToolCall) string {
	if c == nil {
		return ""
	}
	text := c.Name + "(" + clip(c.Arguments) + ")"
	switch {
	case !c.Done:
		return text + " …"
	case c.Failed:
		return text + " failed: " + clip(c.Output)
	default:
		return text + " → " + clip(c.Output)
	}
}

// clip cuts a text at maxCallText, between two runes.
func clip(text string) string {
	if len(text) <= maxCallText {
		return text
	}
	end := maxCallText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

func pipelineOf(p sdk.Pipeline) Pipeline {
	v := Pipeline{Name: p.Name, Unreachable: p.Err != nil, Keyed: refusal(p.Err) == problemKey, Components: make([]Component, 0, len(p.Components))}
	for _, c := range p.Components {
		v.Components = append(v.Components, Component{
			Stage: c.Stage, Name: c.Name, State: ComponentState(c.State), Detail: c.Detail, Install: c.Install,
		})
	}
	return v
}

func devicesOf(from []sdk.Device) []Device {
	var list []Device
	for _, d := range from {
		// The page has an entry of its own for the system's default.
		if d.ID != "" && d.ID != "default" {
			list = append(list, Device{ID: d.ID, Label: d.Label})
		}
	}
	return list
}

// latencyOf returns the server's measurement, which counts from the true end of
// speech, or the client's own where the server has none. The server sends its
// measurement when the answer is over; until then the latency is not known.
func latencyOf(s sdk.Snapshot) Latency {
	t := s.LastTurn
	if n := len(s.Transcript); n > 0 && s.Transcript[n-1].Failed {
		return Latency{Failed: true}
	}
	if t == nil || t.Server == nil && (s.State == sdk.Thinking || s.State == sdk.AgentSpeaking) {
		return Latency{}
	}
	var l Latency
	if m := t.Server; m != nil {
		l = MetricsLatency(milliseconds(m.Commit), milliseconds(m.Transcript), milliseconds(m.FirstToken),
			milliseconds(m.FirstAudio), milliseconds(m.FirstPacket))
	}
	if l.Total == 0 {
		first := t.FirstSound
		if first == sdk.Never {
			first = t.FirstText
		}
		l = Latency{Total: max(milliseconds(first), 0)}
	}
	l.Written = written(s, t.ItemID)
	return l
}

func written(s sdk.Snapshot, item string) bool {
	for i := range s.Transcript {
		if s.Transcript[i].ItemID == item {
			return !s.Transcript[i].Spoken
		}
	}
	return false
}

func milliseconds(d time.Duration) int {
	if d == sdk.Never {
		return -1
	}
	return int(d.Milliseconds())
}

// problemOf returns the worst problem: first one that ended or disturbed the
// call, then a stage that does not work, then a missing microphone, then blocked sound.
func problemOf(s sdk.Snapshot) *Problem {
	var p Problem
	stage, why := brokenStage(s)
	switch {
	case stage != "" && callProblem(s.Err) == problemServer:
		p = ProblemOf(stage, why)
	case s.Err != nil && s.State == sdk.Reconnecting:
		p = ProblemOf(problemAway, detailOf(s.Err))
	case s.Err != nil:
		p = ProblemOf(callProblem(s.Err), detailOf(s.Err))
	case s.MicErr != nil:
		p = ProblemOf(microphoneProblem(s.MicErr), detailOf(s.MicErr))
	case s.SoundBlocked:
		p = ProblemOf(problemBlocked, "")
	case s.State == sdk.Disconnected && refusal(s.Pipeline.Err) == problemKey:
		p = ProblemOf(problemKey, "")
	default:
		return nil
	}
	return &p
}

// brokenStage returns the problem of a stage that does not work, and what the server says of it: a stage that has failed, the stage that the
// server's error names, or that of the last line of the transcript that failed. It returns "" if all work.
func brokenStage(s sdk.Snapshot) (ProblemKind, string) {
	for _, c := range s.Pipeline.Components {
		if ComponentState(c.State) == ComponentFailed {
			return stageProblems[stageName(c.Stage)], c.Detail
		}
	}
	var told *sdk.ServerError
	if errors.As(s.Err, &told) {
		if stage, failed := strings.CutSuffix(told.Code, "_failed"); failed {
			return stageProblems[stageName(stage)], told.Error()
		}
	}
	for i := len(s.Transcript) - 1; i >= 0; i-- {
		if e := s.Transcript[i]; e.Role == sdk.User && e.Spoken {
			if e.Failed {
				return problemEars, ""
			}
			break
		}
	}
	return "", ""
}

// stageProblems has the problem of a stage that does not work, by the stage's name on the page.
var stageProblems = map[string]ProblemKind{"Recognition": problemEars, "Answers": problemModel, "Voice": problemVoice}

func callProblem(err error) ProblemKind {
	switch {
	case errors.Is(err, sdk.ErrRefused):
		return refusal(err)
	case errors.Is(err, sdk.ErrUnsupported):
		return problemUnsupported
	case errors.Is(err, sdk.ErrServerGone):
		return problemServerGone
	case errors.Is(err, sdk.ErrServerSilent):
		return problemSilent
	case errors.Is(err, sdk.ErrBegunAnew):
		return problemAnew
	default:
		return problemServer
	}
}

// refusal returns the kind of a server's refusal, or problemServer when it is
// none that a user can do something about.
func refusal(err error) ProblemKind {
	var refused *sdk.RefusedError
	if !errors.As(err, &refused) {
		return problemServer
	}
	switch refused.Status {
	case 401:
		return problemKey
	case 429, 503:
		return problemBusy
	default:
		return problemServer
	}
}

func microphoneProblem(err error) ProblemKind {
	switch {
	case errors.Is(err, sdk.ErrPermission):
		return problemPermission
	case errors.Is(err, sdk.ErrNoMicrophone):
		return problemNoMicrophone
	case errors.Is(err, sdk.ErrUnsupported):
		return problemInsecure
	default:
		return problemMicBusy
	}
}

// detailOf returns the message of the platform or the server. The page adds its
// own words to it.
func detailOf(err error) string {
	var refused *sdk.RefusedError
	var told *sdk.ServerError
	var e *sdk.Error
	switch {
	case errors.As(err, &refused):
		return refused.Message
	case errors.As(err, &told):
		return told.Error()
	case !errors.As(err, &e):
		return ""
	case e.Cause == nil:
		return e.Detail
	case e.Detail == "":
		return e.Cause.Error()
	default:
		return e.Detail + ": " + e.Cause.Error()
	}
}
