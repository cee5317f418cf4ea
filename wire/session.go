package wire

// MaxTools is the largest number of tools that a session or a response takes from a client.
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

// AudioInput configures what the user says.
type AudioInput struct {
	Format Format
	// Transcription is nil when the input is not to be transcribed.
	Transcription *Transcription
	// NoiseReduction is nil when there is none.
	NoiseReduction *NoiseReduction
	// TurnDetection is nil when the client commits by itself.
	TurnDetection *TurnDetection
}

// AudioOutput configures what the user hears.
type AudioOutput struct {
	Format Format
	// Voice is the name or the id of the voice.
	Voice string
	// Speed is 0.25 to 1.5, 1 being the voice's own.
	Speed float64
}

// Audio formats of the protocol, for Format.Type.
const (
	FormatPCM  = "audio/pcm"  // 16 bit little endian, mono, 24000 Hz
	FormatPCMU = "audio/pcmu" // G.711 mu-law, 8000 Hz
	FormatPCMA = "audio/pcma" // G.711 A-law, 8000 Hz
)

// Format is an audio format. Rate is in Hz; on the wire only audio/pcm has it.
type Format struct {
	Type string
	Rate int
}

// Transcription configures the transcription of the input; empty fields leave it to the server.
type Transcription struct {
	Model    string
	Language string
	Prompt   string
}

// NoiseReduction is "near_field" or "far_field".
type NoiseReduction struct {
	Type string
}

// Kinds of turn detection, for TurnDetection.Type.
const (
	ServerVAD   = "server_vad"
	SemanticVAD = "semantic_vad"
)

// TurnDetection configures when a turn begins and ends. Both kinds' fields keep their value while the other kind is in force; on the
// wire stand those of Type, and what is missing there has its default.
type TurnDetection struct {
	Type string
	// Threshold is the probability of speech from 0 to 1 (server_vad).
	Threshold float64
	// PrefixPaddingMS is how much audio before the onset belongs to the turn (server_vad).
	PrefixPaddingMS int
	// SilenceDurationMS is how long a silence ends the turn (server_vad).
	SilenceDurationMS int
	// IdleTimeoutMS is after how long without speech the model speaks, counted from the end of the playback; nil for never (server_vad).
	IdleTimeoutMS *int
	// CreateResponse says whether a turn's end creates a response.
	CreateResponse bool
	// InterruptResponse says whether a turn's begin ends a live response.
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
	// Parameters is the JSON schema of a function's arguments, nil when it has none.
	Parameters Raw
	// Config is the whole object of a tool that is not a function, nil for a function.
	Config Raw
}

// MaxTokens limits the tokens of a response: 1 to 4096, or 0 for no limit ("inf" on the wire).
type MaxTokens struct {
	N int
}

// DefaultSession returns the protocol's defaults: spoken answers, 24 kHz PCM both ways, server_vad. ID, Model, Voice and ExpiresAt are the
// server's to fill in.
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
