package sdk

// What the application chooses: options, tools, and the limits of a session.

import (
	"cmp"
	"context"
	"math"
	"time"
)

// Options are the options of New. New copies them; later changes have no effect.
type Options struct {
	// Dialer places the calls. Required.
	Dialer Dialer
	// Clock measures and waits. Nil is the machine's own.
	Clock Clock
	// Go runs f beside its caller and returns at once. Nil starts a goroutine.
	Go func(f func())
	// Random gives a number from 0 to n-1, for the pauses between two attempts to reconnect. Only jobs call it, one at a time. Nil
	// is the machine's own.
	Random func(n int64) int64

	// Model is asked for when the call is placed. Empty is the server's default.
	Model string
	// Instructions are the agent's. Empty leaves the server's.
	Instructions string
	// Voice names the agent's voice. Empty leaves the server's.
	Voice string
	// Language is a hint for the recogniser, such as "en". May be empty.
	Language string
	// TextReplies asks for answers in text, which are not spoken.
	TextReplies bool
	// TurnDetection says when the user's turn ends. Nil leaves the server's.
	TurnDetection *TurnDetection
	// Tools are the functions that the agent may call; at most 128, each name once.
	Tools []Tool

	// Microphone and Speaker are the ids of the devices to begin with. Empty is the system's default.
	Microphone, Speaker string
	// Muted begins with a closed microphone.
	Muted bool
	// NoMicrophone places the call for text alone: the agent is heard, the user writes.
	NoMicrophone bool

	// NoPrediction turns prediction off: the client does not duck the agent before the server has decided, and Snapshot.State is the
	// confirmed state.
	NoPrediction bool

	// TakeBack asks the server to take the end of the user's turn back if the user goes on within a second: then both parts are one entry of the
	// transcript with one answer, and what the agent has begun to say is removed. A call of a tool waits for that second.
	TakeBack bool

	// DuckBy is by how many decibels the agent is softer while the user may be interrupting it: from 1 to 60, or 0 for 20.
	DuckBy float64

	// Limits bound what the session keeps and how long it waits; zero fields take the defaults.
	Limits Limits
	// Log gets one line for each change of State and for each event that is dropped. It must not block. May be nil.
	Log func(line string)
}

// check returns what New refuses, without the tools.
func (o *Options) check() error {
	if o.Dialer == nil {
		return &Error{Kind: ErrInvalid, Detail: "Options.Dialer is nil"}
	}
	return checkDuckBy(o.DuckBy)
}

func checkDuckBy(decibels float64) error {
	if decibels != 0 && !(decibels >= 1 && decibels <= 60) { // also refuses NaN
		return &Error{Kind: ErrInvalid, Detail: "the agent is ducked by 1 to 60 dB: leave DuckBy out for 20"}
	}
	return nil
}

// duckedGain returns the gain of the agent while the user may be interrupting it.
func (o *Options) duckedGain() float32 {
	return float32(math.Pow(10, -cmp.Or(o.DuckBy, 20)/20))
}

// TurnDetection says when the user's turn ends. Zero numbers leave the server's.
type TurnDetection struct {
	// Manual leaves it to the application: the server detects no turn. The other fields are ignored then.
	Manual bool
	// Semantic lets the words decide instead of the silence alone.
	Semantic bool
	// Eagerness is for Semantic: "low", "medium", "high" or "auto". May be empty.
	Eagerness string
	// Threshold of the speech detector, above 0 up to 1.
	Threshold float64
	// Silence ends a turn; PrefixPadding is kept from before its onset. In whole milliseconds.
	Silence, PrefixPadding time.Duration
	// NoInterrupt: speech does not interrupt the agent.
	NoInterrupt bool
}

// Tool is a function of the application that the agent may call.
type Tool struct {
	// Name is what the agent calls it: 1 to 64 of letters, digits, _ and -.
	Name string
	// Description tells the agent when to call it.
	Description string
	// Parameters is a JSON schema of type object. Nil means no parameters.
	Parameters []byte
	// Run answers one call; arguments is JSON. It runs in its own goroutine, once for each call_id, and must return when
	// ctx ends, which it does with the call or after Limits.ToolTime. The agent gets an error as text, so that it
	// can say what went wrong.
	Run func(ctx context.Context, arguments string) (output string, err error)
}

// Limits bound a session. Zero fields take the value in parentheses.
type Limits struct {
	// Entries of the transcript that are kept (500), and bytes of text in one (65536).
	Entries, EntryBytes int
	// ImageBytes bounds a picture as a data URL (200000): an event over WebRTC has at most 256 KiB.
	ImageBytes int
	// Queue is how many jobs may wait (1024): beyond it the call ends with ErrOverrun.
	Queue int
	// ToolTime is how long a tool may run (30 s), ToolBytes how long its answer may be (65536).
	ToolTime  time.Duration
	ToolBytes int
	// ToolsAtOnce is how many tools may run at a time (16); others wait.
	ToolsAtOnce int
	// Connect is how long the server may take to create its session (20 s).
	Connect time.Duration
	// Lost is how long a lost connection may take to come back (30 s).
	Lost time.Duration
	// Commit is how long the server may take from the end of speech to the commit of the turn (5 s). After that the turn counts as
	// dropped.
	Commit time.Duration
	// AnswerStart is how long the server may take from the end of a turn to the start of an answer (15 s). After that the session
	// listens again.
	AnswerStart time.Duration
	// AnswerSilence is how long an unfinished answer may bring no event and no sound (60 s). After that the session listens again, and
	// Snapshot.Err is ErrServerSilent.
	AnswerSilence time.Duration
	// Acknowledge is how long the server may take to do what the client asked for (5 s), such as to end an answer. After that the
	// session shows the confirmed state again.
	Acknowledge time.Duration
	// TurnSilence is how long the server may take the user to be speaking without an event of it and without sound from the
	// microphone (15 s).
	TurnSilence time.Duration
	// SoundSilence is how long a complete response may be silent (5 s). After that it counts as played even if the server does not
	// say so.
	SoundSilence time.Duration
	// Unmeasured takes the place of the last two where nobody measures levels, and so nobody can tell silence from sound (6 minutes).
	Unmeasured time.Duration
	// Retrieve is how long the server may take to say which words of an interrupted response were heard (3 s).
	Retrieve time.Duration
}

func (l Limits) withDefaults() Limits {
	count := func(p *int, d int) {
		if *p <= 0 {
			*p = d
		}
	}
	wait := func(p *time.Duration, d time.Duration) {
		if *p <= 0 {
			*p = d
		}
	}
	count(&l.Entries, 500)
	count(&l.EntryBytes, 65536)
	count(&l.ImageBytes, 200_000)
	count(&l.Queue, 1024)
	count(&l.ToolBytes, 65536)
	count(&l.ToolsAtOnce, 16)
	wait(&l.ToolTime, 30*time.Second)
	wait(&l.Connect, 20*time.Second)
	wait(&l.Lost, 30*time.Second)
	wait(&l.Commit, 5*time.Second)
	wait(&l.AnswerStart, 15*time.Second)
	wait(&l.AnswerSilence, 60*time.Second)
	wait(&l.Acknowledge, 5*time.Second)
	wait(&l.TurnSilence, 15*time.Second)
	wait(&l.SoundSilence, 5*time.Second)
	wait(&l.Unmeasured, 6*time.Minute)
	wait(&l.Retrieve, 3*time.Second)
	return l
}

// Patch changes a session in the middle of a call. Nil fields stay as they are. An empty Voice is the server's own, from the next call on.
type Patch struct {
	Instructions, Voice, Language *string
	// NoiseReduction is "near_field" for a microphone near the mouth, "far_field" for one in the room, or empty for none.
	NoiseReduction *string
	// DuckBy is Options.DuckBy. The server does not learn of it.
	DuckBy        *float64
	TurnDetection *TurnDetection
	// TextReplies asks for written (true) or spoken (false) answers.
	TextReplies *bool
	// Tools replaces all tools. Tools that are running still answer.
	Tools *[]Tool
}
