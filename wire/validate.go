package wire

// hasText reports whether the object has that member and it is a string that is not empty.
func hasText(object Raw, name string) bool {
	value, _ := object.Field(name)
	s, ok := value.Text()
	return ok && s != ""
}

func oneModality(all []string) bool {
	return len(all) == 1 && (all[0] == "audio" || all[0] == "text")
}

func validToolName(name string) bool {
	for i := range len(name) {
		ch := name[i]
		letter := ch|0x20-'a' < 26
		if !letter && ch-'0' > 9 && ch != '_' && ch != '-' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 64
}

func tools(c *codec, p *[]Tool) bool {
	if !list(c, "tools", p, always) {
		return false
	}
	c.check(len(*p) <= MaxTools, "tools", "want at most 128 tools")
	return true
}

func toolChoice(c *codec, p *Raw, f flag) {
	if !c.raw("tool_choice", p, f) {
		return
	}
	ok := p.kind() == '{' && hasText(*p, "type")
	if word, isText := p.Text(); isText {
		ok = word == "auto" || word == "none" || word == "required"
	}
	c.check(ok, "tool_choice", `want "auto", "none", "required" or an object with the type and the name of a tool`)
}

func validTruncation(r Raw) bool {
	if word, isText := r.Text(); isText {
		return word == "auto" || word == "disabled"
	}
	typ, _ := r.Field("type")
	ratio, _ := r.Field("retention_ratio")
	word, _ := typ.Text()
	v, err := parseFloat(ratio)
	return word == "retention_ratio" && err == nil && v >= 0 && v <= 1
}

// maxTokens carries max_output_tokens: a number or "inf".
func (c *codec) maxTokens(p *MaxTokens) bool {
	const name = "max_output_tokens"
	switch {
	case c.writing && p.N == 0:
		c.writeKey(name)
		c.out = append(c.out, `"inf"`...)
		return false
	case c.writing || c.done || c.b[c.pos] != '"':
		if !c.int(name, &p.N, always) {
			return false
		}
		c.check(p.N >= 1 && p.N <= 4096, name, `want 1 to 4096, or "inf"`)
		return true
	}
	var word string
	if !c.str(name, &word, always) {
		return false
	}
	if word != "inf" {
		return c.wrong(name, `a number or "inf"`)
	}
	p.N = 0
	return true
}

// voice carries a voice: its name, or an object with its id when reading.
func (c *codec) voice(p *string, f flag) bool {
	if c.writing || c.done || c.b[c.pos] != '{' {
		return c.str("voice", p, f)
	}
	id := voiceID{id: *p}
	if !object(c, "voice", &id, f) {
		return false
	}
	*p = id.id
	return true
}

// voiceID is a voice as an object.
type voiceID struct{ id string }

func (v *voiceID) fields(c *codec) { c.str("id", &v.id, required) }
