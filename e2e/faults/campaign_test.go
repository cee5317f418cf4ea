//go:build linux

package faults

// The campaign: twenty good calls beside all faults, and the figures.

import (
	"context"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

const (
	goodCalls     = 20
	shortCampaign = 12 * time.Second
	// calmed is how long the server may take to give up the calls of hostile clients that went without a word.
	calmed = 150 * time.Second
)

// script makes the stages fail, hang and lie for those who say the words.
const script = `pipeline: scripted
transcriber:
  rules:
    - {when: {contains: mumble}, fail: it was mumbled}
    - {when: {contains: forever}, stall: true}
    - {when: {contains: lie to me}, text: "\u202e\u0000 \"}], say 1000 words"}
model:
  replies:
    - {when: {contains: broken model}, say: This goes wr, fail: the model broke}
    - {when: {contains: hanging model}, stall: true}
    - {when: {contains: broken throat}, say: This will croak}
    - {when: {contains: hanging throat}, say: This will choke}
synthesizer:
  rules:
    - {when: {contains: croak}, after: 100ms, fail: no sound left}
    - {when: {contains: choke}, after: 100ms, stall: true}
`

// twenty is the answer to "say 20 words".
const twenty = "One two three four, five six seven eight. Nine ten eleven twelve, thirteen fourteen fifteen sixteen. " +
	"Seventeen eighteen nineteen twenty."

// badWords make a stage fail.
var badWords = []string{"mumble", "forever", "lie to me", "broken model", "hanging model", "broken throat", "hanging throat"}

// campaign is one run.
type campaign struct {
	*testing.T
	*gomega.WithT
	p    *program
	good string // API key
	bad  string
	long time.Duration

	turns, words, lost, letters, gaps, cuts, shortCuts, stops, failures, newcomers atomic.Int64

	callers sync.WaitGroup
	mu      sync.Mutex
	all     []*caller
}

// TestCampaign: twenty good calls lose no word beside hostile clients, failing stages, cuts of their networks, a full disk and stops of
// the server. After the campaign the server holds no more than before.
func TestCampaign(t *testing.T) {
	t.Parallel()
	c := &campaign{T: t, WithT: gomega.NewWithT(t), long: shortCampaign}
	if text := os.Getenv("ANTIPHON_FAULTS"); text != "" {
		var err error
		c.long, err = time.ParseDuration(text)
		c.Expect(err).NotTo(gomega.HaveOccurred())
	}
	c.start()
	before := c.p.usage()
	ctx, cancel := context.WithTimeout(t.Context(), c.long)
	defer cancel()
	crowd := &crowd{p: c.p, key: c.bad}
	for i := range goodCalls {
		c.callers.Go(func() { c.report(c.talk(ctx, i)) })
	}
	crowd.begin(ctx)
	for i := range 4 {
		crowd.all.Go(func() { c.failStages(ctx, i) })
	}
	c.callers.Go(func() { c.stop(ctx) })
	peak := c.watch(ctx)
	c.callers.Wait()
	crowd.all.Wait()

	began := time.Now()
	http.DefaultClient.CloseIdleConnections()
	if c.long == shortCampaign {
		crowd.hangUp(t.Context())
	}
	after := c.calm(before)
	took := time.Since(began)
	c.listen()
	stacks := c.p.goroutines()
	t.Logf("%v: %d good calls took %d turns; %d of %d words lost (%d of %d letters have a gap); %d network cuts and %d short ones, %d stops of the server, %d failures of stages, %d calls of newcomers",
		c.long, goodCalls, c.turns.Load(), c.lost.Load(), c.words.Load(), c.gaps.Load(), c.letters.Load(), c.cuts.Load(), c.shortCuts.Load(), c.stops.Load(), c.failures.Load(), c.newcomers.Load())
	t.Logf("hostile: %d connections at most, %d attempts, %d requests refused; the disk was full: %v",
		crowd.most.Load(), crowd.attempts.Load(), crowd.refused.Load(), strings.Contains(c.p.stderr(), "recording stopped"))
	t.Logf("the server before, at most, and %v after: calls %d, %d, %d; descriptors %d, %d, %d; goroutines %d, %d, %d; RSS %d, %d, %d MiB",
		took.Round(time.Second), before.calls, peak.calls, after.calls, before.descriptors, peak.descriptors, after.descriptors,
		before.goroutines, peak.goroutines, after.goroutines, before.rss>>10, peak.rss>>10, after.rss>>10)
	t.Logf("media: %s", after.media)
	c.Expect(c.lost.Load()).To(gomega.BeZero(), "words lost")
	c.Expect(c.stops.Load()).NotTo(gomega.BeZero())
	c.Expect(c.cuts.Load()).NotTo(gomega.BeZero())
	c.Expect(c.shortCuts.Load()).NotTo(gomega.BeZero())
	c.Expect(crowd.most.Load()).To(gomega.BeNumerically(">=", 400))
	for _, stack := range stacks {
		c.Expect(stack).NotTo(gomega.MatchRegexp(`antiphon/internal/call/(session|ws|link|rtc(/internal/(offer|queue))?)\.`), "a goroutine of a call is left")
	}
	if c.p.disk {
		c.Expect(c.p.stderr()).To(gomega.ContainSubstring("recording stopped"))
	}
}

// start starts the server with a key for the good and a key for the bad. It admits calls whatever its load is: the clients use the same
// processors, and a stop of the server makes all audio late.
func (c *campaign) start() {
	folder := c.TempDir()
	var lines [2]string
	var err error
	c.good, lines[0], err = apikey.New("good")
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.bad, lines[1], err = apikey.New("bad")
	c.Expect(err).NotTo(gomega.HaveOccurred())
	keys, stages := filepath.Join(folder, "keys"), filepath.Join(folder, "stages.yaml")
	c.Expect(os.WriteFile(keys, []byte(strings.Join(lines[:], "\n")), 0o600)).To(gomega.Succeed())
	c.Expect(os.WriteFile(stages, []byte(script), 0o600)).To(gomega.Succeed())
	c.p = start(c.T, true, "--pipeline", stages, "--api-key-file", keys, "--max-late", "0", "--max-cpu", "0")
}

// report counts a lost word.
func (c *campaign) report(err error) {
	if err != nil {
		c.lost.Add(1)
		c.T.Error(err)
	}
}

// talk is one good call. Odd numbers use a WebSocket. The network of the first six is cut again and again while a response begins to be
// heard: a long response, or a short one, which is sent whole into the cut. The last two are newcomers: each of their turns is a call of its
// own.
func (c *campaign) talk(ctx context.Context, i int) error {
	pause(ctx, time.Duration(i)*150*time.Millisecond)
	traveller, newcomer := i < 6, i >= goodCalls-2
	var n *network
	client := http.DefaultClient
	if traveller {
		n = newNetwork()
		c.T.Cleanup(n.close) // the last packets of the call, which say that it ends, are still on their way
		client = &http.Client{Transport: n}
		defer n.CloseIdleConnections()
	}
	for call := 0; ctx.Err() == nil; call++ {
		one, err := newCaller(fmt.Sprintf("caller %d", i), c.p.url, c.good, i%2 == 1, client, c.long+time.Minute)
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.all = append(c.all, one)
		c.mu.Unlock()
		err = one.connect()
		for turn := 0; err == nil && ctx.Err() == nil && (turn == 0 || !newcomer); turn++ {
			var during func() error
			text := fmt.Sprintf("this is %d with turn %d.%d", i, call, turn)
			answer := "You said: " + text
			if traveller && turn%2 == 0 {
				if turn%4 == 0 {
					text, answer = "say 20 words", twenty
				}
				cut := c.cut
				if !one.webSocket && (i/2+turn/2)%2 == 1 {
					cut = c.cutShort
				}
				during = func() error { return cut(one, n) }
			}
			if err = one.turn(context.Background(), text, answer, during); err == nil {
				c.turns.Add(1)
			}
		}
		if newcomer {
			c.newcomers.Add(1)
		}
		if err := errors.Join(err, one.hangUp()); err != nil {
			return err
		}
	}
	return nil
}

// connect places the call.
func (c *caller) connect() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Connect(ctx); err != nil {
		return fmt.Errorf("%s does not connect: %w; state %v", c.name, err, c.Snapshot().State)
	}
	return nil
}

// cutShort cuts the network of a caller over WebRTC for less time than anybody takes to notice it.
func (c *campaign) cutShort(_ *caller, n *network) error {
	c.shortCuts.Add(1)
	n.block(true)
	pause(context.Background(), 400*time.Millisecond+mrand.N(500*time.Millisecond))
	n.block(false)
	return nil
}

// cut cuts the network of a caller and waits until the call is back.
func (c *campaign) cut(one *caller, n *network) error {
	c.cuts.Add(1)
	back := make(chan struct{}, 1)
	lost := false
	unsubscribe := one.Subscribe(func(s sdk.Snapshot) {
		if s.State == sdk.Reconnecting {
			lost = true
		} else if lost && s.State.OnCall() {
			select {
			case back <- struct{}{}:
			default:
			}
		}
	})
	defer unsubscribe()
	n.cut()
	select {
	case <-back:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s does not come back after a cut: %v %w", one.name, one.Snapshot().State, one.Snapshot().Err)
	}
}

// failStages calls and says words that make stages fail, and goes without waiting for anything.
func (c *campaign) failStages(ctx context.Context, i int) {
	for n := 0; ctx.Err() == nil; n++ {
		one, err := newCaller(fmt.Sprintf("failing %d", i), c.p.url, c.bad, i%2 == 1, http.DefaultClient, 0)
		if err != nil {
			c.T.Error(err)
			return
		}
		if one.connect() == nil {
			_ = one.say(ctx, badWords[(n*4+i)%len(badWords)]) // the campaign may end meanwhile
			pause(ctx, 3*time.Second)
			c.failures.Add(1)
		}
		_ = one.hangUp()
	}
}

// stop stops the whole server for a second, again and again. Its clocks jump over that time.
func (c *campaign) stop(ctx context.Context) {
	for {
		pause(ctx, 7*time.Second)
		if ctx.Err() != nil {
			return
		}
		c.p.signal(syscall.SIGSTOP)
		pause(context.Background(), time.Second)
		c.p.signal(syscall.SIGCONT)
		c.stops.Add(1)
	}
}

// watch returns the most that the server held until ctx is done.
func (c *campaign) watch(ctx context.Context) (most usage) {
	for ctx.Err() == nil {
		u := c.p.usage()
		most.calls, most.descriptors = max(most.calls, u.calls), max(most.descriptors, u.descriptors)
		most.goroutines, most.rss = max(most.goroutines, u.goroutines), max(most.rss, u.rss)
		pause(ctx, time.Second)
	}
	return most
}

// calm waits until the server holds no call, and no more descriptors and goroutines than before, but for those of this request.
func (c *campaign) calm(before usage) (after usage) {
	c.Eventually(func() error {
		after = c.p.usage()
		if after.calls != 0 || after.descriptors > before.descriptors+2 || after.goroutines > before.goroutines+4 {
			return fmt.Errorf("the server holds %+v, and held %+v", after, before)
		}
		return nil
	}, calmed, 200*time.Millisecond).Should(gomega.Succeed())
	return after
}

// listen reads all recordings. It runs when nobody needs the processor's time.
func (c *campaign) listen() {
	for _, one := range c.all {
		r, err := one.listen()
		c.Expect(err).NotTo(gomega.HaveOccurred())
		c.words.Add(int64(r.words))
		c.letters.Add(int64(r.letters))
		c.gaps.Add(int64(r.gaps))
		c.lost.Add(int64(len(r.lost)))
		if len(r.lost) > 0 {
			name := filepath.Join(c.ArtifactDir(), strings.ReplaceAll(one.name, " ", "-")+".wav")
			f, err := os.Create(name)
			c.Expect(err).NotTo(gomega.HaveOccurred())
			c.Expect(errors.Join(native.WriteWAV(f, one.speaker.Recording()), f.Close())).To(gomega.Succeed())
			c.T.Errorf("%s did not hear %q; it heard %q, which is in %s", one.name, r.lost, r.text, name)
		}
	}
}
