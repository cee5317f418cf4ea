package listenbench

// The turns: a person's sentences, with pauses inside.

import (
	_ "embed"
	"errors"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

const (
	lead      = 500 * time.Millisecond  // silence before a turn
	rest      = 9 * time.Second         // silence after a turn: longer than the longest wait for the end
	gap       = 100 * time.Millisecond  // between two prompts that belong together
	shortest  = 300 * time.Millisecond  // of the pauses in a turn
	longest   = 1500 * time.Millisecond // of the pauses in a turn
	natural   = 200 * time.Millisecond  // silence in a prompt from which on it is a pause of the speaker
	longestOf = 12 * time.Second        // the longest prompt that is used
	audible   = 328.0 / 32768           // -40 dBFS
	noise     = 0.0003                  // peak of the noise of the room: -70 dBFS
)

// where says where a pause is.
type where int

const (
	inSentence where = iota // in a sentence: the turn goes on
	between                 // after a complete sentence: the turn goes on, and nobody can know
	atEnd                   // the turn is over
)

// pause is a silence of a turn.
type pause struct {
	where      where
	begin, end time.Duration // end of the last sound before it, and begin of the first sound after it, in the turn
}

// turn is what a person says until the person waits for an answer.
type turn struct {
	name   string
	pcm    []float32
	pauses []pause // the last one is at its end
}

//go:embed joined.txt
var joined string

// turns returns the turns of the prompts whose initial letters are from first to end. Each draw has other lengths of its pauses.
func turns(first, end byte, draws int) ([]turn, error) {
	texts, err := human.Texts()
	if err != nil {
		return nil, err
	}
	var all []turn
	for draw := range draws {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			text := texts[name]
			if !within(name, first, end) || !whole(name, text) {
				continue
			}
			pcm, err := prompt(name)
			if errors.Is(err, human.ErrNotInstalled) {
				continue // some texts have no recording
			}
			if human.Duration(len(pcm)) > longestOf {
				continue
			}
			b := builder{name: name, draw: draw}
			b.stretch(pcm, kindOf(text))
			all = append(all, b.done())
		}
		for line := range strings.Lines(joined) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' || !within(line, first, end) {
				continue
			}
			t, err := join(line, draw)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// kindOf returns where the pauses of a prompt are. A prompt with several sentences or commands has pauses after complete ones, and which of its
// pauses these are is not known.
func kindOf(text string) where {
	commands := strings.Count(strings.ToLower(text), "press ") + strings.Count(strings.ToLower(text), "dial ")
	if commands > 1 || strings.ContainsAny(strings.TrimRight(text, ".?! "), ".?!;") {
		return between
	}
	return inSentence
}

func within(line string, first, end byte) bool {
	return human.Within(strings.Fields(line)[0], first, end)
}

// whole reports whether a prompt is something that a person says as a turn: at least two words with an end, or one with a full stop.
func whole(name, text string) bool {
	for _, folder := range []string{"letters/", "phonetic/", "digits/", "silence/"} {
		if strings.HasPrefix(name, folder) {
			return false
		}
	}
	if strings.ContainsAny(text, "[<(") || strings.HasPrefix(text, "...") || strings.Contains(text, "..") || strings.HasSuffix(text, ":") {
		return false
	}
	for line := range strings.Lines(joined) { // the begin of a joined turn is no whole one
		if strings.HasPrefix(line, name+" |") || strings.HasPrefix(line, name+" _") {
			return false
		}
	}
	switch name { // parts of sentences
	case "conf-hasjoin", "conf-hasleft", "conf-otherinparty", "conf-userswilljoin", "conf-userwilljoin", "dir-first", "for", "is", "is-in-use", "is-set-to",
		"astcc-followed-by-the-pound-key", "from-unknown-caller", "vm-isonphone", "vm-isunavail", "vm-for", "vm-from", "vm-and", "vm-savemessage",
		"vm-savedto", "vm-unknown-caller", "queue-less-than", "vm-then-pound", "to-call-this-number", "to-call-num-press", "to-hang-up", "to-dial-by-name",
		"to-collect-call", "to-listen-to-it", "to-rerecord-it", "to-reach-operator", "followme/call-from":
		return false
	}
	return len(strings.Fields(text)) >= 2 || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!")
}

// prompt returns a prompt without the silence around it.
func prompt(name string) ([]float32, error) {
	said, err := human.Prompt(name)
	if err != nil {
		return nil, err
	}
	pcm := voice.PCM16ToFloat(nil, said)
	begin, end := 0, len(pcm)
	for begin < end && pcm[begin] < audible && pcm[begin] > -audible {
		begin++
	}
	for end > begin && pcm[end-1] < audible && pcm[end-1] > -audible {
		end--
	}
	return pcm[begin:end], nil
}

// join makes a turn of a line of joined.txt.
func join(line string, draw int) (turn, error) {
	b := builder{name: line, draw: draw}
	for _, field := range strings.Fields(line) {
		switch field {
		case "_":
			b.quiet(gap)
		case "|":
			b.pause(inSentence)
		case "/":
			b.pause(between)
		default:
			pcm, err := prompt(field)
			if err != nil {
				return turn{}, err
			}
			b.pcm = append(b.pcm, pcm...)
		}
	}
	return b.done(), nil
}

// builder makes a turn.
type builder struct {
	name   string
	draw   int
	pcm    []float32
	pauses []pause
	seed   uint32
}

// stretch appends a prompt whose own pauses become as long as other pauses.
func (b *builder) stretch(pcm []float32, kind where) {
	const step = human.Rate / 100
	begin, silent := 0, 0
	for at := 0; at+step <= len(pcm); at += step {
		if voice.RMS(pcm[at:at+step]) < audible/2 {
			silent += step
			continue
		}
		if human.Duration(silent) >= natural {
			b.pcm = append(b.pcm, pcm[begin:at-silent]...)
			b.pause(kind)
			begin = at
		}
		silent = 0
	}
	b.pcm = append(b.pcm, pcm[begin:]...)
}

// pause appends a pause of a drawn length.
func (b *builder) pause(kind where) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(b.name)) // it never fails
	_, _ = h.Write([]byte{byte(b.draw), byte(len(b.pauses)), byte(b.draw >> 8)})
	length := shortest + (longest-shortest)*time.Duration(h.Sum32()>>8)/(1<<24)
	p := pause{where: kind, begin: human.Duration(len(b.pcm))}
	b.quiet(length)
	p.end = human.Duration(len(b.pcm))
	b.pauses = append(b.pauses, p)
}

// quiet appends the noise of a room.
func (b *builder) quiet(d time.Duration) {
	for range int(d * human.Rate / time.Second) {
		b.seed = b.seed*1664525 + 1013904223
		b.pcm = append(b.pcm, noise*(float32(b.seed>>8)/(1<<23)-1))
	}
}

// done returns the turn, with silence around it.
func (b *builder) done() turn {
	said := b.pcm
	b.pcm = nil
	b.quiet(lead)
	t := turn{name: b.name}
	for _, p := range b.pauses {
		t.pauses = append(t.pauses, pause{p.where, p.begin + lead, p.end + lead})
	}
	b.pcm = append(b.pcm, said...)
	end := human.Duration(len(b.pcm))
	b.quiet(rest)
	t.pcm = b.pcm
	t.pauses = append(t.pauses, pause{atEnd, end, human.Duration(len(b.pcm))})
	return t
}
