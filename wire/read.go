package wire

// This file reads objects.

// readObject reads the object at pos into p.
func (c *codec) readObject(p fielder) {
	c.owner = p
	p.fields(c)
}

func (c *codec) readFields(spec string, fields []any) {
	owner, start, event := c.owner, c.pos, c.event
	c.event = false
	var seen uint64
	var t token
	c.pos++
	for first := true; ; first = false {
		c.space()
		if end, _ := c.separator('}', first); end {
			break
		}
		key := c.key()
		if event && string(key) == "type" || !t.find(spec, key) {
			_ = c.value(0)
			continue
		}
		at, bit := c.pos, uint64(1)<<t.index
		c.at = at
		if seen&bit != 0 && !c.merge {
			empty(fields[t.index-1]) // of members with the same name the last one counts
		}
		if c.take(t.name, t.mark, fields[t.index-1]) {
			seen |= bit
			c.at = at
			c.verify(owner, t.name)
		}
		if c.err != nil {
			return
		}
	}
	c.at = start
	for t = (token{}); t.next(spec); {
		if t.mark == '!' && seen>>t.index&1 == 0 {
			c.missing(t.name)
			return
		}
	}
	c.spec, c.seen, c.start = spec, seen, start
	c.verify(owner, "")
}

// key returns the key at pos, and moves to the position after its colon.
func (c *codec) key() []byte {
	key, escaped, _ := c.str()
	if escaped {
		key = unescape(nil, key)
	}
	c.space()
	c.pos++
	c.space()
	return key
}

func (c *codec) verify(p fielder, field string) {
	if c.strict != nil && c.err == nil {
		c.strict(c, p, field)
	}
}

// take reads the value at pos into the field that p points to, and moves to the position after the value. It returns false on an error, and
// if the value is null and the field stays as it is.
func (c *codec) take(name string, mark byte, p any) bool {
	first := c.b[c.pos]
	if first == 'n' && mark != '!' {
		c.pos += len("null")
		if _, optional := follow(p, drop); optional {
			return true
		}
		if mark == '~' {
			empty(p)
		}
		return mark == '~'
	}
	switch p := p.(type) {
	case *string:
		if first != '"' {
			return c.wrong(name, "a string")
		}
		*p = c.takeText()
	case *int:
		return c.takeInt(name, p)
	case *int64:
		n, ok := parseInt(c.takeNumber())
		if !ok {
			return c.wrongNumber(name, "a whole number of at most 64 bits")
		}
		*p = n
	case *float64:
		f, ok := parseFloat(c.takeNumber())
		if !ok {
			return c.wrongNumber(name, "a number below 1e21")
		}
		*p = f
	case *bool:
		if first != 't' && first != 'f' {
			return c.wrong(name, "true or false")
		}
		*p = len(c.takeValue()) == len("true")
	case *[]byte:
		return c.takeAudio(name, p)
	case *Raw:
		*p = keep(c.takeValue())
	case *rawObject:
		if first != '{' {
			return c.wrong(name, "an object")
		}
		*p = rawObject(keep(c.takeValue()))
	case *MaxTokens:
		return c.takeMaxTokens(name, p)
	case *voice:
		return c.takeVoice(name, p)
	default:
		return c.takeNested(name, p)
	}
	return true
}

func (c *codec) takeText() string {
	raw, escaped, _ := c.str()
	return text(raw, escaped)
}

// takeValue returns the text of the value at pos, and moves to the position after it.
func (c *codec) takeValue() []byte {
	start := c.pos
	_ = c.value(0)
	return c.b[start:c.pos]
}

// takeNumber is takeValue for a number. For any other value it returns an empty text.
func (c *codec) takeNumber() []byte {
	if kindName(c.b[c.pos]) != aNumber {
		return nil
	}
	return c.takeValue()
}

// wrongNumber records the error for a number that the field does not allow.
func (c *codec) wrongNumber(name, want string) bool {
	if kindName(c.b[c.at]) == aNumber {
		return c.fail(CodeInvalidType, name, "want "+want)
	}
	return c.wrong(name, "a number")
}

func (c *codec) takeInt(name string, p *int) bool {
	var n int64
	if !c.take(name, '!', &n) {
		return false
	}
	*p = int(n)
	if int64(*p) != n {
		return c.wrongNumber(name, "a smaller number")
	}
	return true
}

func (c *codec) takeAudio(name string, p *[]byte) bool {
	if c.b[c.pos] != '"' {
		return c.wrong(name, "a string of base64")
	}
	raw, escaped, _ := c.str()
	if escaped {
		raw = unescape(nil, raw)
	}
	audio, ok := decodeBase64(raw)
	if !ok {
		return c.fail(CodeInvalidValue, name, "want base64 in the standard alphabet")
	}
	*p = audio
	return true
}

func (c *codec) takeMaxTokens(name string, p *MaxTokens) bool {
	if c.b[c.pos] != '"' {
		return c.takeInt(name, &p.N)
	}
	if p.N = 0; c.takeText() != "inf" {
		return c.fail(CodeInvalidValue, name, `want a number or "inf"`)
	}
	return true
}

// takeVoice reads a voice: its name, or an object with its id.
func (c *codec) takeVoice(name string, p *voice) bool {
	if c.b[c.pos] == '{' {
		return c.takeObject(name, (*voiceObject)(p))
	}
	return c.take(name, '!', (*string)(p))
}

// takeNested reads an object, a list, or the value for a pointer field.
func (c *codec) takeNested(name string, p any) bool {
	if object, ok := p.(fielder); ok {
		return c.takeObject(name, object)
	}
	value, optional := follow(p, look)
	if !optional {
		return c.takeList(name, p)
	}
	if value == nil {
		value, _ = follow(p, create)
	}
	return c.take(name, '!', value)
}

func (c *codec) takeObject(name string, p fielder) bool {
	if c.b[c.pos] != '{' {
		return c.wrong(name, "an object")
	}
	c.readObject(p)
	if c.err != nil {
		c.err.within(name)
	}
	return c.err == nil
}

// maxElements limits the length of a list, because an element can be much larger in memory than in the text.
const maxElements = 4096

// takeList reads a list. It replaces the whole list, even with merge.
func (c *codec) takeList(name string, p any) bool {
	if c.b[c.pos] != '[' {
		return c.wrong(name, "a list")
	}
	element(p, -1)
	c.pos++
	for i := 0; ; i++ {
		c.space()
		if end, _ := c.separator(']', i == 0); end {
			return true
		}
		if i == maxElements {
			return c.fail(CodeInvalidValue, name, "want at most 4096 elements")
		}
		c.at = c.pos
		if !c.take("", '!', element(p, i)) {
			c.err.within("[" + string(appendInt(nil, int64(i))) + "]")
			c.err.within(name)
			return false
		}
	}
}
