package assistant

// This file understands numbers, calculates and counts.

import (
	"math"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/spell"
)

// slip returns the number for which a recogniser often writes the word w, such as "to" for 2. It is used only where a number must
// stand.
func slip(w string) (n int64, ok bool) {
	switch w {
	case "to", "too":
		return 2, true
	case "for", "fore":
		return 4, true
	case "ate":
		return 8, true
	case "won":
		return 1, true
	case "tree":
		return 3, true
	case "sex", "sick", "sticks":
		return 6, true
	case "tan":
		return 10, true
	}
	return 0, false
}

// readNumber returns the number at the begin of w and how many words it has; 0 words if there is no number. If strict is set, slips
// are no numbers.
func readNumber(w []string, strict bool) (n int64, took int) {
	if len(w) == 0 {
		return 0, 0
	}
	if w[0] == "minus" && len(w) > 1 {
		if n, took = readNumber(w[1:], true); took > 0 {
			return -n, took + 1
		}
	}
	if n, took = spell.Read(w); took > 0 {
		return n, took
	}
	if n, ok := spell.Digits(w[0]); ok {
		return n, 1
	}
	if n, ok := slip(w[0]); ok && !strict {
		return n, 1
	}
	return 0, 0
}

// operator is an operation and the words for it.
type operator struct {
	words string
	sign  byte
	say   string
}

// operators returns all operators; those with more words come first.
func operators() []operator {
	return []operator{
		{"percent of", '%', "percent of"},
		{"multiplied by", '*', "times"},
		{"divided by", '/', "divided by"},
		{"divided", '/', "divided by"},
		{"plus", '+', "plus"},
		{"add", '+', "plus"},
		{"minus", '-', "minus"},
		{"times", '*', "times"},
		{"time", '*', "times"},
		{"over", '/', "divided by"},
	}
}

// term is a number with the operator before it.
type term struct {
	sign byte
	say  string
	n    int64
}

const maxTerms = 20

// arithmetic answers sums such as "what is two plus two".
func arithmetic(w []string) (string, bool) {
	if i := index(w, "half of"); i >= 0 {
		if n, took := readNumber(w[i+2:], true); took > 0 {
			return "Half of " + spell.Cardinal(n) + " is " + sayFloat(float64(n)/2) + ".", true
		}
	}
	for i := range w {
		if terms := readTerms(w[i:]); len(terms) > 1 {
			return sayTerms(terms), true
		}
	}
	return "", false
}

func readTerms(w []string) []term {
	n, took := readNumber(w, false)
	if took == 0 {
		return nil
	}
	terms := []term{{n: n}}
	for w = w[took:]; len(terms) < maxTerms; {
		next, used := readTerm(w)
		if used == 0 {
			break
		}
		terms = append(terms, next)
		w = w[used:]
	}
	return terms
}

func readTerm(w []string) (term, int) {
	for _, op := range operators() {
		if index(w, op.words) != 0 {
			continue
		}
		skip := len(strings.Fields(op.words))
		if n, took := readNumber(w[skip:], false); took > 0 {
			return term{op.sign, op.say, n}, skip + took
		}
	}
	return term{}, 0
}

func sayTerms(terms []term) string {
	var question strings.Builder
	for i, t := range terms {
		if i > 0 {
			question.WriteString(" " + t.say + " ")
		}
		question.WriteString(spell.Cardinal(t.n))
	}
	result, ok := evaluate(terms)
	if !ok {
		return capital(question.String()) + " has no answer: nothing can be divided by zero."
	}
	return capital(question.String()) + " is " + sayFloat(result) + "."
}

// evaluate multiplies and divides before it adds and subtracts.
func evaluate(terms []term) (float64, bool) {
	sum, product := 0.0, float64(terms[0].n)
	for _, t := range terms[1:] {
		n := float64(t.n)
		switch t.sign {
		case '*':
			product *= n
		case '%':
			product *= n / 100
		case '/':
			if t.n == 0 {
				return 0, false
			}
			product /= n
		case '+':
			sum, product = sum+product, n
		case '-':
			sum, product = sum+product, -n
		}
	}
	return sum + product, true
}

// sayFloat returns a number in words, with at most three decimals.
func sayFloat(f float64) string {
	if math.Abs(f) > 1e15 {
		return "too large for me to say"
	}
	rounded := math.Round(f*1000) / 1000
	whole, fraction := math.Modf(math.Abs(rounded))
	text := spell.Cardinal(int64(whole))
	if rounded < 0 {
		text = "minus " + text
	}
	if fraction == 0 {
		return text
	}
	text += " point"
	for _, d := range strings.TrimRight(strconv.FormatFloat(fraction, 'f', 3, 64)[2:], "0") {
		text += " " + spell.Cardinal(int64(d-'0'))
	}
	if rounded != f {
		return "about " + text
	}
	return text
}

// maxCount is the largest number to which the assistant counts.
const maxCount = 1000

// count answers "count to one hundred", "count from five to ten", "count down from ten".
func count(w []string) (string, bool) {
	i := index(w, "count")
	if i < 0 {
		i = index(w, "counting")
	}
	if i < 0 {
		return "", false
	}
	w = w[i+1:]
	from, to, down := int64(1), int64(10), false
	if len(w) > 0 && w[0] == "down" {
		down, w = true, w[1:]
	}
	if n, rest, ok := after(w, "from"); ok {
		from, w = n, rest
		if down {
			from, to = 1, n
		}
	}
	if n, _, ok := after(w, "to", "two", "too", "till", "until", "up to"); ok {
		if down {
			from = n
		} else {
			to = n
		}
	} else if n, took := readNumber(w, true); took > 0 && !down {
		to = n
	}
	if from < 0 || to > maxCount || from > to {
		return "I can count from zero to one thousand. Tell me where to stop.", true
	}
	return sayCount(from, to, down), true
}

// after returns the number that follows one of the words at the begin of w.
func after(w []string, phrases ...string) (n int64, rest []string, ok bool) {
	for _, p := range phrases {
		if index(w, p) != 0 {
			continue
		}
		skip := len(strings.Fields(p))
		if n, took := readNumber(w[skip:], false); took > 0 {
			return n, w[skip+took:], true
		}
	}
	return 0, nil, false
}

func sayCount(from, to int64, down bool) string {
	var b strings.Builder
	for i := int64(0); i <= to-from; i++ {
		n := from + i
		if down {
			n = to - i
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(spell.Cardinal(n))
	}
	return capital(b.String()) + "."
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
