package endofturn

// What words and sounds mean for the end of a turn, and when estimates are made.

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// ofWords returns the probability of a text after 300 ms of silence, with a sound that says nothing.
func ofWords(language, text string) float64 {
	w := Find(language).look(text)
	return byAll(&w, &sound{duration: 1, rate: 5, quiet: 5, unvoiced: 0.5}, math.NaN(), 0.3)
}

func TestWordsOfEnglish(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, text := range []string{
		"What time is it", "What's the weather like tomorrow?", "Please call me back.", "Stop.", "No", "Yes please", "I want to book a table for two people.",
		"If you hear the tone, press star.", "Tell me a story about dragons", "My number is 5 5 5 1 2 3 4", "The code is seven two nine four.", "Hello", "Thank you.",
		"To leave the conference press five", "Could you turn the light off", "No, not that one.", "Please enter your pin number.", "What is your phone number", "Press 3. To leave the conference.",
	} {
		g.Expect(ofWords("en", text)).To(gomega.BeNumerically(">=", Threshold("high")), text)
	}
	for _, text := range []string{
		"My number is", "My number is.", "my number is seven", "My number is 555", "The code is seven two", "I would like to", "I want a table for", "and", "Because",
		"It costs about", "You have three", "There are currently", "Tell me about the", "If you want to leave", "To leave the conference", "I live at 12",
		"My address is twenty three", "um", "I think, um", "So what I mean is", "Can you give me", "I have two messages and", "Mm-hm", "uh-huh.", "Press", "My phone number", "To remove the person, who joined",
	} {
		g.Expect(ofWords("en", text)).To(gomega.BeNumerically("<", Threshold("high")), text)
	}
	for _, text := range []string{"Mm-hm.", "Uh-huh", "mhm", "um"} {
		g.Expect(ofWords("en", text)).To(gomega.BeZero(), text+" never ends a turn")
	}
}

// A long silence ends a turn that may be over, but not one whose last word needs another one.
func TestALongSilence(t *testing.T) {
	g := gomega.NewWithT(t)
	after := func(text string, seconds float64) float64 {
		w := Find("en").look(text)
		return byAll(&w, &sound{duration: 1, rate: 5, quiet: 5, unvoiced: 0.5}, math.NaN(), seconds)
	}
	for _, text := range []string{"There are currently", "You have three", "If you want to leave"} {
		g.Expect(after(text, 0.5)).To(gomega.BeNumerically("<", Threshold("high")), text)
		g.Expect(after(text, 3)).To(gomega.BeNumerically(">=", Threshold("medium")), text)
	}
	for _, text := range []string{"My number is", "My number is seven", "I would like to", "um"} {
		g.Expect(after(text, 3)).To(gomega.BeNumerically("<", Threshold("high")), text)
	}
}

func TestWordsOfOtherLanguages(t *testing.T) {
	g := gomega.NewWithT(t)
	for language, text := range map[string][2]string{
		"de": {"Wie spät ist es jetzt?", "Meine Telefonnummer ist"}, "fr": {"Quelle heure est-il maintenant ?", "Mon numéro est"},
		"es": {"¿Qué hora es ahora?", "Mi número es el"}, "it": {"Che ora è adesso?", "Il mio numero è"}, "pt": {"Que horas são agora?", "O meu número é"},
		"ru": {"Сколько сейчас времени?", "Мой номер телефона и"}, "zh": {"现在几点了？", "我的电话号码是"}, "ja": {"今何時ですか？", "私の電話番号は"},
	} {
		g.Expect(ofWords(language, text[0])).To(gomega.BeNumerically(">=", Threshold("medium")), text[0])
		g.Expect(ofWords(language, text[1])).To(gomega.BeNumerically("<", Threshold("high")), text[1])
	}
	g.Expect(ofWords("de", "Mhm.")).To(gomega.BeZero())
	g.Expect(ofWords("de", "Die Postleitzahl ist 12")).To(gomega.BeNumerically("<", Threshold("high")))
	g.Expect(ofWords("fr", "Oui.")).To(gomega.BeNumerically(">=", Threshold("medium")))
}

func TestReadLanguage(t *testing.T) {
	g := gomega.NewWithT(t)
	names, err := files.ReadDir("languages")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, f := range names {
		g.Expect(Find(strings.TrimSuffix(f.Name(), ".txt"))).NotTo(gomega.BeNil(), f.Name())
	}
	g.Expect(Find("en-GB")).To(gomega.BeIdenticalTo(Find("")))
	g.Expect(Find("xx")).To(gomega.BeNil())
	g.Expect(Find("../secret")).To(gomega.BeNil())

	own, err := Read(strings.NewReader("# mine\n[open]\nund , oder\n\n[announcements]\nnummer 4\n[complete]\nja"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(own.look("Brot und").open).To(gomega.BeTrue())
	g.Expect(own.look("Die Nummer 12").unfinished).To(gomega.BeTrue())
	g.Expect(own.look("Ja!").complete).To(gomega.BeTrue())
	for text, says := range map[string]string{
		"[nouns]\nhouse": "no section [nouns]", "[announcements]\ncode": "no number of digits", "[announcements]\ncode 0": "1 to 99 digits",
		"[script]\nsquare": "unspaced", "word": "line 1: there is no section []",
	} {
		_, err := Read(strings.NewReader(text))
		g.Expect(err).To(gomega.MatchError(ErrLanguage), text)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)), text)
	}
}

// A file of the wrong kind is refused with what to do, and no word of it is dropped silently.
func TestHostileLanguages(t *testing.T) {
	g := gomega.NewWithT(t)
	marked, err := Read(strings.NewReader("\uFEFF[open]\r\nund\r\n"))
	g.Expect(err).NotTo(gomega.HaveOccurred(), "some editors begin a file with a mark")
	g.Expect(marked.look("Brot und").open).To(gomega.BeTrue())
	_, err = Read(strings.NewReader("# " + strings.Repeat("long ", 20_000) + "\n[open]\nund"))
	g.Expect(err).NotTo(gomega.HaveOccurred(), "a long line")
	for text, says := range map[string]string{
		"[open]\nund\n# " + strings.Repeat("x", 1<<20) + "\noder": "more than 1048576 bytes: leave words out",
		"[open]\n\xff\xfeu\x00n\x00d\x00":                         "save the file as UTF-8",
		"[open]\n" + strings.Repeat("が、", 50):                     "line 2: \"が、が、",
		"[open]\nund\n" + strings.Repeat("x", 101):                "has 101 bytes, and a word has at most 100: put a comma (,) between words",
	} {
		_, err := Read(strings.NewReader(text))
		g.Expect(err).To(gomega.MatchError(ErrLanguage), says)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)), says)
	}
}

// A language without spaces is cut at the words that are known.
func TestUnspacedLanguage(t *testing.T) {
	g := gomega.NewWithT(t)
	l, err := Read(strings.NewReader("[script]\nunspaced\n[open]\n因为, 的\n[complete]\n好"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(l.look("我不去因为").open).To(gomega.BeTrue())
	g.Expect(l.look("我不去。").open).To(gomega.BeFalse())
	g.Expect(l.look("我不去。").ended).To(gomega.BeTrue())
	g.Expect(l.look("好").complete).To(gomega.BeTrue())
}

// vowel returns frames of a sound with harmonics whose pitch moves from one frequency to another.
func vowel(frames int, from, to float64) (out [][]float32) {
	phase := 0.0
	for i := range frames {
		pcm := make([]float32, voice.FrameSize)
		for j := range pcm {
			at := (float64(i) + float64(j)/voice.FrameSize) / float64(frames)
			phase += 2 * math.Pi * (from + (to-from)*at) / voice.FrameRate
			for h := 1.0; h < 6; h++ {
				pcm[j] += float32(0.1 / h * math.Sin(h*phase))
			}
		}
		out = append(out, pcm)
	}
	return out
}

func TestPitch(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, hertz := range []float64{80, 130, 210, 330} {
		p := newProsody()
		for _, pcm := range vowel(20, hertz, hertz) {
			p.frame(pcm, true)
		}
		g.Expect(p.tones[19].pitch).To(gomega.BeNumerically("~", 12*math.Log2(hertz), 0.3), "%v Hz", hertz)
	}
	sound := func(from, to float64) sound {
		p := newProsody()
		for _, pcm := range append(vowel(60, 200, 200), vowel(40, from, to)...) {
			p.frame(pcm, true)
		}
		return p.measure()
	}
	g.Expect(sound(200, 140).fall).To(gomega.BeNumerically(">", 1.5))
	g.Expect(sound(200, 140).low).To(gomega.BeNumerically(">", 2))
	g.Expect(sound(200, 260).fall).To(gomega.BeNumerically("<", -1))
	g.Expect(sound(200, 200).fall).To(gomega.BeNumerically("~", 0, 0.2))

	p := newProsody()
	for range 20 {
		p.frame(make([]float32, voice.FrameSize), true)
	}
	g.Expect(p.tones[19].pitch).To(gomega.BeZero(), "silence has no pitch")
}

// speak lets e hear speech and then silence, and returns the silences at which there was an estimate, in ms.
func speak(e Estimator, silence time.Duration) (due []int) {
	for _, pcm := range vowel(80, 200, 150) {
		if _, is := e.Frame(pcm, true); is {
			due = append(due, 0)
		}
	}
	quiet := make([]float32, voice.FrameSize)
	for at := frame; at <= silence; at += frame {
		if _, is := e.Frame(quiet, false); is {
			due = append(due, int(at.Milliseconds()))
		}
	}
	return due
}

func TestWhenEstimatesAreMade(t *testing.T) {
	g := gomega.NewWithT(t)
	e := New("en")
	_, due := e.Text("what time is it", time.Second)
	g.Expect(due).To(gomega.BeFalse(), "the user has not spoken yet")
	g.Expect(speak(e, 600*time.Millisecond)).To(gomega.Equal([]int{150, 250, 350, 450, 550}))

	e = New("en")
	g.Expect(speak(e, time.Second)).To(gomega.Equal([]int{850, 950}), "without words the sound waits")
	e = New("xx")
	e.Text("was ist das", 0)
	g.Expect(speak(e, time.Second)).To(gomega.Equal([]int{850, 950}), "a language without data has no words")

	e = New("en")
	g.Expect(speak(e, 230*time.Millisecond)).To(gomega.BeEmpty())
	p, due := e.Text("what time is it", 700*time.Millisecond)
	g.Expect(due).To(gomega.BeFalse(), "the text does not reach to the end of the speech")
	g.Expect(p).To(gomega.BeZero())
	p, due = e.Text("what time is it now", 900*time.Millisecond)
	g.Expect(due).To(gomega.BeTrue(), "a text in the silence is looked at, at once")
	g.Expect(p).To(gomega.BeNumerically(">=", Threshold("high")))
	p, due = e.Text("what time is it, and", 900*time.Millisecond)
	g.Expect(due).To(gomega.BeTrue())
	g.Expect(p).To(gomega.BeNumerically("<", Threshold("high")))

	e = New("en")
	speak(e, 100*time.Millisecond)
	e.Text(strings.Repeat("and ", 1_000_000)+"stop", 0)
	g.Expect(e.(*estimator).words.count).To(gomega.BeNumerically("<", 300), "the end of a text is enough") //nolint:forcetypeassert // New returns it
}

// A frame takes no memory, so a long turn takes as much as a short one.
func TestAFrameTakesNoMemory(t *testing.T) {
	g := gomega.NewWithT(t)
	e := New("en")
	e.Text("what time is it", 0)
	speech, quiet := vowel(1, 150, 150)[0], make([]float32, voice.FrameSize)
	n := 0
	g.Expect(testing.AllocsPerRun(2000, func() {
		n++
		if n%50 < 25 {
			e.Frame(speech, true)
		} else {
			e.Frame(quiet, false)
		}
	})).To(gomega.BeZero())
}

func BenchmarkFrame(b *testing.B) {
	e := New("en")
	pcm := vowel(100, 100, 250)
	i := 0
	for b.Loop() {
		e.Frame(pcm[i%100], true)
		i++
	}
}

func BenchmarkEstimate(b *testing.B) {
	e := New("en").(*estimator) //nolint:forcetypeassert // New returns it
	speak(e, 500*time.Millisecond)
	text := strings.Repeat("what time is it now and ", 40)
	for b.Loop() {
		e.Text(text, time.Second)
	}
}
