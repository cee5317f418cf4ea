package wire

// appendEvent writes the event as an object that begins with its type.
func appendEvent(dst []byte, e Event, server bool) []byte {
	c := codec{writing: true, server: server, out: dst}
	c.out = append(c.out, `{"type":"`...)
	c.out = append(c.out, e.Type()...)
	c.out = append(c.out, '"')
	c.comma = true
	e.fields(&c)
	return append(c.out, '}')
}

// writeKey writes the key of a member; names of the protocol need no escapes.
func (c *codec) writeKey(name string) {
	if c.comma {
		c.out = append(c.out, ',')
	}
	c.comma = true
	c.out = append(c.out, '"')
	c.out = append(c.out, name...)
	c.out = append(c.out, '"', ':')
}

func (c *codec) writeNull(name string) {
	c.writeKey(name)
	c.out = append(c.out, "null"...)
}

func (c *codec) writeRaw(name string, r Raw) {
	if !r.Valid() {
		c.writeNull(name)
		return
	}
	c.writeKey(name)
	c.out = append(c.out, r...)
}

func (c *codec) writeStrings(name string, all []string, f flag) {
	if all == nil && f == omitEmpty {
		return
	}
	if all == nil && f == orNull {
		c.writeNull(name)
		return
	}
	c.writeKey(name)
	c.out = append(c.out, '[')
	for i, s := range all {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = AppendString(c.out, s)
	}
	c.out = append(c.out, ']')
}

// writeObject writes a member that is an object; one without any member is left out with omitEmpty.
func (c *codec) writeObject(name string, p fielder, f flag) {
	before, comma := len(c.out), c.comma
	c.writeKey(name)
	start := len(c.out)
	c.writeFields(p)
	if f == omitEmpty && len(c.out) == start+len("{}") {
		c.out, c.comma = c.out[:before], comma
	}
}

func (c *codec) writeFields(p fielder) {
	c.out = append(c.out, '{')
	c.comma = false
	p.fields(c)
	c.comma = true
	c.out = append(c.out, '}')
}

// writeMembers writes the members of a valid object into the one that is being written.
func (c *codec) writeMembers(object Raw) {
	s := scanner{b: object}
	s.space()
	inner := scanner{b: object, pos: s.pos + 1}
	inner.space()
	if inner.peek() == '}' {
		return
	}
	end := len(object)
	for object[end-1] != '}' {
		end--
	}
	c.out = append(c.out, object[inner.pos:end-1]...)
	c.comma = true
}
