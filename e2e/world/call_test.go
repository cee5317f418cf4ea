package world

// A simulated call: a user who speaks, writes, coughs, interrupts and loses the connection, at both real ends of the call.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// call is one simulated call.
type call struct {
	w           *world
	sdk         *sdk.Session
	peer        *peer
	server      *server
	network     *network
	model       *model
	hears       *recogniser
	synthesizer *synthesizer
	tool        *tool
	faults      faults
	alarm       alarm
	person      person
	store       journaltest.Log
	dials       int
	servers     []*server
	controller  *controller
	inbox       inbox
	log         strings.Builder // all that both ends do, in order
	said        []said          // what must reach the model
	story       []string
	cuts        []cut
	ends        []time.Duration // when a connection or a server ended
	stops       []stop
}

// said is what the user has said or written.
type said struct {
	text     string
	spoken   bool
	from, to time.Duration
}

// cut is a cut of the network, and how many milliseconds of sound the server does not know about afterwards.
type cut struct {
	at     time.Duration
	unsure int
}

// stop is a moment at which the user stopped the agent, which the client showed as speaking, and the answer that the user heard then; 0 is none.
type stop struct {
	at     time.Duration
	answer int
}

// Dial implements sdk.Dialer.
func (c *call) Dial(ctx context.Context, config sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	c.dials++
	n := newNetwork(c.w, c.faults, c.dials)
	p := newPeer(c.w, n, &c.person)
	p.antiphon, p.told = !c.faults.plain, func(text []byte) { c.inbox.arrived = append(c.inbox.arrived, arrival{c.w.now(), text}) }
	p.sink = sink
	if err := c.w.pause(ctx, 2*n.media); err != nil {
		return nil, err
	}
	k, err := c.connect(ctx, n, p, config.Resume)
	if err != nil {
		return nil, err
	}
	c.network, c.peer = n, p
	c.w.add(2*n.media, func() {
		if k.open() {
			k.opened()
		}
		p.tell(sdk.MicrophoneOpened{})
		p.tell(sdk.PeerOpened{})
		c.person.takes(p)
		p.begin()
	})
	return p, nil
}

// note adds a line to the log.
func (c *call) note(format string, args ...any) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	fmt.Fprintf(&c.log, "%d "+format+"\n", append([]any{time.Since(c.w.began).Microseconds()}, args...)...)
}

// tell adds a line to the story of the call.
func (c *call) tell(format string, args ...any) {
	c.story = append(c.story, fmt.Sprintf("%6d ms: "+format, append([]any{c.w.now().Milliseconds()}, args...)...))
}

// told returns the story of the call: what the user did, and what the user heard.
func (c *call) told(seed uint64) string {
	lines := append(slices.Clone(c.story), c.person.story()...)
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[:6], b[:6]) })
	return fmt.Sprintf("seed %d:\n%s", seed, strings.Join(lines, "\n"))
}

// play plays the call of a seed. It returns what went wrong.
func play(t *testing.T, seed uint64) (c *call, wrong []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		c = &call{w: newWorld(seed), inbox: inbox{dropped: map[time.Duration]bool{}}}
		c.faults, c.tool = c.w.faults(), &tool{w: c.w, begun: map[string]int{}}
		c.model, c.hears = &model{w: c.w, fails: c.faults.model, lengths: map[int]int{}}, newRecogniser(c.w, c.faults.recogniser)
		c.synthesizer = &synthesizer{w: c.w, fails: c.faults.synthesizer, broke: map[int]bool{}}
		c.tell("what may go wrong: %+v", c.faults)
		random := rand.New(rand.NewPCG(seed, 1))
		options := sdk.Options{
			Dialer: c, Limits: sdk.Limits{ToolTime: 10 * time.Second}, Clock: clock{c.w}, Go: machine{c.w}.Go, Random: random.Int64N,
			Log: func(line string) {
				if c.note("client %s", line); strings.Contains(line, "of a connection that is gone") {
					c.inbox.dropped[c.w.now()] = true
				}
			},
		}
		if c.faults.tools {
			options.Tools = c.tool.list()
		}
		s, err := sdk.New(options)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		c.sdk = s
		connected := false
		c.w.add(0, func() {
			g.Expect(s.Connect(context.Background())).To(gomega.Succeed())
			connected = true
		})
		if !c.w.run(time.Minute, func() bool { return connected && s.Snapshot().State == sdk.Listening }) {
			wrong = append(wrong, "the call does not begin: "+s.Snapshot().State.String())
		} else {
			wrong = c.converse()
		}
		ended := false
		c.w.add(0, func() { _ = s.Close(context.Background()); ended = true })
		c.w.run(time.Minute, func() bool { return ended })
		for _, s := range c.servers {
			c.w.run(time.Minute, s.isOver)
			s.session.Close(conn.ByClient)
			c.w.run(time.Minute, s.isOver)
		}
		wrong = append(wrong, c.alarm.all...)
	})
	return c, wrong
}

// converse plays the user, lets the call come to rest, and compares what was heard with what the model is told.
func (c *call) converse() (wrong []string) {
	over := false
	c.w.add(0, func() { c.user(); over = true })
	c.w.run(10*time.Minute, func() bool { return over })
	if !over {
		return []string{"the user's actions do not end"}
	}
	if !c.rests() {
		return []string{"the call does not come to rest: " + c.sdk.Snapshot().State.String()}
	}
	c.w.add(0, func() { _ = c.sdk.SendText("sum up") })
	c.w.run(5*time.Second, func() bool {
		told, _ := c.model.messages()
		return strings.Contains(textOf(told, "user"), "sum up")
	})
	told, newest := c.model.messages()
	for _, m := range told {
		c.note("the model is told: %s: %q %+v %+v", m.Role, m.Text, m.Call, m.Result)
	}
	if !c.rests() {
		return []string{"the last answer does not end: " + c.sdk.Snapshot().State.String()}
	}
	return c.judge(told, newest)
}

// rests waits until nobody speaks and nothing is under way for two seconds.
func (c *call) rests() bool {
	since := c.w.now()
	return c.w.run(3*time.Minute, func() bool {
		shown := c.sdk.Snapshot()
		if shown.State != sdk.Listening || shown.Predicted || c.server.session.Turns() > 0 || c.server.output.Buffered() > 0 || c.person.speaking() || c.tool.busy() {
			since = c.w.now()
		}
		return c.w.now()-since > 2*time.Second
	})
}

// user does what the seed says.
func (c *call) user() {
	ctx := context.Background()
	chance := c.w.source("user")
	wait := func(from, to time.Duration) { _ = c.w.pause(ctx, chance.between(from, to)) }
	for n := range 3 + chance.number(8) {
		wait(0, 5*time.Second)
		switch chance.number(15) {
		case 0, 1, 2, 3:
			words := fmt.Sprintf("u%02d", n)
			c.tell("the user says %s", words)
			from := c.w.now()
			c.person.say(scripted.Tones(words))
			for c.person.speaking() {
				wait(20*time.Millisecond, 21*time.Millisecond)
			}
			c.said = append(c.said, said{words, true, from, c.w.now()})
			if chance.chance(70) {
				wait(time.Second, 3*time.Second)
			}
		case 4:
			c.tell("the user coughs")
			c.person.say(scripted.Tones("a")[:24*(60+chance.number(150))])
		case 5:
			c.write("t", n)
		case 6:
			c.tell("the user presses stop")
			if c.sdk.Snapshot().State == sdk.AgentSpeaking {
				c.stops = append(c.stops, stop{c.w.now(), c.person.hears(c.w.now())})
			}
			_ = c.sdk.Interrupt()
		case 7:
			c.tell("the user closes the microphone, and opens it again")
			c.sdk.SetMuted(true)
			c.person.say(scripted.Tones(fmt.Sprintf("x%02d", n)))
			wait(time.Second, 3*time.Second)
			c.sdk.SetMuted(false)
		case 8:
			eagerness := []string{"low", "medium", "high"}[chance.number(3)]
			c.tell("the page sets semantic turns, eagerness %s", eagerness)
			c.update(sdk.TurnDetection{Semantic: true, Eagerness: eagerness})
		case 9:
			silence := chance.between(300*time.Millisecond, 900*time.Millisecond)
			c.tell("the page sets turns that end after %v", silence)
			c.update(sdk.TurnDetection{Silence: silence})
		case 10, 11:
			c.lose(chance, n)
		case 12, 13:
			c.end(chance, n)
		case 14:
			if c.controller != nil {
				c.controller.acts(chance, n)
			}
		}
	}
}

// write lets the user write a message.
func (c *call) write(kind string, n int) {
	words := fmt.Sprintf("%s%02d", kind, n)
	c.tell("the user writes %s", words)
	if c.sdk.SendText(words) == nil {
		c.said = append(c.said, said{text: words})
	}
}

// listened is what the ear got of an answer: up to which millisecond at full level, and at any level.
type listened struct {
	full, any int
	last      time.Duration // when
	once      [64_000]bool  // by millisecond: it was heard at full level
}

// listened returns what the ear got, by answer. It complains of what was heard twice.
func (c *call) listened(complain func(string, ...any)) map[int]*listened {
	all := map[int]*listened{}
	for _, h := range c.person.ear {
		l := all[h.answer]
		if l == nil {
			l = &listened{}
			all[h.answer] = l
		}
		l.any, l.last = max(l.any, h.to), h.at
		for _, s := range c.stops {
			if c.faults.synthesizer { // in a pause of the agent the client takes the answer for ended, until the server knows of the stop
				s.at += 500 * time.Millisecond
			}
			if began := h.at - time.Duration(h.to-h.from)*time.Millisecond; s.answer == h.answer && h.at > s.at+40*time.Millisecond {
				complain("the user stopped answer %d at %v and hears %d ms of it until %v", h.answer, s.at, (h.at - max(began, s.at)).Milliseconds(), h.at)
			}
		}
		if h.gain != 1 {
			continue
		}
		twice := 0
		for ms := h.from; ms < h.to; ms++ {
			if l.once[ms] {
				twice++
			}
			l.once[ms] = true
		}
		if twice > c.uncertain(h.at-time.Duration(h.to-h.from)*time.Millisecond) {
			complain("%d ms of answer %d are heard twice, from %d ms on", twice, h.answer, h.from)
		}
		l.full = max(l.full, h.to)
	}
	return all
}

// uncertain returns how many milliseconds of sound the server may count wrongly at a moment: 40, and more after a cut of the network, since the server cannot know
// what the user heard of the last second before it.
func (c *call) uncertain(at time.Duration) int {
	most := 40
	for _, cut := range c.cuts {
		if since := at - cut.at; since > -time.Second && since < 6*time.Second {
			most = max(most, cut.unsure)
		}
	}
	return most
}

const (
	noticed  = time.Second            // how long the network is cut before both ends notice
	shortCut = 300 * time.Millisecond // the server notices afterwards that packets of the client are missing for so long (Peer.wasCut)
)

// lose cuts the network for a while.
func (c *call) lose(chance *source, n int) {
	ctx, length := context.Background(), chance.between(100*time.Millisecond, 4*time.Second)
	c.tell("the network is cut for %v", length)
	net, p := c.network, c.peer
	k := p.connection
	c.cuts = append(c.cuts, cut{c.w.now(), 1000})
	if length < noticed {
		c.cuts[len(c.cuts)-1].unsure = max(1000, int((length + 2*net.media + shortCut).Milliseconds()))
	}
	net.unnoticed = length < shortCut
	net.set(true)
	if chance.chance(20) {
		c.write("c", n)
	}
	_ = c.w.pause(ctx, min(length, noticed))
	lost := length >= noticed
	if lost {
		k.isCut(noticed + shortCut)
		p.tell(sdk.PeerLost{})
		_ = c.w.pause(ctx, length-noticed)
	}
	net.set(false)
	if lost {
		p.tell(sdk.PeerRestored{})
		k.isBack()
	} else if length >= shortCut {
		k.isCut(length + 2*net.media + shortCut)
		k.isBack()
	}
}

// end ends the connection for good, or kills the server, if the seed has this fault.
func (c *call) end(chance *source, n int) {
	if (c.faults.kill || c.faults.breaks) && chance.chance(50) { // the end comes while the server acts on it
		c.write("w", n)
		_ = c.w.pause(context.Background(), chance.between(0, 700*time.Millisecond))
	}
	switch {
	case c.faults.kill && chance.chance(70):
		c.tell("the server is killed")
		c.server.kill()
	case c.faults.breaks:
		c.tell("the connection breaks")
		c.network.unnoticed = false
		c.network.set(true)
	default:
		c.tell("nothing happens")
		return
	}
	c.cuts, c.ends = append(c.cuts, cut{c.w.now(), 1000}), append(c.ends, c.w.now())
	net, p := c.network, c.peer
	if chance.chance(60) {
		_ = c.w.pause(context.Background(), chance.between(0, 100*time.Millisecond))
		c.write("b", n)
	}
	_ = c.w.pause(context.Background(), chance.between(100*time.Millisecond, 2*time.Second))
	net.unnoticed = false
	net.set(true)
	p.tell(sdk.PeerBroken{})
	if k := p.connection; chance.chance(50) {
		k.isCut(0)
	}
}

// unclear reports whether spoken words may be missing in what the model is told: the recogniser failed, sound was lost on its way to it, or a connection or a server ended.
func (c *call) unclear(words said) bool {
	if !words.spoken {
		return false
	}
	for _, end := range c.ends {
		if end > words.from && end < words.to+4*time.Second || words.from > end && words.from < end+10*time.Second {
			return true
		}
	}
	return c.faults.lossUp || c.hears.lost[words.text]
}

// endsSoonAfter reports whether a connection or a server ended before the server could know that nothing of an answer was heard any more.
func (c *call) endsSoonAfter(l *listened) bool {
	return l != nil && slices.ContainsFunc(c.ends, func(end time.Duration) bool { return end >= l.last && end < l.last+200*time.Millisecond })
}

// update changes when turns end.
func (c *call) update(d sdk.TurnDetection) {
	if err := c.sdk.Update(sdk.Patch{TurnDetection: &d}); err != nil {
		c.alarm.all = append(c.alarm.all, err.Error())
	}
}

// judge compares what was heard with what the model is told for the answer with that number.
func (c *call) judge(told []pipeline.Message, asked int) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	user := textOf(told, "user")
	if strings.Contains(user, "x0") {
		complain("the model is told what was said to a closed microphone: %s", user)
	}
	for _, words := range c.said {
		if n := strings.Count(user, words.text); n != 1 && (n > 0 || !c.unclear(words)) {
			complain("the model is told %d times what the user said: %s", n, words.text)
		}
	}
	c.tool.judge(told, complain)
	c.inbox.judge(complain)
	if c.controller != nil {
		c.controller.got.rest(complain)
	}
	toldWords := map[int]int{} // by answer
	for _, w := range wordsIn(textOf(told, "assistant")) {
		if w.at != toldWords[w.answer] {
			complain("the model is told word %d of answer %d where word %d follows", w.at, w.answer, toldWords[w.answer])
		}
		toldWords[w.answer] = w.at + 1
	}
	ears := c.listened(complain)
	if stopped := c.faults.plain && c.peer.gain == 0; c.peer.gain != 1 && !stopped { // without our extensions the client is silent from a stop to the next answer
		complain("the agent is left at gain %.2f", c.peer.gain)
	}
	for answer, words := range toldWords {
		ms := 0
		if heard := ears[answer]; heard != nil {
			ms = heard.any
		}
		for _, h := range c.person.missed {
			if h.answer == answer {
				ms = max(ms, h.to)
			}
		}
		if c.synthesizer.failed(answer) {
			ms += 2 * wordMS // how much of its last clause was spoken is an estimate
		}
		if c.faults.lateEvents || c.faults.plain {
			ms += 500 // the client says too late, or not at all, what was heard
		}
		if c.faults.lateEvents && c.faults.plain {
			ms += 100 // the stop is late, and nothing says what was heard before it
		}
		// The next server takes for heard what the former one had sent last (heardEvery in internal/call/survival): the last sounds of an answer, and those after a stop
		// of which the former one was not told.
		if len(c.servers) > 1 && (words == c.model.lengths[answer] || c.endsSoonAfter(ears[answer])) {
			ms += 500
		}
		if words*wordMS > ms+wordMS/2 {
			complain("the model is told %d words of answer %d, of which %d ms were heard", words, answer, ms)
		}
	}
	for answer, heard := range ears {
		unsure := c.uncertain(heard.last)
		if c.synthesizer.failed(answer) {
			unsure = max(unsure, 2*wordMS)
		}
		if words := (heard.full - unsure) / wordMS; toldWords[answer] < words && answer < asked {
			complain("%d words of answer %d were heard, and the model is told %d", words, answer, toldWords[answer])
		}
	}
	return wrong
}
