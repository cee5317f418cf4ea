package session

// What a client sees that knows no extension of the protocol.

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

// TestPlainClientSeesThePlainProtocol compares every event for a client that knows no extension with testdata/plain_client.txt, word
// for word. Such a client sees the plain protocol.
func TestPlainClientSeesThePlainProtocol(t *testing.T) {
	scenes := map[string]func(c *caller){
		"cough": func(c *caller) {
			c.quiet(2000)
			c.speak(shortSound())
			c.quiet(700)
			first(c, "output_audio_buffer.stopped")
		},
		"interruption": func(c *caller) {
			c.quiet(2000)
			c.speak(scripted.Tones("stop it now please"))
			c.quiet(700)
			first(c, "output_audio_buffer.stopped")
		},
		"at-the-end": func(c *caller) {
			first(c, "output_audio_buffer.stopped")
			c.speak(scripted.Tones("and now I talk"))
			c.quiet(700)
			first(c, "output_audio_buffer.stopped")
		},
		"polite": func(c *caller) {
			c.send(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","interrupt_response":false}}}}}`)
			c.quiet(1000)
			c.speak(scripted.Tones("I can wait"))
			c.quiet(700)
			first(c, "output_audio_buffer.stopped")
			first(c, "output_audio_buffer.stopped")
		},
	}
	datadriven.RunTest(t, "testdata/plain_client.txt", func(t *testing.T, d *datadriven.TestData) string {
		var told string
		story(t, d.Cmd, func(t *testing.T) {
			c := byWebRTC(t, plain())
			c.ask("say 12 words")
			first(c, "output_audio_buffer.started")
			scenes[d.Cmd](c)
			told = c.record.anonymous()
		})
		return told
	})
}

// made matches the ids that a server makes.
var made = regexp.MustCompile(`"(event|item|resp|conv|sess|call)_[a-z2-7]{24}"`)

// anonymous returns the events of the server. Each id is replaced by its kind and a number, and times are left out.
func (r *record) anonymous() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out strings.Builder
	numbers, counts := map[string]int{}, map[string]int{}
	for text := range strings.Lines(r.text.String()) {
		var l struct {
			Dir   string
			Event json.RawMessage
		}
		if json.Unmarshal([]byte(text), &l) != nil || l.Dir != "server" {
			continue
		}
		event := made.ReplaceAllStringFunc(string(l.Event), func(name string) string {
			kind, _, _ := strings.Cut(name[1:], "_")
			if kind == "event" {
				return `"event"`
			}
			if numbers[name] == 0 {
				counts[kind]++
				numbers[name] = counts[kind]
			}
			return fmt.Sprintf(`"%s_%d"`, kind, numbers[name])
		})
		out.WriteString(event + "\n")
	}
	return out.String()
}
