package web

// The Snapshot, from which the page is rendered.

import "slices"

// Phase is the state of the call that the page shows.
// Its text is the value of data-state on #state and #page.
type Phase string

// The phases of a call.
const (
	PhaseLoading      Phase = "loading"      // the client program is still on its way
	PhaseIdle         Phase = "idle"         // no call
	PhaseConnecting   Phase = "connecting"   // the call is being set up
	PhaseListening    Phase = "listening"    // the agent waits for words
	PhaseHearing      Phase = "hearing"      // the user speaks
	PhaseThinking     Phase = "thinking"     // an answer is on its way
	PhaseSpeaking     Phase = "speaking"     // the agent speaks
	PhaseInterrupted  Phase = "interrupted"  // the agent was cut short a moment ago
	PhaseReconnecting Phase = "reconnecting" // the connection is lost and may come back
	PhaseError        Phase = "error"        // the call ended with a problem
)

// InCall reports whether the phase belongs to a call that can be ended.
func (p Phase) InCall() bool {
	switch p {
	case PhaseConnecting, PhaseListening, PhaseHearing, PhaseThinking,
		PhaseSpeaking, PhaseInterrupted, PhaseReconnecting:
		return true
	case PhaseLoading, PhaseIdle, PhaseError:
		return false
	}
	return false
}

// Role says who a line of the conversation belongs to. Its text is the value
// of data-role on the line.
type Role string

// The roles of a line.
const (
	RoleUser  Role = "user"
	RoleAgent Role = "assistant"
	RoleTool  Role = "tool"
)

// Line is one line of the conversation.
type Line struct {
	ID          string // the item's id; unique in the conversation
	Role        Role
	Text        string // of a line of the agent only the words that were heard
	Coming      string // the next words of the agent, which are not heard yet; at most maxComing bytes of them
	Live        bool   // still being spoken or recognised
	Interrupted bool   // cut short; the words after Text were not heard
	Failed      bool   // the words could not be recognised or the answer failed
	Note        string // a remark beside the text, such as why there are no words
}

// ComponentState is the state of one part of the pipeline. Its text is the
// value of data-state on the part's list item.
type ComponentState string

// The states of a part.
const (
	ComponentReady   ComponentState = "ready"
	ComponentLoading ComponentState = "loading"
	ComponentMissing ComponentState = "missing"
	ComponentFailed  ComponentState = "failed"
)

// Component is one part of the server's voice pipeline.
type Component struct {
	Stage   string // the stage of the pipeline: "transcription", …
	Name    string // the engine: "sherpa", …
	State   ComponentState
	Detail  string // a sentence for the user; may be empty
	Install string // the command that gets it; empty when nothing is missing
}

// Pipeline has the parts of the server's pipeline, in the order in which they
// process speech.
type Pipeline struct {
	Name        string
	Components  []Component
	Unreachable bool // the last request got no answer
	Keyed       bool // the server tells it only with a key
}

// incomplete returns the stage of a part that is missing or has failed: that of the model, or else the first one; "" for none.
func (p Pipeline) incomplete() (stage string) {
	for _, c := range p.Components {
		if (c.State == ComponentMissing || c.State == ComponentFailed) && (stage == "" || stageName(c.Stage) == "Answers") {
			stage = c.Stage
		}
	}
	return stage
}

// builtIn reports whether the assistant of the server answers, and no language model.
func (p Pipeline) builtIn() bool {
	return slices.ContainsFunc(p.Components, func(c Component) bool { return stageName(c.Stage) == "Answers" && c.Name == "assistant" })
}

// Device is a microphone or a loudspeaker that the browser offers.
type Device struct {
	ID    string // the browser's deviceId
	Label string // empty until the user has allowed the microphone
}

// Devices are the choices of sound equipment.
type Devices struct {
	Microphones []Device
	Speakers    []Device // empty where the browser cannot choose one
	Microphone  string   // id of the chosen one; empty means the browser's default
	Speaker     string
}

// Snapshot is everything that the page shows, at one moment. Its maker
// does not change it or anything that it refers to afterwards.
type Snapshot struct {
	Phase    Phase
	Muted    bool
	Progress string // what the model does before its first word, while Phase is PhaseThinking: "loading", "thinking", or nothing
	MicAsked bool   // the browser may be asking for the microphone
	TextOnly bool   // the call has no microphone
	ByHand   bool   // the user holds a button to talk
	Caption  string // what the user is saying, as far as it is understood
	Lines    []Line
	Trimmed  bool      // older lines have left the conversation
	Runs     []RunInfo // work in the background, the newest first
	Pipeline Pipeline
	Devices  Devices
	Latency  Latency  // the latency of the last answer; the zero value shows nothing
	Inside   Inside   // the inner state for the inspector
	Problem  *Problem // what went wrong and what to do; nil when nothing did
}

// MaxLines is how many lines the page keeps on show; older ones leave it.
const MaxLines = 200

// visibleLines returns the newest lines, at most MaxLines of them.
func (s Snapshot) visibleLines() []Line {
	if len(s.Lines) <= MaxLines {
		return s.Lines
	}
	return s.Lines[len(s.Lines)-MaxLines:]
}
