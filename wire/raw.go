package wire

// This file has JSON values that are kept as text.

import "unicode/utf8"

// Raw is a JSON value as text. A Raw that this package has read is valid JSON and UTF-8. A Raw that a caller makes must be valid,
// too; an invalid one is written as null. A nil Raw means null or an absent value.
type Raw []byte

// Valid reports whether r is one JSON value, nested at most MaxDepth deep.
func (r Raw) Valid() bool {
	s := scanner{b: r}
	return s.document() == nil
}

// Text returns the value of a JSON string; ok is false for any other value.
func (r Raw) Text() (s string, ok bool) {
	sc := scanner{b: r}
	sc.space()
	if sc.peek() != '"' || !r.Valid() {
		return "", false
	}
	raw, escaped, _ := sc.str()
	return text(raw, escaped), true
}

// Field returns the value of a member of a JSON object, as a part of r. ok is false if there is no such member or r is no object. Of members
// with the same name the last one counts.
func (r Raw) Field(name string) (value Raw, ok bool) {
	c := codec{scanner: scanner{b: r}}
	c.space()
	if c.peek() != '{' || !r.Valid() {
		return nil, false
	}
	c.pos++
	for first := true; ; first = false {
		c.space()
		if end, _ := c.separator('}', first); end {
			return value, ok
		}
		key := string(c.key())
		start := c.pos
		_ = c.value(0)
		if key == name {
			value, ok = r[start:c.pos:c.pos], true
		}
	}
}

// WithText returns the JSON object r with one more member, whose value is a string. r is nil for an empty object, or a result of WithText.
func (r Raw) WithText(name, text string) Raw {
	if len(r) == 0 {
		r = Raw("{")
	} else {
		r[len(r)-1] = ','
	}
	r = AppendString(r, name)
	r = append(r, ':')
	r = AppendString(r, text)
	return append(r, '}')
}

// rawObject is a Raw; a reader accepts only an object for it.
type rawObject Raw

// kind returns the first byte of the value, 0 for none.
func (r Raw) kind() byte {
	s := scanner{b: r}
	s.space()
	return s.peek()
}

// keep returns a copy of checked text. What is not UTF-8 becomes U+FFFD.
//
//go:noinline
func keep(b []byte) Raw {
	if utf8.Valid(b) {
		return append(Raw(nil), b...)
	}
	clean := make(Raw, 0, len(b)+8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		clean = utf8.AppendRune(clean, r)
		b = b[n:]
	}
	return clean
}
