package noisebench

// This file measures turn-taking by the definitions of tau-voice, and prints its table.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

var (
	panelEvents  = flag.Int("events", 104, "how many sounds of each kind BenchmarkTurns has under each condition")
	panelReport  = flag.Bool("report", false, "BenchmarkTurns says the prompts n to z, and not a to m")
	panelBeside  = flag.Int("calls", 10, "how many calls BenchmarkTurns holds at a time")
	panelClients = flag.String("clients", "antiphon,plain", "the clients of BenchmarkTurns")
	panelWrong   = flag.Bool("wrong", false, "BenchmarkTurns lists what is judged wrong")
	panelOnly    = flag.String("conditions", "", "a word in the names of the conditions of BenchmarkTurns; empty for all")
)

// The windows of tau-voice (docs/interaction-metrics.md of sierra-research/tau2-bench).
const (
	tick        = 200 * time.Millisecond
	yieldWindow = 10 // ticks
	errorWindow = 5  // ticks
	perCall     = 8  // sounds of each kind in one call
)

// panelCondition is what is between the user and the server.
type panelCondition struct {
	name  string
	noise float64 // the noise is so many dB below the user; 0 for none
	law   bool    // G.711 both ways
	link  rig.Link
}

func panelConditions() []panelCondition {
	near := rig.Link{RTT: 40 * time.Millisecond}
	return []panelCondition{
		{name: "clean", link: near},
		{name: "noise 15 dB", noise: 15, link: near},
		{name: "noise 10 dB", noise: 10, link: near},
		{name: "G.711", law: true, link: near},
		{name: "2 % loss, 60 ms jitter", link: rig.Link{RTT: 40 * time.Millisecond, Loss: 0.02, Jitter: 60 * time.Millisecond}},
	}
}

// panel has the figures of tau-voice, and the silence itself.
type panel struct {
	events, right [kinds]int
	yields        []time.Duration // in ticks
	silent        []time.Duration // from the begin of an interruption to the silence, as heard
	turns         int             // of the user, that need an answer
	answers       []time.Duration // in ticks
	answered      []time.Duration // as heard
	cutIn         int             // the agent begins while the user speaks
	gap           [kinds][]time.Duration
	wrong         []string
}

// add judges an event.
func (p *panel) add(e heardEvent) {
	ticks := make([]bool, int((e.until-e.from)/tick)+1) // the agent sounds
	got := make([]bool, len(ticks))                     // a frame
	for _, h := range e.ear {
		k := int((h.at - e.from) / tick)
		got[k], ticks[k] = true, ticks[k] || h.level >= native.Audible
	}
	for k := 1; k < len(ticks); k++ {
		ticks[k] = ticks[k] || !got[k] && ticks[k-1] // this machine stood still
	}
	users := int((e.to - e.from + tick - 1) / tick) // ticks in which the user speaks
	if !e.open && ticks[0] {                        // the agent was not silent
		p.judge(e, ticks)
	}
	for k := 1; k < min(users, len(ticks)); k++ {
		if ticks[k] && !ticks[k-1] {
			p.cutIn++
		}
	}
	if e.kind != interruption || users > len(ticks) || ticks[users-1] {
		return // nothing to answer, or the agent goes on
	}
	p.turns++
	for _, h := range e.ear {
		if k := int((h.at - e.from) / tick); k >= users && h.level >= native.Audible {
			p.answers = append(p.answers, time.Duration(k-users)*tick)
			p.answered = append(p.answered, h.at-e.to)
			break
		}
	}
}

// judge judges an event over the agent.
func (p *panel) judge(e heardEvent, ticks []bool) {
	window := errorWindow
	if e.kind == interruption {
		window = yieldWindow
	}
	at := slices.Index(ticks[:min(window, len(ticks))], false)
	p.events[e.kind]++
	silent, gap := silence(e)
	p.gap[e.kind] = append(p.gap[e.kind], gap)
	if right := (at >= 0) == (e.kind == interruption); right {
		p.right[e.kind]++
	} else {
		p.wrong = append(p.wrong, fmt.Sprintf("%v: %q, %v to %v", e.kind, e.text, silent.Round(time.Millisecond), (silent+gap).Round(time.Millisecond)))
	}
	if e.kind == interruption && at >= 0 {
		p.yields = append(p.yields, time.Duration(at)*tick)
		p.silent = append(p.silent, silent)
	}
}

// silence returns when the first silence of turnsPause begins after the begin of an event, and how long the ear got no sound in the second from the begin on.
func silence(e heardEvent) (from, gap time.Duration) {
	run, found := 0, false
	for _, h := range e.ear {
		if h.level >= native.Audible {
			run = 0
			continue
		}
		if run++; !found && time.Duration(run)*nativeFrame >= turnsPause {
			found, from = true, h.at-e.from-time.Duration(run-1)*nativeFrame
		}
		if h.at < e.from+time.Second {
			gap += nativeFrame
		}
	}
	return from, gap
}

func mean(all []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(max(1, len(all)))
}

// row returns the line of the table.
func (p *panel) row(name string) string {
	share := func(k kind) string { return fmt.Sprintf("%.2f", float64(p.right[k])/float64(max(1, p.events[k]))) }
	turns := float64(max(1, p.turns))
	return fmt.Sprintf("| %s | %.2f | %.2f | %.2f | %s | %.2f | %s | %s | %s | %v |", name, mean(p.answers).Seconds(), mean(p.yields).Seconds(),
		float64(len(p.answers))/turns, share(interruption), float64(p.cutIn)/turns, share(acknowledgement), share(vocalTic), share(nonDirected), p.events)
}

// panelHead is the head of the table, and the published figures of others: the means of three domains of tau-voice, whose material is another.
const panelHead = `
| | answer s | yields after s | answers | yields | cuts in | acknowledgements ignored | coughs, "um" ignored | side talk ignored | events |
|---|---|---|---|---|---|---|---|---|---|
| gpt-realtime-1.5, published | 1.39 | 0.42 | | 1.00 | .14 | .02 | .05 | .10 | |
| gpt-realtime-2, published | 1.96 | 0.62 | | 1.00 | .21 | .04 | .12 | .18 | |
| gpt-live-1, published | 2.54 | 1.08 | | .36 | .22 | .99 | .59 | .46 | |
| Grok voice 2.0, published | 1.71 | 0.94 | | .97 | .11 | .47 | .33 | .28 | |
| LiveKit cascade, published | 4.24 | 0.87 | | .99 | .64 | .67 | .49 | .58 | |
`

// BenchmarkTurns holds calls side by side under each condition, and prints the figures of tau-voice beside those of others.
func BenchmarkTurns(b *testing.B) {
	url := serve(b, ears(b), true)
	sounds := sayings(b, *panelReport)
	if testing.Short() {
		*panelEvents, *panelOnly = perCall, "clean"
	}
	var table strings.Builder
	for client := range strings.SplitSeq(*panelClients, ",") {
		all := &panel{}
		for _, c := range panelConditions() {
			if !strings.Contains(c.name, *panelOnly) {
				continue
			}
			b.Run(client+"/"+c.name, func(b *testing.B) {
				p, err := measureTurns(b.Context(), url, c, client == "antiphon", sounds)
				if err != nil {
					b.Fatal(err)
				}
				p.report(b)
				fmt.Fprintln(&table, p.row(client+", "+c.name))
				all.merge(p)
			})
		}
		fmt.Fprintln(&table, all.row("**"+client+", all**"))
	}
	fmt.Print(panelHead, table.String())
}

// measureTurns holds the calls of one condition.
func measureTurns(ctx context.Context, url string, c panelCondition, predicts bool, sounds repertoire) (*panel, error) {
	p, calls := &panel{}, make(chan int)
	var mu sync.Mutex
	var failed error
	var workers sync.WaitGroup
	for range *panelBeside {
		workers.Go(func() {
			for n := range calls {
				events, err := oneCall(ctx, url, c, predicts, n, sounds)
				mu.Lock()
				failed = errors.Join(failed, err)
				for _, e := range events {
					p.add(e)
				}
				mu.Unlock()
			}
		})
	}
	for n := range *panelEvents / perCall {
		calls <- n
	}
	close(calls)
	workers.Wait()
	return p, failed
}

func oneCall(ctx context.Context, url string, c panelCondition, predicts bool, n int, sounds repertoire) (events []heardEvent, err error) {
	call, end, err := newPanelCall(url, c, predicts, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	return call.hold(ctx, sounds, perCall)
}

func (p *panel) report(b *testing.B) {
	for k := range kinds {
		figures.Count(b, k.String()[:4]+"-events", p.events[k])
		figures.Share(b, k.String()[:4]+"-right", p.right[k], p.events[k])
		b.ReportMetric(float64(mean(p.gap[k]).Milliseconds()), k.String()[:4]+"-silent-ms")
	}
	figures.Times(b, "silent-after", p.silent, 50, 95)
	figures.Times(b, "answered-after", p.answered, 50, 95)
	if *panelWrong {
		slices.Sort(p.wrong)
		fmt.Print("\n", strings.Join(p.wrong, "\n"), "\n")
	}
}

func (p *panel) merge(q *panel) {
	for k := range kinds {
		p.events[k] += q.events[k]
		p.right[k] += q.right[k]
		p.gap[k] = append(p.gap[k], q.gap[k]...)
	}
	p.yields, p.silent = append(p.yields, q.yields...), append(p.silent, q.silent...)
	p.answers, p.answered = append(p.answers, q.answers...), append(p.answered, q.answered...)
	p.turns, p.cutIn = p.turns+q.turns, p.cutIn+q.cutIn
}

// ear returns what the ear gets: sound in each tick with an x.
func ear(from time.Duration, ticks string) (all []earful) {
	for i, c := range ticks {
		for at := time.Duration(0); at < tick; at += nativeFrame {
			h := earful{from + time.Duration(i)*tick + at, -120}
			if c == 'x' {
				h.level = -30
			}
			all = append(all, h)
		}
	}
	return all
}

// Each event is judged by the windows of tau-voice.
func TestPanel(t *testing.T) {
	const from, s = 7 * time.Second, time.Second
	for name, row := range map[string]struct {
		kind         kind
		open         bool
		says         time.Duration
		ticks        string
		counts       int
		right        int
		yield        time.Duration
		turns, cutIn int
		answer       time.Duration
	}{
		"it yields, and answers":          {interruption, false, s, "xx.....xx", 1, 1, 2 * tick, 1, 0, 2 * tick},
		"it goes on":                      {interruption, false, s, "xxxxxxxxxxxx", 1, 0, 0, 0, 0, 0},
		"it yields too late":              {interruption, false, s, "xxxxxxxxxx..", 1, 0, 0, 0, 0, 0},
		"it begins again during the turn": {interruption, false, 2 * s, "x..x.......x", 1, 1, tick, 1, 1, tick},
		"it was silent":                   {interruption, false, s, ".......xx", 0, 0, 0, 1, 0, 2 * tick},
		"an acknowledgement is ignored":   {acknowledgement, false, s / 2, "xxxxx.xxx", 1, 1, 0, 0, 0, 0},
		"an acknowledgement stops it":     {acknowledgement, false, s / 2, "xxx.xxxxx", 1, 0, 0, 0, 0, 0},
		"a question to the silent agent":  {interruption, true, s, "......xxx", 0, 0, 0, 1, 0, tick},
		"it cuts in":                      {interruption, true, s, "...xxxxxx", 0, 0, 0, 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var p panel
			p.add(heardEvent{kind: row.kind, open: row.open, from: from, to: from + row.says, until: from + time.Duration(len(row.ticks))*tick, ear: ear(from, row.ticks)})
			g.Expect(p.events[row.kind]).To(gomega.Equal(row.counts))
			g.Expect(p.right[row.kind]).To(gomega.Equal(row.right))
			g.Expect(mean(p.yields)).To(gomega.Equal(row.yield))
			g.Expect([]int{p.turns, p.cutIn}).To(gomega.Equal([]int{row.turns, row.cutIn}))
			g.Expect(mean(p.answers)).To(gomega.Equal(row.answer))
		})
	}
}
