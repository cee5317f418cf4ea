package stt

// The settings of a Transcriber, and the forms of the servers.

import (
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend/growing"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Response formats of a server.
const (
	FormatJSON    = "json"         // the text alone
	FormatVerbose = "verbose_json" // also segments with no_speech_prob, and words, where the server has them
)

// DefaultNoSpeech is the no_speech_prob above which a segment is dropped: the threshold of Whisper itself.
const DefaultNoSpeech = 0.6

// Form is the form of a server's interface.
type Form struct {
	name   string // for users
	path   string // of the endpoint, behind the address of the server
	format string // the response format where the settings have none
	stream bool   // the server may stream the text
}

// The forms.
var (
	// OpenAI is `/v1/audio/transcriptions`. The address of the server ends with "/v1".
	OpenAI = Form{name: "openai", path: "audio/transcriptions", format: FormatJSON, stream: true}
	// WhisperCPP is `/inference` of whisper.cpp's server.
	WhisperCPP = Form{name: "whisper.cpp", path: "inference", format: FormatVerbose}
)

// Options configure a Transcriber. Server is required.
type Options struct {
	Server   remote.Config // the addresses, the key and the deadlines; Stage is set by New
	Form     Form          // the zero value is OpenAI
	Model    string        // it replaces the model that a session names; empty: the session's
	Language string        // ISO 639-1, for sessions that name none; empty: the server finds it out
	Prompt   string        // words to expect, for sessions that name none
	// Format is FormatJSON or FormatVerbose. Empty is FormatVerbose for WhisperCPP, and FormatJSON for OpenAI, because not all models
	// of OpenAI's have the other.
	Format string
	// Stream asks the server to stream the final text (`stream=true`), so that its begin is shown earlier.
	Stream bool
	// PartialEvery is the shortest time between two requests for partial results; 0: 0.7 s. Below 0 there are none, and a
	// live transcription is refused with pipeline.ErrNoLive.
	PartialEvery time.Duration
	// NoSpeech is the no_speech_prob above which a segment is dropped; 0: DefaultNoSpeech, 1: none is dropped.
	NoSpeech float64
}

// complete returns the options with their defaults, or an error that names the setting.
func (o Options) complete() (Options, error) {
	if o.Form == (Form{}) {
		o.Form = OpenAI
	}
	if o.Format == "" {
		o.Format = o.Form.format
		if o.Stream {
			o.Format = FormatJSON
		}
	}
	if o.PartialEvery == 0 {
		o.PartialEvery = growing.Every
	}
	if o.NoSpeech == 0 {
		o.NoSpeech = DefaultNoSpeech
	}
	o.Server.Stage = pipeline.StageTranscriber
	switch {
	case o.Format != FormatJSON && o.Format != FormatVerbose:
		return o, fmt.Errorf("format: %q is unknown; want %s or %s", o.Format, FormatJSON, FormatVerbose)
	case o.Stream && !o.Form.stream:
		return o, fmt.Errorf("stream: servers of the kind %s cannot stream; leave it out", o.Form.name)
	case o.Stream && o.Format != FormatJSON:
		return o, fmt.Errorf("stream: a stream has no %s; leave format out", o.Format)
	case o.NoSpeech < 0 || o.NoSpeech > 1:
		return o, fmt.Errorf("no_speech: %v is no probability; want 0 to 1", o.NoSpeech)
	}
	return o, nil
}
