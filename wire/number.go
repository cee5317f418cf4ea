package wire

// This file reads and writes numbers. The numbers of the protocol are counts, milliseconds, seconds and probabilities, so 15 significant
// digits and values between -1e21 and 1e21 are enough. The file needs none of the tables with which strconv converts each float64; they
// would be a large part of the codec in the browser.

// maxNumber limits numbers with a fraction. A number nearer to 0 than 1/maxNumber becomes 0.
const maxNumber = 1e21

// powers are the powers of ten that a float64 represents exactly.
var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// shift returns f × 10^n. It rounds only once if 10^n or 10^-n is exact.
//
//go:noinline
func shift(f float64, n int) float64 {
	for n > 22 && f < maxNumber {
		f *= 1e22
		n -= 22
	}
	for n < -22 && f > 0 {
		f /= 1e22
		n += 22
	}
	switch {
	case n > 22 || n < -22: // f is infinite or 0 by now
		return f
	case n < 0:
		return f / powers[-n]
	}
	return f * powers[n]
}

// decimal is a number as digits × 10^exponent.
type decimal struct {
	digits   uint64
	exponent int
	negative bool
}

// readDecimal reads a checked number; ok is false if the text is empty. It drops the digits after the 19th.
//
//go:noinline
func readDecimal(b []byte) (d decimal, ok bool) {
	const full = 1e18
	fraction := false
	for i, ch := range b {
		switch {
		case ch == '-':
			d.negative = true
		case ch == '.':
			fraction = true
		case ch|0x20 == 'e':
			d.exponent += readExponent(b[i+1:])
			return d, true
		case d.digits < full:
			d.digits = d.digits*10 + uint64(ch-'0')
			if fraction {
				d.exponent--
			}
		case !fraction:
			d.exponent++
		}
	}
	return d, len(b) > 0
}

func readExponent(b []byte) int {
	const most = 1 << 20 // a larger exponent gives an infinity or 0 for all digits
	n := 0
	for _, ch := range b {
		if ch-'0' <= 9 && n < most {
			n = n*10 + int(ch-'0')
		}
	}
	if b[0] == '-' {
		return -n
	}
	return n
}

// parseFloat returns the value of a checked number; ok is false if it is out of range.
func parseFloat(b []byte) (f float64, ok bool) {
	d, ok := readDecimal(b)
	f = shift(float64(d.digits), d.exponent)
	if f < 1/maxNumber {
		f = 0
	}
	if d.negative {
		f = -f
	}
	return f, ok && f < maxNumber && f > -maxNumber
}

// parseInt returns the value of a checked number; 1.0 and 1e3 are whole numbers too. ok is false if it has a fraction or does not fit.
func parseInt(b []byte) (n int64, ok bool) {
	d, ok := readDecimal(b)
	for ; d.exponent < 0 && d.digits > 0; d.exponent++ {
		if d.digits%10 != 0 {
			return 0, false
		}
		d.digits /= 10
	}
	limit := uint64(1<<63 - 1)
	if d.negative {
		limit++
	}
	for ; d.exponent > 0 && d.digits > 0; d.exponent-- {
		if d.digits > limit/10 {
			return 0, false
		}
		d.digits *= 10
	}
	if d.digits > limit {
		return 0, false
	}
	if d.negative {
		return -int64(d.digits), ok
	}
	return int64(d.digits), ok
}

// appendInt appends a whole number.
func appendInt(dst []byte, n int64) []byte {
	var buf [20]byte
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	i := len(buf)
	for {
		i--
		buf[i] = byte('0' + u%10)
		if u /= 10; u == 0 {
			break
		}
	}
	if n < 0 {
		i--
		buf[i] = '-'
	}
	return append(dst, buf[i:]...)
}

// AppendFloat appends f as a JSON number with at most 15 significant digits. NaN becomes 0; a number that is too large becomes the largest
// one. AppendFloat needs none of the tables of strconv, which would be a tenth of a small WebAssembly program.
func AppendFloat(dst []byte, f float64) []byte {
	if f < 0 {
		dst = append(dst, '-')
		f = -f
	}
	if !(f >= 1/maxNumber) {
		return append(dst, '0')
	}
	// The number is u × 10^point, with 15 digits.
	f = min(f, 999999999999999e6)
	point := 6
	for shift(f, -point) < 1e14 {
		point--
	}
	u := int64(shift(f, -point) + 0.5)
	for ; u%10 == 0; point++ {
		u /= 10
	}
	if point >= -18 && point < 0 {
		unit := int64(1)
		for range -point {
			unit *= 10
		}
		dst = appendInt(dst, u/unit)
		dot := len(dst)
		dst = appendInt(dst, unit+u%unit) // the digit before the fraction makes room for the dot
		dst[dot] = '.'
		return dst
	}
	for point > 0 && u < 1e17 {
		u *= 10
		point--
	}
	if dst = appendInt(dst, u); point == 0 {
		return dst
	}
	return appendInt(append(dst, 'e'), int64(point))
}
