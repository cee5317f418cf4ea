package noisebench

// This file lets the person begin a second sentence when the agent begins to answer the first one.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/sdk"
)

// instant is one row of the table of talk-over: the sentences that began so long after the agent.
type instant struct {
	name        string
	least, most time.Duration // after the begin of the agent

	all, heard   int
	both         []time.Duration // how long both spoke
	wrong, words int             // of both sentences
}

// talkOver is what a pair of sentences has shown, by the clock of the microphone. 0 is something that did not happen.
type talkOver struct {
	end   time.Duration // of the first sentence
	agent time.Duration // the agent begins to answer it
	begin time.Duration // of the second sentence
	heard time.Duration // the server says that the person speaks
	wrong int           // words of both sentences
	words int
}

// measureTalkOver says pairs of sentences. The second one begins before, with, or after the agent's answer to the first one.
func (c *overCall) measureTalkOver(b *testing.B, said []human.Sentence) {
	rows := []*instant{
		{name: "the user, by up to 100 ms", least: -sameInstant},
		{name: "the agent, by up to 100 ms", most: sameInstant},
		{name: "the agent, by 100 to 400 ms", least: sameInstant, most: 4 * sameInstant},
		{name: "the agent, by about 1 s", least: time.Second - 2*sameInstant, most: time.Second + 4*sameInstant},
	}
	silent, other := 0, 0
	said = slices.DeleteFunc(slices.Clone(said), func(p human.Sentence) bool { return strings.Contains(p.Text, "(") }) // the text is not all that is said
	some := human.Sentences(said, 2*overPairs)
	var leads []time.Duration // from the last sound of each first sentence to the agent's answer
	for i := 0; i+1 < len(some); i += 2 {
		lead := overLead
		if len(leads) > 0 {
			lead = figures.Percentile(leads, 50)
		}
		wait := []time.Duration{lead + time.Second, lead - sameInstant, lead - sameInstant/2, lead, lead + sameInstant/2, lead + 2*sameInstant}[i/2%6]
		p, err := c.pair(b.Context(), some[i], some[i+1], wait)
		if err != nil {
			b.Fatal(err)
		}
		if p.agent == 0 {
			silent++
			continue
		}
		leads = append(leads, p.agent-p.end)
		if row := rowOf(rows, p.begin-p.agent); row != nil {
			row.add(p)
		} else {
			other++
		}
	}
	for _, r := range rows {
		b.Run("begins first/"+r.name, func(b *testing.B) {
			figures.Count(b, "pairs", r.all)
			figures.Share(b, "heard", r.heard, r.all)
			figures.Times(b, "both-speak", r.both, 50, 100)
			figures.Share(b, "wrong-words", r.wrong, r.words)
		})
	}
	b.Logf("In %d pairs the agent did not begin, because the user had begun. %d pairs belong to no row.", silent, other)
}

func rowOf(rows []*instant, late time.Duration) *instant {
	for _, r := range rows {
		if late >= r.least && late < r.most {
			return r
		}
	}
	return nil
}

func (r *instant) add(p talkOver) {
	r.all++
	r.wrong += p.wrong
	r.words += p.words
	if p.heard > 0 {
		r.heard++
		r.both = append(r.both, p.heard-max(p.begin, p.agent))
	}
}

// pair says two sentences to a silent agent, the second one so long after the last sound of the first one.
func (c *overCall) pair(ctx context.Context, first, second human.Sentence, wait time.Duration) (p talkOver, err error) {
	if err := c.silence(ctx); err != nil {
		return p, err
	}
	heard := len(c.said())
	if _, p.end, err = c.say(first.PCM); err != nil {
		return p, err
	}
	for c.mic.now() < p.end+wait {
		if err := pause(ctx, overPoll); err != nil {
			return p, err
		}
	}
	begin, end, err := c.say(second.PCM)
	if err != nil {
		return p, err
	}
	p.begin = begin
	p.agent, _ = c.changesTo(ctx, p.end, sdk.AgentSpeaking)
	if p.agent > end {
		p.agent = 0 // it answers both sentences at once
	}
	p.heard, _ = c.changesTo(ctx, max(p.begin, p.agent), sdk.UserSpeaking)
	if _, ok := c.changesTo(ctx, end, sdk.AgentSpeaking); !ok {
		return p, fmt.Errorf("%s: no answer", second.Name)
	}
	p.wrong, p.words = human.WrongWords(first.Text+" "+second.Text, strings.Join(c.said()[heard:], " "))
	return p, nil
}

// silence ends what the agent says, and waits until nobody has spoken for a while.
func (c *overCall) silence(ctx context.Context) error {
	limit := c.mic.now() + overStart
	for c.mic.now() < limit {
		now, since := c.state()
		if now == sdk.Listening && c.mic.now() >= since+overLeads {
			return nil
		}
		if now == sdk.AgentSpeaking {
			if err := c.Interrupt(); err != nil {
				return err
			}
		}
		if err := pause(ctx, 20*overPoll); err != nil {
			return err
		}
	}
	return errors.New("the agent does not stop")
}

// said returns the texts of the person.
func (c *overCall) said() (texts []string) {
	for _, e := range c.Snapshot().Transcript {
		if e.Role == sdk.User {
			texts = append(texts, e.Text)
		}
	}
	return texts
}
