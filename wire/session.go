package wire

// This file has the session object.

// MaxTools limits the tools of a session or a response.
const MaxTools = 128

// Session is the session object: the configuration in force.
type Session struct {
	// Type is "realtime" or "transcription"; the latter is written with audio.input and include only.
	Type string
	// Object is "realtime.session".
	Object string
	ID     string
	Model  string
	// OutputModalities is ["audio"] or ["text"].
	OutputModalities []string
	Instructions     string
	MaxOutputTokens  MaxTokens
	Audio            SessionAudio
	Tools            []Tool
	// ToolChoice is "auto", "none" or "required" as a JSON string, or an object that names a tool.
	ToolChoice        Raw
	ParallelToolCalls bool
	// Tracing is nil, a JSON string "auto", or an object.
	Tracing Raw
	// Prompt is nil or an object.
	Prompt Raw
	// Include names further fields to send, such as "item.input_audio_transcription.logprobs"; nil for none.
	Include []string
	// Truncation is a JSON string "auto" or "disabled", or an object of type retention_ratio.
	Truncation Raw
	// ExpiresAt is in seconds since 1970.
	ExpiresAt int64
}

// SessionAudio is the audio object of a Session.
type SessionAudio struct {
	Input  AudioInput
	Output AudioOutput
}

// AudioInput configures the audio of the user.
type AudioInput struct {
	Format Format
	// Transcription is nil if the client wants no transcripts.
	Transcription *Transcription
	// NoiseReduction is nil for none.
	NoiseReduction *NoiseReduction
	// TurnDetection is nil if the client commits the turns itself.
	TurnDetection *TurnDetection
}

// AudioOutput configures the audio of the agent.
type AudioOutput struct {
	Format Format
	// Voice is the name or the id of the synthesis voice.
	Voice string
	// Speed is 0.25 to 1.5; 1 is the normal speed of the voice.
	Speed float64
}

// Audio formats of the protocol, for Format.Type.
const (
	FormatPCM  = "audio/pcm"  // 16 bit little endian, mono, 24000 Hz
	FormatPCMU = "audio/pcmu" // G.711 mu-law, 8000 Hz
	FormatPCMA = "audio/pcma" // G.711 A-law, 8000 Hz
)

// Format is an audio format. Rate is in Hz; only audio/pcm has it in the JSON.
type Format struct {
	Type string
	Rate int
}

// Transcription configures the transcription of the input; for empty fields the server decides.
type Transcription struct {
	Model    string
	Language string
	Prompt   string
}

// The kinds of noise reduction: for a microphone close to the mouth, and for one in the room.
const (
	NearField = "near_field"
	FarField  = "far_field"
)

// NoiseReduction is NearField or FarField.
type NoiseReduction struct {
	Type string
}

// Kinds of turn detection, for TurnDetection.Type.
const (
	ServerVAD   = "server_vad"
	SemanticVAD = "semantic_vad"
)

// TurnDetection configures when a turn begins and ends. The fields of one kind keep their values while Type is the other kind. The JSON has
// only the fields of Type; a missing field has its default.
type TurnDetection struct {
	Type string
	// Threshold is the probability of speech from 0 to 1 (server_vad).
	Threshold float64
	// PrefixPaddingMS is how much audio before the speech onset belongs to the turn, in milliseconds (server_vad).
	PrefixPaddingMS int
	// SilenceDurationMS is the length of the silence that ends the turn, in milliseconds (server_vad).
	SilenceDurationMS int
	// IdleTimeoutMS is how long nobody may speak, in milliseconds from the end of the playback, until the server asks the model to speak; nil for
	// no limit (server_vad).
	IdleTimeoutMS *int
	// CreateResponse says whether the end of a turn creates a response.
	CreateResponse bool
	// InterruptResponse says whether the beginning of a turn ends a live response.
	InterruptResponse bool
	// Eagerness is "low", "medium", "high" or "auto" (semantic_vad).
	Eagerness string
}

// Tool is a tool that the model may call.
type Tool struct {
	// Type is "function" or "mcp".
	Type        string
	Name        string
	Description string
	// Parameters is the JSON schema of the arguments of a function, nil if it has none.
	Parameters Raw
	// Config is the whole object of a tool that is not a function, nil for a function.
	Config Raw
	// Secret has the fields of Config that a server took out because nobody may see them: it is not written, and nothing keeps it. Secured says that there are some.
	Secret  Raw `json:"-"`
	Secured bool
}

// MaxTokens limits the tokens of a response: 1 to 4096, or 0 for no limit ("inf" in the JSON).
type MaxTokens struct {
	N int
}

// DefaultSession returns the defaults of the protocol: spoken answers, 24 kHz PCM in both directions, server_vad. The server sets ID, Model,
// Voice and ExpiresAt.
func DefaultSession() Session {
	td := defaultTurnDetection()
	pcm := Format{Type: FormatPCM, Rate: 24000}
	return Session{
		Type:             "realtime",
		Object:           "realtime.session",
		OutputModalities: []string{"audio"},
		Audio: SessionAudio{
			Input:  AudioInput{Format: pcm, TurnDetection: &td},
			Output: AudioOutput{Format: pcm, Speed: 1},
		},
		ToolChoice:        Raw(`"auto"`),
		ParallelToolCalls: true,
		Truncation:        Raw(`"auto"`),
	}
}

func defaultTurnDetection() TurnDetection {
	return TurnDetection{
		Type:              ServerVAD,
		Threshold:         0.5,
		PrefixPaddingMS:   300,
		SilenceDurationMS: 500,
		CreateResponse:    true,
		InterruptResponse: true,
		Eagerness:         "auto",
	}
}
