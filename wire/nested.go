package wire

// pointer is a pointer to an object of the protocol.
type pointer[T any] interface {
	*T
	fielder
}

// object carries a nested object. Without merge what was there before is forgotten: of two members with the same name the last counts.
func object[T any, P pointer[T]](c *codec, name string, p P, f flag) bool {
	if c.writing {
		c.writeObject(name, p, f)
		return false
	}
	if !c.match(name, f) {
		return false
	}
	if !c.merge {
		var zero T
		*p = zero
	}
	return c.readMember(name, p)
}

// optional carries an object that may be nil: with orNull it is then written as null, with omitEmpty left out. fresh is what one begins
// with that was nil before.
func optional[T any, P pointer[T]](c *codec, name string, p *P, fresh T, f flag) bool {
	if c.writing {
		switch {
		case *p != nil:
			c.writeObject(name, *p, always)
		case f == orNull:
			c.writeNull(name)
		}
		return false
	}
	if !c.here(name, f) {
		return false
	}
	if c.b[c.pos] == 'n' {
		*p = nil
		c.pos += len("null")
		return c.next()
	}
	if *p == nil || !c.merge {
		*p = P(&fresh)
	}
	return c.readMember(name, *p)
}

// readMember reads the object that is the current member's value.
func (c *codec) readMember(name string, p fielder) bool {
	if c.b[c.pos] != '{' {
		return c.wrong(name, "an object")
	}
	c.readObject(p)
	if c.err != nil {
		c.err.within(name)
		return false
	}
	return c.next()
}

// list carries a list of objects; it is read as a whole, also with merge.
func list[T any, P pointer[T]](c *codec, name string, p *[]T, f flag) bool {
	if c.writing {
		if f == omitEmpty && len(*p) == 0 {
			return false
		}
		c.writeKey(name)
		c.out = append(c.out, '[')
		for i := range *p {
			if i > 0 {
				c.out = append(c.out, ',')
			}
			c.writeFields(P(&(*p)[i]))
		}
		c.out = append(c.out, ']')
		return false
	}
	if !c.match(name, f) {
		return false
	}
	all := []T{}
	ok := c.elements(name, "a list of objects", func() bool {
		if c.b[c.pos] != '{' {
			c.at = c.pos
			return c.wrong("", "an object")
		}
		var one T
		c.readObject(P(&one))
		all = append(all, one)
		return c.err == nil
	})
	if ok {
		*p = all
	}
	return ok
}
