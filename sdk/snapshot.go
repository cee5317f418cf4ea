package sdk

// What a page shows: the snapshot of a session and its parts.

import "time"

// State is what the session is doing, from the point of view of the user.
type State uint8

// The states.
const (
	// Disconnected: no call; none was made yet, or it was closed.
	Disconnected State = iota
	// Connecting: a call is being placed.
	Connecting
	// Listening: the server waits for the user to speak or write. With Snapshot.TextOnly it waits for text.
	Listening
	// UserSpeaking: the user speaks. The last entry of the user is a live caption.
	UserSpeaking
	// Thinking: the user has finished. The agent is making an answer that is not heard yet, or is writing an answer in text.
	Thinking
	// AgentSpeaking: the agent is heard. The state ends when the playback has ended or was cleared, not when the audio is complete.
	AgentSpeaking
	// Reconnecting: the connection is lost, perhaps for a moment. The session brings it back, or the call becomes Failed.
	// Snapshot.Err says why the connection is lost.
	Reconnecting
	// Failed: the call ended by itself; Snapshot.Err says why and what to do.
	Failed
)

// String gives the state's name in lower-case words, such as "agent speaking".
func (s State) String() string {
	switch s {
	case Disconnected:
		return "disconnected"
	case Connecting:
		return "connecting"
	case Listening:
		return "listening"
	case UserSpeaking:
		return "user speaking"
	case Thinking:
		return "thinking"
	case AgentSpeaking:
		return "agent speaking"
	case Reconnecting:
		return "reconnecting"
	case Failed:
		return "failed"
	}
	return "unknown"
}

// OnCall reports whether there is a call that messages can be sent on.
func (s State) OnCall() bool {
	switch s {
	case Listening, UserSpeaking, Thinking, AgentSpeaking:
		return true
	case Disconnected, Connecting, Reconnecting, Failed:
		return false
	}
	return false
}

// Role says whose an entry is.
type Role uint8

// The roles.
const (
	// User: what the user said or wrote.
	User Role = iota
	// Agent: what the agent said or wrote.
	Agent
	// ToolUse: a function that the agent called; see Entry.ToolCall.
	ToolUse
)

// String gives "user", "agent" or "tool".
func (r Role) String() string {
	switch r {
	case User:
		return "user"
	case Agent:
		return "agent"
	case ToolUse:
		return "tool"
	}
	return "unknown"
}

// Entry is one line of the transcript.
type Entry struct {
	// ItemID is the protocol's item id; a turn keeps one from its onset to its end. Unique in a transcript.
	ItemID string
	// Role says whose it is.
	Role Role
	// Text is the text to show. Of an interrupted response it has only the words that the user heard.
	Text string
	// Heard is how many bytes of Text the user has heard, with the word that they hear now: Text[:Heard] was heard, the rest is still to come. It
	// moves with the voice, and goes back if the agent repeats itself. It is all of Text except for a response that is being
	// said, or was when the call ended, and only an Antiphon server says so much of one.
	Heard int
	// Spoken: it is speech, not written text.
	Spoken bool
	// Live: it may still change: a caption while the user speaks, a response that is still arriving, a message that the
	// server has not taken yet. A live user entry may be empty.
	Live bool
	// Interrupted: the response was cut short. Text ends where the user stopped hearing it.
	Interrupted bool
	// HeardMS is how much of an interrupted spoken response the user heard, in milliseconds; -1 where nobody has measured it.
	HeardMS int
	// Image: the message has a picture.
	Image bool
	// Failed: the words could not be recognised, the message was not taken, or the answer failed. Note says why.
	Failed bool
	// Note is a short remark to show with the text, such as why there are no words. May be empty.
	Note string
	// ToolCall is the function call of a ToolUse entry, otherwise nil.
	ToolCall *ToolCall
}

// ToolCall is a function that the agent called.
type ToolCall struct {
	// ID is the protocol's call_id, or the id of the item if the server runs the tool.
	ID string
	// Name and Arguments (JSON) are as the agent gave them.
	Name, Arguments string
	// Output is what the tool answered. Empty until Done.
	Output string
	// Done: the answer is there.
	Done bool
	// Failed: the tool answered with an error, which Output holds.
	Failed bool
}

// Levels are how loud both sides are, for meters: 0 is silence (-60 dBFS or less), 1 is full scale, linear in decibels.
type Levels struct {
	Mic, Agent float32
}

// Device is a microphone or a loudspeaker.
type Device struct {
	// ID selects it in Session.SetMicrophone and Session.SetSpeaker. Empty is the system's default.
	ID string
	// Label is its name; empty until the user has allowed a microphone.
	Label string
}

// Devices are what the user can choose from. Not to be changed.
type Devices struct {
	Microphones []Device
	// Speakers is empty where the platform cannot choose one.
	Speakers []Device
}

// Component is one part of the server's voice pipeline.
type Component struct {
	// Stage is its stage of the pipeline, such as "transcription"; Name is the engine.
	Stage, Name string
	// State is "ready", "loading", "missing" or "failed".
	State string
	// Detail says more about the state, in words. May be empty.
	Detail string
	// Install is the command that gets a missing one. May be empty.
	Install string
}

// Pipeline is the server's voice pipeline.
type Pipeline struct {
	// Known: the server was asked and has answered.
	Known bool
	// Name is the pipeline's name, such as "embedded".
	Name string
	// Components are its parts, in the order in which they process speech. Not to be changed.
	Components []Component
	// Err is why the last request for the pipeline failed; nil when it did not. A server without Antiphon's extensions refuses it.
	Err error
}

// Never is the value of a time that has not come.
const Never time.Duration = -1

// TurnMetrics is the measurement of one turn, all from the end of the user's speech (or the sending of a message).
// What did not happen, or is not known, is Never.
type TurnMetrics struct {
	// ItemID and ResponseID name the user's item and the response to it.
	ItemID, ResponseID string
	// FirstText, FirstSound and PlaybackEnd are the client's own measurement, from the arrival of the event that ends
	// the user's speech: the first text of the answer, the start of its playback, the end of its playback.
	FirstText, FirstSound, PlaybackEnd time.Duration
	// Server is the server's own measurement, from the true end of speech; see its fields. Nil when the server gave none.
	Server *ServerTurnMetrics
}

// ServerTurnMetrics is the server's measurement of one turn. What did not happen is Never.
type ServerTurnMetrics struct {
	// SpeechStopped is when the end of speech was decided, Commit when the turn was committed, Transcript when its words
	// were known, FirstToken when the model began, FirstAudio when synthesis began, FirstPacket when the first packet of
	// the answer was sent, PlaybackEnd when the last one was.
	SpeechStopped, Commit, Transcript, FirstToken, FirstAudio, FirstPacket, PlaybackEnd time.Duration
}

// AudioState is the microphone, the loudspeaker and the volume.
type AudioState struct {
	// Muted: the microphone is closed by the user.
	Muted bool
	// MicAsked: the user may be looking at the browser's question for the microphone.
	MicAsked bool
	// TextOnly: the call has no microphone, because it was asked for without or because of MicErr.
	TextOnly bool
	// MicErr is why there is no microphone, or why the last change of it failed. Nil when nothing failed.
	MicErr error
	// SoundBlocked: the browser wants a gesture before it plays. Call Session.ResumeSound from a click's handler.
	SoundBlocked bool
	// Microphone and Speaker are the ids of the devices in use; empty for the system's default.
	Microphone, Speaker string
	// Volume is how loud the agent is, from 0 to 1.
	Volume float32
	// Devices are the devices that the platform has listed last.
	Devices Devices
}

// Snapshot is all that a page needs to know at one moment. It never changes; its slices and pointers are shared between
// snapshots and must not be written to.
type Snapshot struct {
	// Seq grows by at least one from one snapshot to a later one.
	Seq uint64
	// State is the predicted state: what the server has said, and what it will say about the inputs of this client. Confirmed is the
	// confirmed state: what the server has said. Predicted: the two differ.
	State, Confirmed State
	Predicted        bool
	// Interrupting: the user may be interrupting the agent. The client ducks it until the server has decided.
	Interrupting bool
	// Interruptions says how well this call has predicted interruptions.
	Interruptions Interruptions
	// Machines says whether the server's state machines are the client's. A page may warn of MachinesDiffer.
	Machines MachinesMatch
	// Progress is what the server's model does before its first word, while State is Thinking: "loading", "thinking", or nothing if the server
	// has not said.
	Progress string
	// SessionID and Model are the server's; empty until it has said.
	SessionID, Model string
	// Transcript is the conversation in its order, oldest first, the last Limits.Entries of it.
	Transcript []Entry
	// Trimmed is how many older entries were removed.
	Trimmed int
	// Runs is the work in the background that the agent has begun in this call, the newest first, at most 32.
	Runs []Run
	// AudioState is the state of the devices. Its fields can be read as fields of the snapshot.
	AudioState
	// Pipeline is the server's pipeline, as far as it was asked.
	Pipeline Pipeline
	// LastTurn has the times of the last turn whose answer has begun. Its fields get their values as the times come. Nil before the
	// first.
	LastTurn *TurnMetrics
	// Err is the last error: in Failed why the call ended, otherwise an error that the call survived. The next call, the next answer
	// and Session.DismissError clear it.
	Err error
}
