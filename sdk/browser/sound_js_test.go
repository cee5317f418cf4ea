package browser

// Tests of the sound of a call in a fake browser: levels, speech over the agent, ducking and muting.

import (
	"math"
	"runtime"
	"strconv"
	"syscall/js"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

// tone returns a JavaScript function that gives the fake worklet a sine of this amplitude.
func (p *page) tone(amplitude float64) js.Value {
	return js.Global().Get("Function").New("i", "return "+strconv.FormatFloat(amplitude, 'g', -1, 64)+" * Math.sin(i / 10)")
}

// worklet waits for the call's worklet and returns it.
func (p *page) worklet() js.Value {
	p.g.Eventually(func() int { return p.fake.Get("nodes").Length() }).Should(gomega.BeNumerically(">", 0))
	return p.last("nodes")
}

// listening places a call and returns it with the channel of its events about levels and speech. The test closes the call.
func (p *page) listening(o Options) (*peer, chan sdk.PeerEvent) {
	told := make(chan sdk.PeerEvent, 1000)
	o.Audio = p.audio
	called, err := New(o).Dial(p.t.Context(), sdk.CallConfig{}, func(e sdk.PeerEvent) {
		switch e.(type) {
		case sdk.LevelsMeasured, sdk.SpeechOnset, sdk.SpeechSustained, sdk.SpeechEnded, sdk.PositionPassed:
			told <- e
		}
	})
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.last("connections").Call("fire", "track", p.fake.Call("remote"))
	return called.(*peer), told
}

func TestLevelsAreMeasured(t *testing.T) {
	for _, rate := range []int{48000, 44100, 96000} {
		p := newPage(t)
		p.set("sampleRate", rate)
		call, told := p.listening(Options{URL: "https://voice.example/"})
		worklet := p.worklet()
		p.g.Expect(p.fake.Get("modules").Index(0).String()).To(gomega.Equal("https://voice.example/antiphon-worklet.js"))
		p.g.Expect(text(p.last("contexts"), "state")).To(gomega.Equal("running"))
		post := func(mic, agent float64) {
			for range 2*levelFrames + 1 {
				worklet.Call("post", p.tone(mic), p.tone(agent))
			}
		}
		measured := func() sdk.PeerEvent { // the detector may take so loud a tone for speech
			for {
				if levels, are := (<-told).(sdk.LevelsMeasured); are {
					return levels
				}
			}
		}
		// the power of a sine of 0.1 is -23 dBFS
		post(0.1, 0.1)
		measured() // begins with the silence before
		p.g.Expect(measured()).To(gomega.HaveField("Levels", gomega.And(
			gomega.HaveField("Mic", gomega.BeNumerically("~", 37./60, 0.02)),
			gomega.HaveField("Agent", gomega.BeNumerically("~", 37./60, 0.02)))), "%d Hz", rate)
		call.SetMuted(true)
		p.g.Expect(p.last("tracks").Get("enabled").Bool()).To(gomega.BeFalse())
		post(0.1, 0)
		measured() // begins with the agent's sound before
		p.g.Expect(measured()).To(gomega.Equal(sdk.LevelsMeasured{}))
		p.g.Expect(call.Close()).To(gomega.Succeed())
		p.g.Expect(worklet.Get("port").Get("posted").Index(0).String()).To(gomega.Equal("close"))
		p.g.Eventually(LiveFuncs).Should(gomega.BeZero())
	}
}

// A page whose policy blocks the worklet has calls all the same, and its log says what they lack.
func TestACallWithoutAWorklet(t *testing.T) {
	for name, prepare := range map[string]func(*page){
		"refused":  func(p *page) { p.set("moduleThrows", "AbortError") },
		"too old":  func(p *page) { p.set("tooOld", true) },
		"no sound": func(*page) { js.Global().Set("AudioContext", js.Undefined()) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPage(t)
			prepare(p)
			notes := make(chan string, 10)
			call := p.dial(Options{Log: func(line string) { notes <- line }}, sdk.CallConfig{})
			p.g.Eventually(notes).Should(gomega.Receive(gomega.ContainSubstring("no levels and no prediction")))
			call.SetGain(0.1)
			call.Mute()
			p.g.Eventually(func() bool { return p.audio.Get("muted").Bool() }).Should(gomega.BeFalse(), "muting ends where the sound is not measured")
			p.g.Expect(call.Close()).To(gomega.Succeed())
			p.g.Expect(p.audio.Get("volume").Float()).To(gomega.Equal(1.0))
		})
	}
}

func TestSpeechIsReportedWithThePosition(t *testing.T) {
	p := newPage(t)
	at := js.Global().Get("performance").Get("timeOrigin").Float() + js.Global().Get("performance").Call("now").Float() - 1e6
	p.fake.Get("sources").Call("push", object("rtpTimestamp", 48*1000, "timestamp", at))
	call, told := p.listening(Options{})
	defer func() { p.g.Expect(call.Close()).To(gomega.Succeed()) }()
	worklet := p.worklet()
	voiced := js.Global().Get("Function").New("i", `
		let v = 0;
		const f = 140 + 30 * Math.sin(i / 9000); // the pitch of speech moves
		for (let n = 1; n < 20; n++) v += Math.sin(2 * Math.PI * n * f * i / 48000) / n;
		return 0.1 * v * (0.6 + 0.4 * Math.sin(i / 3000));`)
	quiet := p.tone(0)
	for range 50 {
		worklet.Call("post", quiet, quiet)
	}
	for range 60 {
		worklet.Call("post", voiced, quiet)
	}
	for range 60 {
		worklet.Call("post", quiet, quiet)
	}
	var found []sdk.PeerEvent
	for len(told) > 0 {
		if e := <-told; e != nil {
			if _, level := e.(sdk.LevelsMeasured); !level {
				found = append(found, e)
			}
		}
	}
	// The packet is long past: the position is the most that the playback is taken to have gone on, less what the volume cannot change any more.
	p.g.Expect(found).To(gomega.Equal([]sdk.PeerEvent{
		sdk.SpeechOnset{At: sdk.PlayedPosition{Timestamp: 48 * (1000 + 100 - 10)}, Known: true}, sdk.SpeechSustained{}, sdk.SpeechEnded{},
	}))
}

func TestAFrameAllocatesNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	h, err := newDetection(48000)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for i := range h.raw {
		h.raw[i] = 0.3 * float32(math.Sin(float64(i)/30))
	}
	g.Expect(testing.AllocsPerRun(200, func() { h.take(true) })).To(gomega.BeZero())
}

func TestBothSidesStayInStepAtAnyRate(t *testing.T) {
	g := gomega.NewWithT(t)
	h, err := newDetection(44100)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for range 1000 {
		h.take(true)
		g.Expect(len(h.mic.waiting)).To(gomega.Equal(len(h.agent.waiting)))
		g.Expect(len(h.mic.waiting)).To(gomega.BeNumerically("<", voice.FrameSize))
	}
}

func TestTheAgentIsDuckedAndMuted(t *testing.T) {
	p := newPage(t)
	call, _ := p.listening(Options{})
	volume := func() float64 { return math.Round(100*p.audio.Get("volume").Float()) / 100 }
	muted := func() bool { return p.audio.Get("muted").Bool() }
	call.SetGain(0.1)
	p.g.Expect(volume()).To(gomega.Equal(0.1))
	p.g.Expect(call.SetVolume(0.5)).To(gomega.Succeed())
	p.g.Expect(volume()).To(gomega.Equal(0.05))
	call.SetGain(0)
	p.g.Expect(muted()).To(gomega.BeTrue())
	call.SetGain(1)
	p.g.Expect(volume()).To(gomega.Equal(0.5))
	p.g.Expect(muted()).To(gomega.BeFalse())

	worklet := p.worklet()
	for range 10 {
		worklet.Call("post", p.tone(0), p.tone(0.1))
	}
	call.Mute()
	p.g.Expect(muted()).To(gomega.BeTrue())
	worklet.Call("post", p.tone(0), p.tone(0.1))
	p.g.Consistently(muted, "60ms").Should(gomega.BeTrue(), "the muted response still plays")
	for range 2 * muteFrames {
		worklet.Call("post", p.tone(0), p.tone(0))
	}
	p.g.Eventually(muted).Should(gomega.BeFalse(), "the silence behind it plays")

	js.Global().Get("Object").Call("defineProperty", p.audio, "volume", object("value", 1, "writable", false))
	p.g.Expect(call.SetVolume(0.2)).To(gomega.MatchError(sdk.ErrUnavailable))
	p.g.Expect(call.Close()).To(gomega.Succeed())
}

func TestAPositionInThePlaybackIsAwaited(t *testing.T) {
	p := newPage(t)
	call, told := p.listening(Options{})
	_, ok := call.Position()
	p.g.Expect(ok).To(gomega.BeFalse(), "nothing was played")
	now := func() float64 { return js.Global().Get("performance").Call("now").Float() }
	decoded := now()
	source := object("rtpTimestamp", float64(math.MaxUint32), "timestamp", decoded)
	p.fake.Get("sources").Call("push", source)
	at, ok := call.Position()
	mark := at.Timestamp
	p.g.Expect(ok).To(gomega.BeTrue())
	ahead := int32(mark-math.MaxUint32) + 48*10
	most := 48 * (100 + now() - decoded)
	p.g.Expect(ahead).To(gomega.And(gomega.BeNumerically(">=", 0), gomega.BeNumerically("<=", most)), "the volume is heard in what was decoded last")
	call.AwaitPosition(sdk.PlayedPosition{Timestamp: mark + 48*60*1000})
	call.AwaitPosition(sdk.PlayedPosition{Timestamp: mark + 48*20}) // the timestamp may wrap around here
	p.g.Eventually(told).Should(gomega.Receive(gomega.Equal(sdk.PositionPassed{At: sdk.PlayedPosition{Timestamp: mark + 48*20}})))
	reached, _ := call.Position()
	p.g.Expect(int32(reached.Timestamp - mark - 48*20)).To(gomega.BeNumerically(">=", awaitMargin))
	p.g.Expect(call.ducking.polling).To(gomega.BeFalse(), "nobody waits")
	call.AwaitPosition(sdk.PlayedPosition{Timestamp: mark - 480})
	p.g.Expect(<-told).To(gomega.Equal(sdk.PositionPassed{At: sdk.PlayedPosition{Timestamp: mark - 480}}))

	call.AwaitPosition(sdk.PlayedPosition{Timestamp: mark + 48*1000}) // this wait ends with the call
	p.g.Expect(call.Close()).To(gomega.Succeed())
}

// The browser's part of a call is opened and closed 200 times: everything is released.
func TestTwoHundredCallsLeaveNothing(t *testing.T) {
	p := newPage(t)
	once := func() {
		p.fake.Call("reset")
		call, _ := p.listening(Options{})
		worklet := p.worklet()
		for range levelFrames {
			worklet.Call("post", p.tone(0.1), p.tone(0.1))
		}
		call.SetGain(0.1)
		call.AwaitPosition(sdk.PlayedPosition{Timestamp: 1})
		p.g.Expect(call.Close()).To(gomega.Succeed())
		p.g.Expect(p.fake.Get("listeners").Int()).To(gomega.BeZero())
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for range 20 {
		once()
	}
	before := heap()
	for range 200 {
		once()
	}
	p.g.Eventually(LiveFuncs).Should(gomega.BeZero())
	grown := int64(heap()) - int64(before)
	t.Logf("200 calls: %d bytes of heap more, %d functions", grown, LiveFuncs())
	p.g.Expect(grown).To(gomega.BeNumerically("<", 200*1000), "less than 1 kB a call")
}
