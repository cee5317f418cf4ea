package sdk

import "time"

// State is what the session is doing, as a person would say it.
type State uint8

// The states. Exhaustively:
const (
	// Disconnected: no call; none was made yet, or it was closed.
	Disconnected State = iota
	// Connecting: a call is being placed.
	Connecting
	// Listening: the server waits for the person to speak or write. With Snapshot.TextOnly it waits for text.
	Listening
	// UserSpeaking: the person speaks; the last entry of the person's is a live caption.
	UserSpeaking
	// Thinking: the person has finished and an answer is being made, but is not heard yet; or an answer in text is
	// being written.
	Thinking
	// AgentSpeaking: the agent is heard. Ends when its playback has ended or was cleared, not when its audio was made.
	AgentSpeaking
	// Reconnecting: the link is lost, perhaps for a moment. It is brought back, or the call becomes Failed; Snapshot.Err says what
	// stands in the way.
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

// The roles. Exhaustively:
const (
	// User: what the person said or wrote.
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
	// Text is what to show. Of an interrupted reply it is what was heard and no more.
	Text string
	// Spoken: it was or is being said, not written.
	Spoken bool
	// Live: it may still change: a caption while the person speaks, a reply that is still arriving, a message that the
	// server has not taken yet. A live user entry may be empty.
	Live bool
	// Interrupted: the reply was cut short. Text is as far as it was heard.
	Interrupted bool
	// HeardMS is how much of an interrupted spoken reply was heard, in milliseconds; -1 where nobody has measured it.
	HeardMS int
	// Image: the message has a picture.
	Image bool
	// Failed: the words could not be recognised, the message was not taken, or the answer failed. Note says why.
	Failed bool
	// Note is a short remark to show beside the text, such as why there are no words. May be empty.
	Note string
	// ToolCall is the function call of a ToolUse entry, otherwise nil.
	ToolCall *ToolCall
}

// ToolCall is a function that the agent called.
type ToolCall struct {
	// ID is the protocol's call_id.
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
	// Label is its name; empty until the person has allowed a microphone.
	Label string
}

// Devices are what the person can choose from. Not to be changed.
type Devices struct {
	Microphones []Device
	// Speakers is empty where the platform cannot choose one.
	Speakers []Device
}

// Component is one part of the server's voice pipeline.
type Component struct {
	// Stage is what it does, such as "transcription"; Name is what does it.
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
	// Components are its parts in the order of the way of a voice through them. Not to be changed.
	Components []Component
	// Err is why the last question got no answer. Nil when it got one. A server that is no Antiphon refuses.
	Err error
}

// Never is the value of a time that has not come.
const Never time.Duration = -1

// TurnMetrics is the measurement of one turn, all from the end of the person's speech (or the sending of a message).
// What did not happen, or is not known, is Never.
type TurnMetrics struct {
	// ItemID and ResponseID name the user's item and the response to it.
	ItemID, ResponseID string
	// FirstText, FirstSound and PlaybackEnd are the client's own measurement, from the arrival of the event that ends
	// the person's speech: the first text of the answer, the start of its playback, the end of its playback.
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
	// Muted: the microphone is closed by the person.
	Muted bool
	// MicAsked: the person may be looking at the browser's question for the microphone.
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
	// Devices are those there are, as last told.
	Devices Devices
}

// Snapshot is all that a page needs to know at one moment. It never changes; its slices and pointers are shared between
// snapshots and must not be written to.
type Snapshot struct {
	// Seq grows by at least one from one snapshot to a later one.
	Seq uint64
	// State is what the session is doing, as the client believes: what the server has said, and what it will say to what
	// was done here since. Confirmed is what it has said. Predicted: they differ.
	State, Confirmed State
	Predicted        bool
	// Interrupting: somebody may be interrupting the agent. Its sound is lowered until the server has decided.
	Interrupting bool
	// Interruptions are how well that was predicted in this call.
	Interruptions Interruptions
	// Machines says whether the server's state machines are the client's. A page may warn of MachinesDiffer.
	Machines MachinesMatch
	// SessionID and Model are the server's; empty until it has said.
	SessionID, Model string
	// Transcript is the conversation in its order, oldest first, the last Limits.Entries of it.
	Transcript []Entry
	// Trimmed is how many older entries were let go.
	Trimmed int
	// AudioState is what is known of the devices; its fields are read as the snapshot's own.
	AudioState
	// Pipeline is the server's, as last told.
	Pipeline Pipeline
	// LastTurn measures the last turn whose answer has begun; its fields fill in as they come. Nil before the first.
	LastTurn *TurnMetrics
	// Err is what went wrong last: in Failed why the call ended, otherwise something that the call survived. It goes away
	// with the next call, the next answer, or Session.DismissError.
	Err error
}
