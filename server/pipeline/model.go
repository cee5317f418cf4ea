package pipeline

import "context"

// Model answers a conversation with text and tool calls.
type Model interface {
	// Generate streams one answer to emit and returns when it is complete. It returns ctx.Err() on cancel, emit's error when
	// emit gives one (nothing is emitted after that), ErrMaxTokens when the answer was cut at MaxOutputTokens, and a
	// *StageError for what else goes wrong. The usage is right in every case. emit is called from one goroutine at a time.
	Generate(ctx context.Context, r Request, emit func(ModelEvent) error) (Usage, error)
}

// Request is everything a Model needs for one answer: an immutable snapshot that the callee must not change.
type Request struct {
	Model             string // which model; empty: the adapter's own
	Instructions      string
	Messages          []Message // the conversation, oldest first
	Tools             []Tool
	ToolChoice        string // "auto" (or empty), "none", "required", or the name of the tool that must be called
	MaxOutputTokens   int    // 0: no limit
	ParallelToolCalls bool   // several tool calls in one answer are welcome
	Spoken            bool   // the answer will be spoken
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
	Images []Image     // what the user shows beside the text; a model that cannot see says so
	Call   *ToolCall   // not nil: the assistant called a tool
	Result *ToolResult // not nil: this is what the tool said
}

// Image is a picture of a message.
type Image struct {
	MIME   string // "image/png" or "image/jpeg"
	Data   []byte // the file; not to be changed
	Detail string // "low", "high" or "auto"
}

// NoVisionReply is what a model that cannot see answers to images.
const NoVisionReply = "I cannot see images."

// TokenCounter is a Model that knows its tokens. Those of a Model that is none are estimated: four bytes of text each, and a
// window of DefaultContextWindow.
type TokenCounter interface {
	// CountTokens is how many tokens a text has. It does not block.
	CountTokens(text string) int
	// ContextWindow is how many tokens a request and its answer may have together.
	ContextWindow() int
}

// DefaultContextWindow is the window of a model that does not say.
const DefaultContextWindow = 32_768

// Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  []byte // JSON schema of an object; empty: no parameters
}

// ToolCall is a call that was made. Arguments is a JSON object.
type ToolCall struct{ ID, Name, Arguments string }

// ToolResult answers the ToolCall with the ID CallID.
type ToolResult struct{ CallID, Output string }

// ModelEvent is one thing that a Model says.
//
//sumtype:decl
type ModelEvent interface{ modelEvent() }

// TextDelta is the next piece of the answer's text.
type TextDelta struct{ Text string }

// ToolCallDelta is the next piece of a tool call's arguments. The first delta of an index announces the call; every one carries
// the name.
type ToolCallDelta struct {
	Index     int // 0 for the first call of this answer
	Name      string
	Arguments string // only what is new
}

// ToolCallDone ends a tool call with its whole arguments. A call may come without deltas.
type ToolCallDone struct {
	Index     int
	Name      string
	Arguments string // a JSON object
}

func (TextDelta) modelEvent()     {}
func (ToolCallDelta) modelEvent() {}
func (ToolCallDone) modelEvent()  {}

// Usage counts tokens. An adapter that has no tokens counts words, and says so.
type Usage struct{ InputTokens, OutputTokens int }
