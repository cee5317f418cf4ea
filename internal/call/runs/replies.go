package runs

// Questions that are no approval: what the server says, and what a turn of the user replies.

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// reply is what a phrase means in reply to a question that is no approval.
type reply uint8

const (
	later reply = iota + 1 // the user does not want to answer now
	again                  // the user has not understood the question
	pick                   // nothing, beside a choice: "I take"
)

var replySections = map[string]reply{"later": later, "again": again, "pick": pick}

// Ask returns what the server says to ask a question that wants any words, or one of the choices. ok is false if that cannot be said in full: it is too long, it has
// characters that a synthesizer may leave out, or two choices have the same words.
func (w *Words) Ask(tool, prompt string, choices []string) (text string, ok bool) {
	prompt = strings.TrimSpace(prompt)
	if !w.sayable(tool) || !w.sayablePrompt(prompt) {
		return "", false
	}
	known := map[string]bool{}
	for _, c := range choices {
		key := w.join(w.fold(c))
		if key == "" || known[key] || !w.sayable(c) {
			return "", false
		}
		known[key] = true
	}
	if last, _ := utf8.DecodeLastRuneInString(prompt); !strings.ContainsRune(ends, last) {
		prompt += "."
	}
	text = w.ask
	if len(choices) > 0 {
		text = w.choose
	}
	text = strings.NewReplacer("{tool}", name(tool), "{prompt}", prompt, "{choices}", strings.Join(choices, ", ")).Replace(text)
	return text, len(text) <= longestQuestion
}

// Marks that a prompt may have beside letters, digits and marks: they end a sentence, or change only how it is said.
const (
	ends        = ".?!。？！"
	promptMarks = ends + ";…–—¿¡“”„«»\"、，；：「」"
)

// sayablePrompt reports whether a prompt has words, and a synthesizer for this language says every character of it.
func (w *Words) sayablePrompt(text string) bool {
	return strings.ContainsFunc(text, unicode.IsLetter) && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r == '_' || !w.says(r) && !strings.ContainsRune(marks+promptMarks, r)
	})
}

// longestReply is how many bytes a spoken reply may have.
const longestReply = 1000

// Reply returns what a whole turn of the user replies to a question. asked is what Ask has returned. With postpones, the user wants to answer later, and text is empty. ok is
// false if the turn is no reply: it asks something, it is too long, it is the end of the question, as an echo is, or it has only polite words or words that ask for the
// question again. With choices it must name one of them, and have only polite words beside it; text is then that choice.
func (w *Words) Reply(said, asked string, choices []string) (text string, postpones, ok bool) {
	words := w.fold(said)
	if len(words) == 0 || len(said) > longestReply || strings.ContainsAny(said, "?？") {
		return "", false, false
	}
	if len(choices) > 0 {
		if text, ok = w.choice(words, choices); ok {
			return text, false, true
		}
	}
	if some, all := w.only(words, later); some && all {
		return "", true, true
	}
	question := w.fold(asked)
	echo := len(words) <= len(question) && slices.Equal(words, question[len(question)-len(words):])
	if _, all := w.only(words, again); len(choices) > 0 || echo || all {
		return "", false, false
	}
	return strings.TrimSpace(said), false, true
}

// choice returns the choice that the words of a turn name. ok is false if they name none or several, or have other words than polite ones and such as "I take".
func (w *Words) choice(words, choices []string) (named string, ok bool) {
	for len(words) > 0 {
		n, found := 0, ""
		for _, c := range choices {
			if pieces := w.fold(c); len(pieces) > n && len(pieces) <= len(words) && slices.Equal(pieces, words[:len(pieces)]) {
				n, found = len(pieces), c
			}
		}
		beside := w.beside(words, pick)
		switch {
		case n == 0 && beside == 0 || n > 0 && n >= beside && named != "" && named != found:
			return "", false
		case n > 0 && n >= beside:
			named = found
		default:
			n = beside
		}
		words = words[n:]
	}
	return named, named != ""
}

// only reports whether a turn has some phrases with a meaning, and whether all of it are such phrases and polite words.
func (w *Words) only(words []string, r reply) (some, all bool) {
	for len(words) > 0 {
		n := w.beside(words, r)
		if n == 0 {
			return some, false
		}
		some = some || w.replies[w.join(words[:n])] == r
		words = words[n:]
	}
	return some, true
}

// beside returns the length, in words, of the longest phrase at the begin of a text that is polite or has a meaning; 0 for none.
func (w *Words) beside(text []string, r reply) int {
	for n := min(w.longest, len(text)); n > 0; n-- {
		if phrase := w.join(text[:n]); w.replies[phrase] == r || w.meaning[phrase] == polite {
			return n
		}
	}
	return 0
}
