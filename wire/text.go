package wire

// This file reads and writes JSON strings.

import "unicode/utf8"

// text returns the value of the string between two quotes. As in encoding/json, what is not UTF-8 and a half of a surrogate pair become
// U+FFFD.
func text(raw []byte, escaped bool) string {
	if escaped || !utf8.Valid(raw) {
		raw = unescape(make([]byte, 0, len(raw)), raw)
	}
	return string(raw)
}

// unescape appends the value of a checked string.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		r, n := rune(raw[i]), 1
		switch {
		case r == '\\':
			r, n = unescapeOne(raw[i+1:])
		case r >= utf8.RuneSelf:
			r, n = utf8.DecodeRune(raw[i:])
		}
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst
}

// unescapeOne returns the character of the escape sequence whose backslash is the byte before raw, and the length of the sequence.
func unescapeOne(raw []byte) (r rune, n int) {
	switch raw[0] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, n = hex4(raw[1:]), 6
		if r>>10 == 0xd800>>10 && len(raw) >= 11 && raw[5] == '\\' && raw[6] == 'u' {
			if low := hex4(raw[7:]); low>>10 == 0xdc00>>10 {
				return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), 12
			}
		}
		return r, n
	}
	return rune(raw[0]), 2
}

//go:noinline
func hex4(b []byte) rune {
	return rune(hex(b[0])<<12 | hex(b[1])<<8 | hex(b[2])<<4 | hex(b[3]))
}

// AppendString appends s as a JSON string with its quotes. What is not UTF-8 becomes U+FFFD; HTML is not escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		ch := s[i]
		if ch >= ' ' && ch < utf8.RuneSelf && ch != '"' && ch != '\\' {
			i++
			continue
		}
		instead := "\ufffd"
		if ch < utf8.RuneSelf {
			instead = escaped(ch)
		} else if r, size := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = append(dst, instead...)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// escaped returns the escape sequence for a quote, a backslash or a control character.
func escaped(ch byte) string {
	const sequences = `\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\u0009\u000a\u000b\u000c\u000d\u000e\u000f` +
		`\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f`
	switch ch {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return sequences[6*ch : 6*ch+6]
}
