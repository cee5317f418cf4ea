package llm

// The think filter: takes the thoughts out of the text of a model that writes them between tags.

import "strings"

// thinkTags are the pairs of tags between which models write their thoughts.
var thinkTags = [...][2]string{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<reasoning>", "</reasoning>"},
	{"[THINK]", "[/THINK]"},
}

// longestTag is the length of the longest tag, in bytes.
const longestTag = len("</reasoning>")

// maxHeld is how many bytes of thoughts are kept that turn out to be text, if the end tag never comes.
const maxHeld = 64 << 10

// thinkFilter removes thoughts from a text that arrives in pieces of any size. Its output depends on the text alone, not on the pieces. The
// zero value is ready to use.
//
// A model may begin its answer inside a thought, because the server has written the begin tag for it. Then the text has only an end tag, and
// what stood before it has already been passed on. The filter removes the tag and sets orphan; the next answer of this model begins with
// inside set. If no tag comes then, flush returns the text.
type thinkFilter struct {
	inside bool   // the text begins inside a thought, although no tag says so
	orphan bool   // an end tag came without a begin tag
	end    string // the end tag of the open thought; empty: none is open
	tagged bool   // a tag was seen
	rest   string // the begin of what may be a tag
	held   strings.Builder
}

func (f *thinkFilter) thinking() bool { return f.end != "" || f.inside }

// push takes the next piece and returns the text in it.
func (f *thinkFilter) push(piece string) string {
	f.rest += piece
	var out strings.Builder
	for f.rest != "" {
		tag, at := f.next()
		f.pass(&out, f.rest[:at])
		f.rest = f.rest[at:]
		if tag == "" {
			break // nothing is left, or what may become a tag
		}
		f.rest = f.rest[len(tag):]
		f.turn(tag)
	}
	f.rest = strings.Clone(f.rest)
	return out.String()
}

func (f *thinkFilter) flush() string {
	rest := f.rest
	f.rest = ""
	if f.inside && !f.tagged {
		return f.held.String() + rest
	}
	if f.thinking() {
		return ""
	}
	return rest
}

// pass passes text on if it is no thought.
func (f *thinkFilter) pass(out *strings.Builder, text string) {
	switch {
	case f.end == "" && !f.inside:
		out.WriteString(text)
	case f.inside && f.held.Len()+len(text) <= maxHeld:
		f.held.WriteString(text)
	}
}

// turn changes between thought and text at a tag.
func (f *thinkFilter) turn(tag string) {
	f.tagged = true
	for _, pair := range thinkTags {
		switch {
		case strings.EqualFold(tag, pair[0]):
			f.end, f.inside = pair[1], false
		case strings.EqualFold(tag, pair[1]):
			f.orphan = f.orphan || f.end == ""
			f.end, f.inside = "", false
		}
	}
}

// next returns the first tag that counts here, and its position. If there is none, tag is empty, and the position is that of the rest that
// may become a tag.
func (f *thinkFilter) next() (tag string, at int) {
	for at < len(f.rest) {
		i := strings.IndexAny(f.rest[at:], "<[")
		if i < 0 {
			return "", len(f.rest)
		}
		at += i
		begin := f.rest[at:min(len(f.rest), at+longestTag)]
		partial := false
		for _, candidate := range f.tags() {
			if len(begin) >= len(candidate) && strings.EqualFold(begin[:len(candidate)], candidate) {
				return begin[:len(candidate)], at
			}
			partial = partial || len(begin) < len(candidate) && strings.EqualFold(begin, candidate[:len(begin)])
		}
		if partial {
			return "", at
		}
		at++
	}
	return "", at
}

// tags returns the tags that count at this place: the end tag of an open thought, or else all.
func (f *thinkFilter) tags() []string {
	if f.end != "" {
		return []string{f.end}
	}
	all := make([]string, 0, 2*len(thinkTags))
	for _, pair := range thinkTags {
		all = append(all, pair[0], pair[1])
	}
	return all
}
