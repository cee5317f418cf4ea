package pipeline

// This file has the interface of the stage that writes the answers.

import (
	"context"
	"time"
)

// Model answers a conversation with text and tool calls. Its methods may be called by several goroutines at a time.
type Model interface {
	// Generate streams one answer to emit and returns at its end. It returns ctx.Err() when it is cancelled, the error of emit
	// when emit returns one (Generate then calls emit no more), ErrMaxTokens when it has cut the answer at MaxOutputTokens, and a
	// *StageError for every other failure. The Usage is valid with an error, too. Generate calls emit from one goroutine at a time.
	Generate(ctx context.Context, r Request, emit func(ModelEvent) error) (Usage, error)
}

// Request is all that a Model needs for one answer. The callee must not change it.
type Request struct {
	Model             string // which model; empty: the default of the adapter
	Instructions      string
	Messages          []Message // the conversation, oldest first
	Tools             []Tool
	ToolChoice        string // "auto" (or empty), "none", "required", or the name of the tool that must be called
	MaxOutputTokens   int    // 0: no limit
	ParallelToolCalls bool   // the answer may contain several tool calls
	Spoken            bool   // the answer will be spoken
	// TimeZone is the user's time zone; nil if the client does not say it. Language is the language in which the session transcribes
	// the user, as in ISO 639-1; empty if the client does not say it.
	TimeZone *time.Location
	Language string
}

// Roles of a Message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
)

// Message is one entry of the conversation: a text, a tool call (by the assistant) or a tool's result.
type Message struct {
	Role   string
	Text   string
	Images []Image     // pictures that the user sends with the text; a model that cannot see answers NoVisionReply
	Audio  *Audio      // not nil: the user's speech, of which Text has the transcript; only an AudioModel gets it
	Call   *ToolCall   // not nil: the assistant called a tool
	Result *ToolResult // not nil: the message is the result of a tool
	// Interrupted: the user interrupted this answer of the assistant, and Text is the part of it that the user heard, or read if the answer is in text.
	Interrupted bool
}

// Image is a picture in a message.
type Image struct {
	MIME   string // "image/png" or "image/jpeg"
	Data   []byte // the content of the file; the callee must not change it
	Detail string // "low", "high" or "auto"
}

// Audio is the user's speech in a message.
type Audio struct {
	PCM []int16 // mono at AudioRate; the callee must not change it
	// Rest is the text that the user has written in this message: its Text without the transcript of the audio. It is mostly empty.
	Rest string
}

// AudioRate is the sample rate of Audio in Hz.
const AudioRate = 24000

// AudioModel is a Model that may hear the user. If it hears, the newest message of the user has Audio in each request, unless the speech is
// longer than half a minute. In older messages it finds the transcripts.
type AudioModel interface {
	// HearsAudio reports whether the model hears. The server asks once, at the beginning of a session. It does not block.
	HearsAudio() bool
}

// NoVisionReply is the answer of a model that cannot see to a message with images.
const NoVisionReply = "I cannot see images."

// TokenCounter is a Model that counts its own tokens. For a Model without it the server estimates: one token for four bytes of
// text, and a context window of DefaultContextWindow.
type TokenCounter interface {
	// CountTokens returns the number of tokens of a text. It does not block.
	CountTokens(text string) int
	// ContextWindow returns how many tokens a request and its answer may have together.
	ContextWindow() int
}

// DefaultContextWindow is the context window, in tokens, of a Model that is no TokenCounter.
const DefaultContextWindow = 32_768

// Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  []byte // JSON schema of an object; empty: no parameters
}

// ToolCall is one call of a tool by the model. Arguments is a JSON object.
type ToolCall struct{ ID, Name, Arguments string }

// ToolResult is the output of the ToolCall whose ID is CallID.
type ToolResult struct{ CallID, Output string }

// ModelEvent is one piece of an answer: Thinking, TextDelta, ToolCallDelta or ToolCallDone.
//
//sumtype:decl
type ModelEvent interface{ modelEvent() }

// Thinking says that the model works on its answer and has no text yet. It may come again, to show that the work goes on; it does not come
// after the first text or tool call.
type Thinking struct {
	Loading bool // the model is still loading, and does not think yet
}

// TextDelta is the next piece of the text of an answer.
type TextDelta struct{ Text string }

// ToolCallDelta is the next piece of the arguments of a tool call. The first ToolCallDelta with an index announces the tool call.
// Each one has the name.
type ToolCallDelta struct {
	Index     int // 0 for the first tool call of the answer
	Name      string
	Arguments string // only the new piece
}

// ToolCallDone ends a tool call. It has the whole arguments. A ToolCallDone may come without a ToolCallDelta before it.
type ToolCallDone struct {
	Index     int
	Name      string
	Arguments string // a JSON object
}

func (Thinking) modelEvent()      {}
func (TextDelta) modelEvent()     {}
func (ToolCallDelta) modelEvent() {}
func (ToolCallDone) modelEvent()  {}

// Usage is the number of tokens of one answer. An adapter without tokens counts words, and its documentation says so.
type Usage struct{ InputTokens, OutputTokens int }
