package wire

import (
	"encoding/base64"
	"strconv"
)

// The methods below carry one field each. When reading they return true if they have just taken a value, so that the caller can check it.

func (c *codec) str(name string, p *string, f flag) bool {
	if c.writing {
		if f != omitEmpty || *p != "" {
			c.writeKey(name)
			c.out = AppendString(c.out, *p)
		}
		return false
	}
	if !c.match(name, f) {
		return false
	}
	if c.b[c.pos] != '"' {
		return c.wrong(name, "a string")
	}
	*p = c.takeText()
	return c.next()
}

// constant always writes value; it reads what is there.
func (c *codec) constant(name string, p *string, value string) {
	if c.writing {
		p = &value
	}
	c.str(name, p, always)
}

func (c *codec) strOrNull(name string, p **string) {
	if c.writing {
		if *p == nil {
			c.writeNull(name)
			return
		}
		c.str(name, *p, always)
		return
	}
	if !c.here(name, orNull) {
		return
	}
	switch c.b[c.pos] {
	case 'n':
		c.pos += len("null")
		*p = nil
	case '"':
		s := c.takeText()
		*p = &s
	default:
		c.wrong(name, "a string or null")
		return
	}
	c.next()
}

func (c *codec) takeText() string {
	raw, escaped, _ := c.scanner.str()
	return text(raw, escaped)
}

func (c *codec) int64(name string, p *int64, f flag) bool {
	if c.writing {
		if f != omitEmpty || *p != 0 {
			c.writeKey(name)
			c.out = strconv.AppendInt(c.out, *p, 10)
		}
		return false
	}
	if !c.match(name, f) {
		return false
	}
	n, ok := parseInt(c.takeNumber())
	if !ok {
		return c.wrong(name, "a whole number")
	}
	*p = n
	return c.next()
}

func (c *codec) int(name string, p *int, f flag) bool {
	n := int64(*p)
	if !c.int64(name, &n, f) {
		return false
	}
	if int64(int(n)) != n {
		return c.wrong(name, "a smaller number")
	}
	*p = int(n)
	return true
}

func (c *codec) intOrNull(name string, p **int) bool {
	switch {
	case c.writing && *p == nil:
		c.writeNull(name)
		return false
	case c.writing:
		return c.int(name, *p, always)
	case !c.done && string(c.key) == name && c.b[c.pos] == 'n':
		*p = nil
	}
	var n int
	if !c.int(name, &n, always) {
		return false
	}
	*p = &n
	return true
}

func (c *codec) float(name string, p *float64, f flag) bool {
	if c.writing {
		if f != omitEmpty || *p != 0 {
			c.writeKey(name)
			c.out = appendFloat(c.out, *p)
		}
		return false
	}
	if !c.match(name, f) {
		return false
	}
	v, err := strconv.ParseFloat(string(c.takeNumber()), 64)
	if err != nil {
		return c.wrong(name, "a number that a 64 bit float can hold")
	}
	*p = v
	return c.next()
}

// takeNumber returns the text of the number at pos, nothing for another value.
func (c *codec) takeNumber() []byte {
	start := c.pos
	if c.number() != nil {
		c.pos = start
	}
	return c.b[start:c.pos]
}

func (c *codec) bool(name string, p *bool, f flag) bool {
	if c.writing {
		if f != omitEmpty || *p {
			c.writeKey(name)
			c.out = strconv.AppendBool(c.out, *p)
		}
		return false
	}
	if !c.match(name, f) {
		return false
	}
	ch := c.b[c.pos]
	if ch != 't' && ch != 'f' {
		return c.wrong(name, "true or false")
	}
	*p = ch == 't'
	_ = c.value(0)
	return c.next()
}

// audio carries bytes as base64, with or without padding when reading.
func (c *codec) audio(name string, p *[]byte, f flag) bool {
	if c.writing {
		if f != omitEmpty || *p != nil {
			c.writeKey(name)
			c.out = append(base64.StdEncoding.AppendEncode(append(c.out, '"'), *p), '"')
		}
		return false
	}
	if !c.match(name, f) {
		return false
	}
	if c.b[c.pos] != '"' {
		return c.wrong(name, "a string of base64")
	}
	raw, escaped, _ := c.scanner.str()
	if escaped {
		raw = unescape(nil, raw)
	}
	enc := base64.StdEncoding
	if len(raw)%4 != 0 {
		enc = base64.RawStdEncoding
	}
	audio := make([]byte, enc.DecodedLen(len(raw)))
	n, err := enc.Decode(audio, raw)
	if err != nil {
		c.fail(CodeInvalidValue, name, "want base64 in its standard alphabet", c.at)
		return false
	}
	*p = audio[:n]
	return c.next()
}

// raw carries any value as text. Only with orNull does null make it nil.
func (c *codec) raw(name string, p *Raw, f flag) bool {
	if c.writing {
		if f != omitEmpty || *p != nil {
			c.writeRaw(name, *p)
		}
		return false
	}
	if f == orNull {
		if !c.here(name, f) {
			return false
		}
	} else if !c.match(name, f) {
		return false
	}
	_ = c.value(0)
	if *p = nil; c.b[c.at] != 'n' || f == required {
		*p = keep(c.b[c.at:c.pos])
	}
	return c.next()
}

// rawObject is raw for a value that must be an object, or null with orNull.
func (c *codec) rawObject(name string, p *Raw, f flag) bool {
	if !c.raw(name, p, f) {
		return false
	}
	if ch := c.b[c.at]; ch != '{' && (ch != 'n' || f != orNull) {
		return c.wrong(name, "an object")
	}
	return true
}

// strs carries a list of strings.
func (c *codec) strs(name string, p *[]string, f flag) bool {
	if c.writing {
		c.writeStrings(name, *p, f)
		return false
	}
	if f == orNull {
		if !c.here(name, f) {
			return false
		}
		if c.b[c.pos] == 'n' {
			*p = nil
			c.pos += len("null")
			return c.next()
		}
	} else if !c.match(name, f) {
		return false
	}
	all := []string{}
	ok := c.elements(name, "a list of strings", func() bool {
		if c.b[c.pos] != '"' {
			c.at = c.pos
			return c.wrong("", "a string")
		}
		all = append(all, c.takeText())
		return true
	})
	if ok {
		*p = all
	}
	return ok
}

// maxElements is the largest list that is taken: an element in memory can be much larger than its text.
const maxElements = 4096

// elements calls take at every element of the array at pos; take moves behind it.
func (c *codec) elements(name, want string, take func() bool) bool {
	if c.b[c.pos] != '[' {
		return c.wrong(name, want)
	}
	c.pos++
	for i := 0; ; i++ {
		c.space()
		if end, _ := c.separator(']', i == 0); end {
			return c.next()
		}
		if i == maxElements {
			c.fail(CodeInvalidValue, name, "want at most 4096 elements", c.at)
			return false
		}
		if !take() {
			c.err.within("[" + strconv.Itoa(i) + "]")
			c.err.within(name)
			return false
		}
	}
}
