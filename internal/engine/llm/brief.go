package llm

// What a model is told besides the instructions of a session: that its answer is spoken, the user's time, and the user's language.

import (
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	// DefaultSpoken tells a model how an answer sounds that is spoken.
	DefaultSpoken = "Your answer is spoken aloud, and the user speaks with you. Answer in one to three short sentences, unless the user asks " +
		"for more. Write plain sentences: no Markdown, no lists, no tables, no code, no emoji. The user's words come from speech recognition: " +
		"if they make no sense, think of words that sound alike, or ask."
	// None is the text of Config.Interruption or Config.Spoken for a model that gets no such note.
	None = "none"
)

// brief returns the instructions of a request, with what the configuration adds. What changes comes last, so that servers can keep what
// they have computed of the rest.
func (c *Config) brief(r pipeline.Request, now time.Time) string {
	var parts []string
	if r.Instructions != "" {
		parts = append(parts, r.Instructions)
	}
	if r.Spoken && c.Spoken != "" {
		parts = append(parts, c.Spoken)
	}
	if c.NoTime {
		return strings.Join(parts, "\n\n")
	}
	if r.Language != "" {
		parts = append(parts, "The user speaks the language with the code "+r.Language+".")
	}
	where := "The user's time zone is not known. On the server it is "
	if r.TimeZone != nil {
		now, where = now.In(r.TimeZone), "Where the user is, it is "
	}
	parts = append(parts, where+now.Format("Monday, 2 January 2006, 15:04 (MST, UTC-07:00)")+".")
	return strings.Join(parts, "\n\n")
}
