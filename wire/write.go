package wire

// This file writes objects. The spec of their fields is that of bind.

// appendEvent writes the event as an object that begins with its type.
func appendEvent(dst []byte, e Event, server bool) []byte {
	dst = append(append(append(dst, `{"type":"`...), e.Type()...), '"')
	c := codec{mode: writing, server: server, out: Writer{b: dst, more: true}}
	e.fields(&c)
	return c.out.EndObject().b
}

func (c *codec) writeFields(spec string, fields []any) {
	for t := (token{}); t.next(spec); {
		p := fields[t.index-1]
		switch t.mark {
		case '-':
		case '?':
			c.putUnlessEmpty(t.name, p)
		case '=':
			c.out.name(t.name)
			c.out.Text(t.text)
		case '~':
			c.out.name(t.name)
			text, is := p.(*string)
			if null, _ := isNil(p); null || is && *text == "" {
				c.out.Null()
				continue
			}
			c.put(p)
		default:
			c.out.name(t.name)
			c.put(p)
		}
	}
}

// putUnlessEmpty writes a member unless it is empty: a field that can be nil is empty if it is nil, any other field if it has its zero value.
func (c *codec) putUnlessEmpty(name string, p any) {
	null, nilable := isNil(p)
	if null {
		return
	}
	before, more := len(c.out.b), c.out.more
	c.out.name(name)
	start := len(c.out.b)
	c.put(p)
	if nilable {
		return
	}
	switch string(c.out.b[start:]) {
	case `""`, "0", "false", "{}":
		c.out.b, c.out.more = c.out.b[:before], more
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
		c.out.Text(*p)
	case *voice:
		c.out.Text(string(*p))
	case *int:
		c.out.Int(int64(*p))
	case *int64:
		c.out.Int(*p)
	case *float64:
		c.out.Float(*p)
	case *bool:
		c.out.Bool(*p)
	case *[]byte:
		c.out.audio(*p)
	case *Raw:
		c.putRaw(*p)
	case *rawObject:
		c.putRaw(Raw(*p))
	case *MaxTokens:
		c.putMaxTokens(*p)
	case fielder:
		c.out.Object()
		p.fields(c)
		c.out.EndObject()
	default:
		if value, optional := follow(p, look); optional {
			c.put(value)
			return
		}
		c.putList(p)
	}
}

func (c *codec) putMaxTokens(m MaxTokens) {
	if m.N == 0 {
		c.out.plain(`"inf"`)
		return
	}
	c.out.Int(int64(m.N))
}

// putRaw writes r, or null where r is not valid JSON, so that the message stays valid.
func (c *codec) putRaw(r Raw) {
	if !r.Valid() {
		c.out.Null()
		return
	}
	c.out.Raw(r)
}

func (c *codec) putList(p any) {
	c.out.List()
	for i := range length(p) {
		c.put(element(p, i))
	}
	c.out.EndList()
}

// writeMembers adds the members of a valid object to the object that is being written.
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
	c.out.Raw(object[s.pos : end-1])
}
