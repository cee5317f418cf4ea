package wire

// appendEvent writes the event as an object that begins with its type.
func appendEvent(dst []byte, e Event, server bool) []byte {
	c := codec{mode: writing, server: server, out: dst}
	c.write(`{"type":"`)
	c.write(e.Type())
	c.write(`"`)
	c.comma = true
	e.fields(&c)
	c.write("}")
	return c.out
}

// write appends text as it is.
//
//go:noinline
func (c *codec) write(s string) { c.out = append(c.out, s...) }

func (c *codec) writeFields(spec string, fields []any) {
	for t := (token{}); t.next(spec); {
		p := fields[t.index-1]
		switch t.mark {
		case '-':
		case '?':
			c.putUnlessEmpty(t.name, p)
		case '=':
			c.writeKey(t.name)
			c.putText(t.text)
		case '~':
			c.writeKey(t.name)
			if null, _ := isNil(p); null {
				c.write("null")
				continue
			}
			c.put(p)
		default:
			c.writeKey(t.name)
			c.put(p)
		}
	}
}

// writeKey writes the key of a member; names of the protocol need no escapes.
func (c *codec) writeKey(name string) {
	before := `,"`
	if !c.comma {
		before = before[1:]
	}
	c.comma = true
	c.out = append(append(append(c.out, before...), name...), `":`...)
}

// putUnlessEmpty writes a member unless the field is nil, or if it cannot be nil, unless it is a zero value, which shows in its text.
func (c *codec) putUnlessEmpty(name string, p any) {
	null, nilable := isNil(p)
	if null {
		return
	}
	before, comma := len(c.out), c.comma
	c.writeKey(name)
	start := len(c.out)
	c.put(p)
	if nilable {
		return
	}
	switch string(c.out[start:]) {
	case `""`, "0", "false", "{}":
		c.out, c.comma = c.out[:before], comma
	}
}

// isNil reports whether the field that p points to is nil, and whether it can be.
func isNil(p any) (null, nilable bool) {
	switch p := p.(type) {
	case *Raw:
		return *p == nil, true
	case *rawObject:
		return *p == nil, true
	case *[]byte:
		return *p == nil, true
	}
	if value, optional := follow(p, look); optional {
		return value == nil, true
	}
	n := length(p)
	return n == nilList, n != noList
}

// put writes the value of the field that p points to.
func (c *codec) put(p any) {
	switch p := p.(type) {
	case *string:
		c.putText(*p)
	case *voice:
		c.putText(string(*p))
	case *int:
		c.putInt(int64(*p))
	case *int64:
		c.putInt(*p)
	case *float64:
		c.out = AppendFloat(c.out, *p)
	case *bool:
		c.putBool(*p)
	case *[]byte:
		c.write(`"`)
		c.out = appendBase64(c.out, *p)
		c.write(`"`)
	case *Raw:
		c.putRaw(*p)
	case *rawObject:
		c.putRaw(Raw(*p))
	case *MaxTokens:
		c.putMaxTokens(*p)
	case fielder:
		c.putObject(p)
	default:
		if value, optional := follow(p, look); optional {
			c.put(value)
			return
		}
		c.putList(p)
	}
}

func (c *codec) putText(s string) { c.out = AppendString(c.out, s) }

//go:noinline
func (c *codec) putInt(n int64) { c.out = appendInt(c.out, n) }

func (c *codec) putBool(v bool) {
	if v {
		c.write("true")
		return
	}
	c.write("false")
}

func (c *codec) putMaxTokens(m MaxTokens) {
	if m.N == 0 {
		c.write(`"inf"`)
		return
	}
	c.putInt(int64(m.N))
}

// putRaw keeps the message valid whatever a caller has put into r.
func (c *codec) putRaw(r Raw) {
	if !r.Valid() {
		r = Raw("null")
	}
	c.out = append(c.out, r...)
}

func (c *codec) putObject(p fielder) {
	c.write("{")
	c.comma = false
	p.fields(c)
	c.comma = true
	c.write("}")
}

func (c *codec) putList(p any) {
	c.write("[")
	for i := range length(p) {
		if i > 0 {
			c.write(",")
		}
		c.put(element(p, i))
	}
	c.write("]")
}

// writeMembers writes the members of a valid object into the one that is being written.
func (c *codec) writeMembers(object Raw) {
	s := scanner{b: object}
	s.space()
	s.pos++
	s.space()
	if s.peek() == '}' {
		return
	}
	end := len(object)
	for object[end-1] != '}' {
		end--
	}
	c.out = append(c.out, object[s.pos:end-1]...)
	c.comma = true
}
