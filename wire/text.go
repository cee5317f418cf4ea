package wire

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// text returns the string that stands between the quotes. As in encoding/json, what is not UTF-8 and a half of a surrogate pair become
// U+FFFD.
func text(raw []byte, escaped bool) string {
	if escaped || !utf8.Valid(raw) {
		raw = unescape(make([]byte, 0, len(raw)), raw)
	}
	return string(raw)
}

// unescape appends the text of a checked string.
func unescape(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch ch := raw[i]; {
		case ch == '\\' && raw[i+1] == 'u':
			r := hex4(raw[i+2:])
			i += 6
			if r >= 0xd800 && r < 0xe000 {
				low := rune(-1)
				if r < 0xdc00 && len(raw)-i >= 6 && raw[i] == '\\' && raw[i+1] == 'u' {
					low = hex4(raw[i+2:])
				}
				if low >= 0xdc00 && low < 0xe000 {
					r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		case ch == '\\':
			dst = append(dst, unescaped(raw[i+1]))
			i += 2
		case ch < utf8.RuneSelf:
			dst = append(dst, ch)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return dst
}

func hex4(b []byte) rune {
	return rune(hex(b[0])<<12 | hex(b[1])<<8 | hex(b[2])<<4 | hex(b[3]))
}

// unescaped is the character that a one-letter escape stands for.
func unescaped(ch byte) byte {
	switch ch {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return ch
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
		if ch >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = appendEscaped(append(dst, s[start:i]...), ch)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscaped(dst []byte, ch byte) []byte {
	const digits = "0123456789abcdef"
	switch ch {
	case '"', '\\':
		return append(dst, '\\', ch)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', digits[ch>>4], digits[ch&15])
}

// appendFloat appends a number; JSON has no infinities and no NaN, they become 0.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// parseInt reads the text of a checked number; 1.0 and 1e3 are whole numbers too. It refuses fractions and what does not fit.
func parseInt(b []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0, false
	}
	return int64(f), true
}

func parseFloat(b []byte) (float64, error) { return strconv.ParseFloat(string(b), 64) }
