package calltest

// A call as a picture (SVG): both waveforms, the states of the call, the words where they were said, and the expectations that failed.

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// label is a text with the time from which on it holds, since the begin of the call. until is 0 where nobody knows it.
type label struct {
	at, until time.Duration
	text      string
}

// history notes when things happen in a call.
type history struct {
	began time.Time

	mu       sync.Mutex
	states   []label
	user     []label
	problems []label
	entries  map[string]*label // by the id of the transcript's entry
	spoken   *label            // the agent's entry that is being heard
}

func (h *history) now() time.Duration { return time.Since(h.began) }

// watch takes a snapshot of the session.
func (h *history) watch(s sdk.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, state := h.now(), s.State.String()
	if s.State == sdk.AgentSpeaking && s.Interrupting {
		state = "held"
	}
	if n := len(h.states); n == 0 || h.states[n-1].text != state {
		h.states = append(h.states, label{at: now, text: state})
	}
	if h.entries == nil {
		h.entries = map[string]*label{}
	}
	for _, e := range s.Transcript {
		if h.entries[e.ItemID] == nil {
			h.entries[e.ItemID] = &label{at: now}
		}
	}
	if s.State != sdk.AgentSpeaking {
		h.spoken = nil
	} else if n := len(s.Transcript); h.spoken == nil && n > 0 && s.Transcript[n-1].Role == sdk.Agent {
		h.spoken = h.entries[s.Transcript[n-1].ItemID]
		h.spoken.at = now
	}
	if h.spoken != nil {
		h.spoken.until = now
	}
}

// said notes what the user begins to say.
func (h *history) said(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.user = append(h.user, label{at: h.now(), text: what})
}

func (h *history) problem(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.problems = append(h.problems, label{at: h.now(), text: text})
}

// picture is what the picture of a call shows. The waveforms are the loudest amplitude of each 20 ms, from 0 to 1.
type picture struct {
	title                            string
	length                           time.Duration
	states                           []label
	said, understood, answered, acts []label
	problems                         []label
	user, agent                      []float64
}

// picture returns what the history shows of a call with this transcript.
func (h *history) picture(c *call, all []sdk.Entry) *picture {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &picture{title: c.result.Name, length: h.now(), states: h.states, said: h.user, problems: h.problems}
	for _, e := range all {
		at := h.entries[e.ItemID]
		switch {
		case at == nil:
		case e.ToolCall != nil:
			p.acts = append(p.acts, label{at.at, 0, e.ToolCall.Name + " " + e.ToolCall.Arguments})
		case e.Role == sdk.User:
			p.understood = append(p.understood, label{at.at, 0, e.Text})
		default:
			p.answered = append(p.answered, label{at.at, at.until, e.Text})
		}
	}
	p.user, p.agent = make([]float64, p.length/native.FrameTime+1), make([]float64, p.length/native.FrameTime+1)
	place := func(in []float64, at time.Duration, v float64) {
		if i := int(at / native.FrameTime); i >= 0 && i < len(in) {
			in[i] = max(in[i], v)
		}
	}
	for i, v := range c.mic.recorded {
		place(p.user, c.mic.began.Sub(h.began)+time.Duration(i)*time.Second/native.Rate, math.Abs(float64(v))/32768)
	}
	for _, f := range c.speaker.Frames() {
		place(p.agent, f.At.Sub(h.began), min(2*math.Pow(10, f.Level/20), 1)) // a peak is about twice the root mean square
	}
	return p
}

// Sizes in pixels. A letter is about letter wide.
const (
	margin, lane, row, letter = 90, 64, 15, 6.2
	maxWide                   = 12000
	maxLetters                = 160
)

// colours of the states.
var colours = map[string]string{
	"user speaking": "#4a90d9", "thinking": "#e8c468", "agent speaking": "#5aa469", "held": "#d98c4a", "listening": "#dddddd", "reconnecting": "#b04a4a",
}

// drawing is an SVG that is being made. y is where the next lane begins.
type drawing struct {
	bytes.Buffer
	scale float64 // pixels for each second
	y     int
}

func (d *drawing) x(at time.Duration) float64 { return margin + at.Seconds()*d.scale }

// text writes a text; its whole appears under the mouse.
func (d *drawing) text(x float64, y int, colour, text string) {
	var whole, shown bytes.Buffer
	_ = xml.EscapeText(&whole, []byte(text)) // a buffer takes all
	if runes := []rune(text); len(runes) > maxLetters {
		text = string(runes[:maxLetters]) + "…"
	}
	_ = xml.EscapeText(&shown, []byte(text))
	fmt.Fprintf(d, "<text x=\"%.1f\" y=\"%d\" fill=\"%s\">%s<title>%s</title></text>\n", x, y, colour, &shown, &whole)
}

// labels writes texts at their times, each in the first row that is free there.
func (d *drawing) labels(name, colour string, all []label) {
	if len(all) == 0 {
		return
	}
	d.text(4, d.y+11, "#777777", name)
	var ends []float64 // of each row
	slices.SortStableFunc(all, func(a, b label) int { return cmp.Compare(a.at, b.at) })
	for _, l := range all {
		x := d.x(l.at)
		in := slices.IndexFunc(ends, func(end float64) bool { return end <= x })
		if in < 0 {
			in, ends = len(ends), append(ends, 0)
		}
		ends[in] = x + letter*float64(min(len([]rune(l.text)), maxLetters)+2)
		d.text(x, d.y+11+in*row, colour, l.text)
	}
	d.y += max(len(ends), 1)*row + 4
}

func (d *drawing) wave(name, colour string, amplitudes []float64) {
	middle := d.y + lane/2
	d.text(4, middle+4, "#777777", name)
	fmt.Fprintf(d, "<path stroke=\"%s\" stroke-width=\"%.2f\" d=\"M%d %dH%.1f", colour, max(d.scale*native.FrameTime.Seconds(), 0.5), margin, middle, d.x(time.Duration(len(amplitudes))*native.FrameTime))
	for i, v := range amplitudes {
		if half := int(math.Sqrt(v) * lane / 2); half > 0 { // the root shows soft sounds too
			fmt.Fprintf(d, "M%.1f %dV%d", d.x(time.Duration(i)*native.FrameTime), middle-half, middle+half)
		}
	}
	d.WriteString("\"/>\n")
	d.y += lane
}

func (d *drawing) bar(states []label, end time.Duration) {
	d.text(4, d.y+11, "#777777", "state")
	for i, s := range states {
		until := end
		if i+1 < len(states) {
			until = states[i+1].at
		}
		fmt.Fprintf(d, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"14\" fill=\"%s\"><title>%s, %.2f s to %.2f s</title></rect>\n", d.x(s.at), d.y, d.x(until)-d.x(s.at), cmp.Or(colours[s.text], "#999999"), s.text, s.at.Seconds(), until.Seconds())
	}
	d.y += 22
}

// spread divides the words of answers evenly over their sound, in pieces of 2 s or more.
func spread(all []label) (out []label) {
	for _, l := range all {
		words := strings.Fields(l.text)
		n := max(min(int((l.until-l.at)/(2*time.Second)), len(words)), 1)
		for i := range n {
			at := l.at + (l.until-l.at)*time.Duration(i)/time.Duration(n)
			out = append(out, label{at: at, text: strings.Join(words[len(words)*i/n:len(words)*(i+1)/n], " ")})
		}
	}
	return out
}

// write writes the picture as SVG.
func (p *picture) write(w io.Writer) error {
	d := &drawing{scale: min(60, maxWide/max(p.length.Seconds(), 1)), y: 60}
	d.text(4, 18, "#000000", p.title)
	x := float64(margin)
	for _, state := range []string{"user speaking", "thinking", "agent speaking", "held", "listening"} {
		fmt.Fprintf(d, "<rect x=\"%.1f\" y=\"26\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x, colours[state])
		d.text(x+14, 35, "#333333", state)
		x += 130
	}
	every := time.Second
	for float64(every/time.Second)*d.scale < 50 {
		every *= 2
	}
	for at := time.Duration(0); at <= p.length; at += every {
		d.text(d.x(at), 52, "#777777", fmt.Sprintf("%d s", at/time.Second))
	}
	d.labels("says", "#1f5a99", p.said)
	d.wave("user", "#4a90d9", p.user)
	d.labels("understood", "#555555", p.understood)
	d.bar(p.states, p.length)
	d.wave("agent", "#5aa469", p.agent)
	d.labels("answers", "#2b6b3a", spread(p.answered))
	d.labels("tools", "#7a4a99", p.acts)
	bottom, width := d.y, max(d.x(p.length)+40, 900)
	for i, problem := range p.problems {
		fmt.Fprintf(d, "<path stroke=\"#cc2222\" stroke-dasharray=\"4 3\" d=\"M%.1f 56V%d\"/>\n", d.x(problem.at), bottom)
		d.text(d.x(problem.at)+2, bottom+10, "#cc2222", fmt.Sprint(i+1))
		d.text(margin, bottom+26+row*i, "#cc2222", fmt.Sprintf("%d  %s", i+1, problem.text))
		width = max(width, margin+letter*float64(min(len(problem.text), maxLetters)+8))
	}
	height := bottom + 36 + row*len(p.problems)
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\" fill=\"none\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n%s</svg>\n", width, height, d)
	return err
}
