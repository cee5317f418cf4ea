package tts

// The settings of a synthesizer.

import (
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Values of Config.Format.
const (
	FormatPCM = "pcm" // raw PCM: 16 bit, little endian, mono
	FormatWAV = "wav"
	FormatSSE = "sse" // raw PCM in server-sent events
)

// DefaultRate is the rate of raw PCM, in Hz, of OpenAI and Kokoro-FastAPI.
const DefaultRate = 24000

// Config says which server speaks, and how.
type Config struct {
	// Server has the base addresses, such as "http://127.0.0.1:8880/v1", or "http://127.0.0.1:5000" for Piper, the key and the deadlines.
	Server remote.Config
	Model  string // name of the model; empty for servers that have one
	Voice  string // the synthesis voice of a session that asks for none, or for one of the protocol that Voices does not have
	// Voices maps names of synthesis voices that sessions use, such as the protocol's "alloy", to those of the server.
	Voices map[string]string
	Format string // FormatPCM (or empty), FormatWAV or FormatSSE; Piper sends WAV in any case
	Rate   int    // rate of raw PCM in Hz; 0: DefaultRate. A WAV file says its own rate
	// Options are further fields of each request, such as "instructions". Fields that the adapter sets are not allowed.
	Options map[string]any
}

// complete sets the defaults. Its error names the setting that is wrong.
func (c *Config) complete() error {
	c.Server.Stage = pipeline.StageSynthesizer
	if c.Rate == 0 {
		c.Rate = DefaultRate
	}
	if _, err := voice.NewResampler(c.Rate, pipeline.OutputRate); err != nil {
		return fmt.Errorf("rate: %w", err)
	}
	switch c.Format {
	case "":
		c.Format = FormatPCM
	case FormatPCM, FormatWAV, FormatSSE:
	default:
		return fmt.Errorf("format: %q is unknown; want pcm, wav or sse", c.Format)
	}
	for name := range c.Options {
		if slices.Contains([]string{"model", "input", "text", "voice", "response_format", "stream_format"}, name) {
			return fmt.Errorf("options: %q is set by the server; leave it out", name)
		}
	}
	return nil
}
