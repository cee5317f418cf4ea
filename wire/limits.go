package wire

// This file reads values that are limited or that have several forms: metadata, include, tracing, truncation.

// Limits of the metadata of a response.
const (
	MaxMetadata      = 16  // pairs
	MaxMetadataKey   = 64  // characters of a key
	MaxMetadataValue = 512 // characters of a value
)

// IncludeLogprobs is the only field that Session.Include can name: the log probabilities of the tokens of a transcript.
const IncludeLogprobs = "item.input_audio_transcription.logprobs"

// Members calls f with each member of a JSON object, in its order, until f returns false. A value is a part of r. Members reports whether r is
// an object and f returned true for each member.
func (r Raw) Members(f func(name string, value Raw) bool) bool {
	c := codec{scanner: scanner{b: r}}
	c.space()
	if c.peek() != '{' || !r.Valid() {
		return false
	}
	c.pos++
	for first := true; ; first = false {
		c.space()
		if end, _ := c.separator('}', first); end {
			return true
		}
		name := string(c.key())
		start := c.pos
		_ = c.value(0)
		if !f(name, r[start:c.pos:c.pos]) {
			return false
		}
	}
}

// Float returns the value of a JSON number below 1e21. ok is false for any other value.
func (r Raw) Float() (v float64, ok bool) {
	if kindName(r.kind()) != aNumber || !r.Valid() {
		return 0, false
	}
	s := scanner{b: r}
	s.space()
	start := s.pos
	_ = s.value(0)
	return parseFloat(r[start:s.pos])
}

// characters returns the number of characters of a text.
func characters(s string) int {
	n := 0
	for range s {
		n++
	}
	return n
}

func (c *codec) metadata(r Raw) {
	pairs := 0
	fits := r == nil || r.Members(func(name string, value Raw) bool {
		pairs++
		text, isText := value.Text()
		return pairs <= MaxMetadata && characters(name) <= MaxMetadataKey && isText && characters(text) <= MaxMetadataValue
	})
	c.ensure(fits, "metadata", "want at most 16 pairs: keys of at most 64 characters, values that are strings of at most 512")
}

func (c *codec) prompt(r Raw) {
	c.ensure(r == nil || hasText(r, "id"), "prompt", "want an object with the id of a prompt")
	version, there := r.Field("version")
	_, isText := version.Text()
	c.ensure(!there || isText || version.kind() == 'n', "prompt.version", "want a string")
	variables, there := r.Field("variables")
	if !there || variables.kind() == 'n' {
		return
	}
	fits := variables.Members(func(_ string, value Raw) bool {
		_, isText := value.Text()
		part, _ := value.Field("text")
		_, hasPart := part.Text()
		return isText || hasPart
	})
	c.ensure(fits, "prompt.variables", `want an object whose values are strings, or objects of type input_text`)
}

// tracing is "auto", or an object with the names under which the session is recorded.
func (c *codec) tracing(r Raw) {
	word, _ := r.Text()
	c.ensure(r == nil || r.kind() == '{' || word == "auto", "tracing", `want "auto", an object or null`)
	if r.kind() != '{' {
		return
	}
	for _, name := range [...]string{"workflow_name", "group_id"} {
		value, there := r.Field(name)
		_, isText := value.Text()
		c.ensure(!there || isText || value.kind() == 'n', "tracing."+name, "want a string")
	}
	value, there := r.Field("metadata")
	c.ensure(!there || value.kind() == '{' || value.kind() == 'n', "tracing.metadata", "want an object")
}

// Truncation is the value of a session's truncation: what happens to a conversation that is too long for the model. By default its oldest
// messages are left out.
type Truncation struct {
	// Disabled: a response to a conversation that is too long fails.
	Disabled bool
	// Retain is the share of the limit, 0 to 1, to which a conversation is shortened.
	Retain float64
	// PostInstructions limits the tokens of the conversation, without instructions and tools; 0 means the limit of the model.
	PostInstructions int
}

// Truncate returns the truncation of the session.
func (s *Session) Truncate() Truncation {
	t := Truncation{Retain: 1}
	word, _ := s.Truncation.Text()
	t.Disabled = word == "disabled"
	if ratio, ok := s.Truncation.Field("retention_ratio"); ok {
		t.Retain, _ = ratio.Float()
	}
	if limits, ok := s.Truncation.Field("token_limits"); ok {
		if n, ok := limits.Field("post_instructions"); ok {
			v, _ := n.Float()
			t.PostInstructions = int(v)
		}
	}
	return t
}

// validTokenLimits reports whether token_limits is missing, null, or an object whose post_instructions is a whole number.
func validTokenLimits(r Raw) bool {
	limits, there := r.Field("token_limits")
	if !there || limits.kind() == 'n' {
		return true
	}
	n, there := limits.Field("post_instructions")
	if !there || n.kind() == 'n' {
		return limits.kind() == '{'
	}
	v, ok := n.Float()
	return ok && v >= 1 && v <= 1<<30 && v == float64(int(v))
}
