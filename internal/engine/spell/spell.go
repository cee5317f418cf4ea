// Package spell writes whole numbers in English words and reads them.
package spell

import (
	"strconv"
	"strings"
)

// Max is the largest magnitude that is written in words. Larger ones are written in digits.
const Max = 999_999_999_999

func small(n int64) string {
	return [...]string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
		"fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}[n]
}

func tens(n int64) string {
	return [...]string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}[n]
}

// Cardinal returns "minus three", "forty-two", "one hundred and five", "two thousand and ten".
func Cardinal(n int64) string {
	switch {
	case n > Max || n < -Max:
		return strconv.FormatInt(n, 10)
	case n < 0:
		return "minus " + Cardinal(-n)
	case n < 20:
		return small(n)
	case n < 100:
		s := tens(n / 10)
		if n%10 != 0 {
			s += "-" + small(n%10)
		}
		return s
	case n < 1000:
		return small(n/100) + " hundred" + rest(n%100)
	case n < 1_000_000:
		return Cardinal(n/1000) + " thousand" + rest(n%1000)
	case n < 1_000_000_000:
		return Cardinal(n/1_000_000) + " million" + rest(n%1_000_000)
	}
	return Cardinal(n/1_000_000_000) + " billion" + rest(n%1_000_000_000)
}

// Ordinal returns "first", "twenty-second", "one hundredth". n is not negative.
func Ordinal(n int64) string {
	c := Cardinal(n)
	at := strings.LastIndexAny(c, " -") + 1
	head, last := c[:at], c[at:]
	switch last {
	case "one":
		return head + "first"
	case "two":
		return head + "second"
	case "three":
		return head + "third"
	case "five":
		return head + "fifth"
	case "eight":
		return head + "eighth"
	case "nine":
		return head + "ninth"
	case "twelve":
		return head + "twelfth"
	}
	if stem, ok := strings.CutSuffix(last, "y"); ok {
		return head + stem + "ieth"
	}
	return c + "th"
}

func rest(n int64) string {
	switch {
	case n == 0:
		return ""
	case n < 100:
		return " and " + Cardinal(n)
	}
	return " " + Cardinal(n)
}

// Word returns the value of one number word ("seven", "forty", "hundred"), and whether it multiplies the number before it.
func Word(w string) (value int64, multiplies, ok bool) {
	switch w {
	case "hundred":
		return 100, true, true
	case "thousand":
		return 1000, true, true
	case "million":
		return 1_000_000, true, true
	case "billion":
		return 1_000_000_000, true, true
	case "oh":
		return 0, false, true
	}
	for n := range int64(20) {
		if w == small(n) {
			return n, false, true
		}
	}
	for n := int64(2); n < 10; n++ {
		if w == tens(n) {
			return n * 10, false, true
		}
	}
	return 0, false, false
}

// Read returns the cardinal number at the begin of words, which are in lower case and without hyphens, and how many words it has; 0
// words if there is no number. It skips "and" inside a number: "one hundred and five".
func Read(words []string) (n int64, took int) {
	var total, group int64 // group: below the next thousand
	last := int64(0)       // the last value added to group, 0 after a multiplier
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "and" && took > 0 && last == 0 && i+1 < len(words) {
			if v, m, ok := Word(words[i+1]); ok && !m && v > 0 {
				continue
			}
			break
		}
		if i == 0 && w == "a" && len(words) > 1 {
			if _, m, ok := Word(words[1]); ok && m {
				group = 1
				continue
			}
		}
		v, multiplies, ok := Word(w)
		switch {
		case !ok:
			return total + group, took
		case multiplies && (took == 0 && group == 0 || total+group > Max/v):
			return total + group, took
		case multiplies && v == 100:
			if group == 0 || group >= 100 {
				return total + group, took
			}
			group *= 100
			last = 0
		case multiplies:
			total, group, last = total+group*v, 0, 0
		case took > 0 && last != 0 && (last < 20 || v >= 10): // "two five", "twenty thirty": the next number begins
			return total + group, took
		case took > 0 && last == 0 && group%100 != 0, took > 0 && v == 0:
			return total + group, took
		default:
			group += v
			last = v
		}
		took = i + 1
	}
	return total + group, took
}

// Digits reads "12", "1,000" or "-3".
func Digits(w string) (n int64, ok bool) {
	w = strings.ReplaceAll(w, ",", "")
	if len(w) > 15 {
		return 0, false
	}
	n, err := strconv.ParseInt(w, 10, 64)
	return n, err == nil
}
