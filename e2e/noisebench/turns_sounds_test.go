package noisebench

// This file has what the user of BenchmarkTurns says: interruptions, acknowledgements, coughs and hesitations, and words to somebody else.

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// kind is what a sound of the user is, by the definitions of tau-voice.
type kind int

const (
	interruption kind = iota
	acknowledgement
	vocalTic
	nonDirected
	kinds
)

func (k kind) String() string {
	return [...]string{"interruptions", "acknowledgements", "coughs and hesitations", "side talk"}[k]
}

const msSamples = human.Rate / 1000

// piece is a part of a prompt, in ms; to is 0 for the end.
type piece struct {
	prompt   string
	from, to int
}

// saying is made of pieces, one after another. slower is how many times longer it is made, at the same pitch; 0 for 1.
type saying struct {
	text   string
	slower float64
	pieces []piece
}

// acknowledgements returns those that the prompts have: the words where they occur, and "mm" of the letters' names. Those of the first half set the
// numbers, the others are reported. The two have no recording in common.
func acknowledgements(report bool) []saying {
	if report {
		mm := piece{"letters/n", 280, 520}
		return []saying{
			{"yes", 0, []piece{{"digits/yesterday", 20, 405}}},
			{"oh", 0, []piece{{"digits/oh", 20, 540}}},
			{"okay", 0, []piece{{"letters/o", 55, 300}, {"letters/k", 90, 420}}},
			{"good", 0, []piece{{"vm-goodbye", 60, 320}}},
			{"okay, good", 0, []piece{{"letters/o", 55, 300}, {"letters/k", 90, 400}, {"vm-goodbye", 60, 320}}},
			{"mm", 1.4, []piece{mm}},
			{"mm-hm", 0, []piece{{"letters/n", 340, 500}, {"letters/n", 0, 50}, mm}},
		}
	}
	mm := piece{"letters/m", 260, 510}
	return []saying{
		{"right", 0, []piece{{"letters/ascii125", 80, 470}}},
		{"right", 0, []piece{{"letters/ascii93", 80, 490}}},
		{"great", 0, []piece{{"letters/ascii62", 90, 425}}},
		{"good", 0, []piece{{"goodbye", 70, 340}}},
		{"all right", 0, []piece{{"all-circuits-busy-now", 50, 300}, {"letters/ascii125", 80, 470}}},
		{"mm", 1.4, []piece{mm}},
		{"mm-hm", 0, []piece{{"letters/m", 340, 500}, {"letters/m", 0, 50}, mm}},
	}
}

// hesitations returns "um", "er" and the like, cut out of words ("number") and made longer.
func hesitations(report bool) []saying {
	if report {
		return []saying{
			{"um", 1.5, []piece{{"number", 190, 475}}},
			{"um", 1.8, []piece{{"telephone-number", 650, 895}}},
			{"er", 1.5, []piece{{"number", 500, 780}}},
			{"er", 1.5, []piece{{"telephone-number", 925, 1170}}},
		}
	}
	return []saying{
		{"um", 2, []piece{{"check-number-dial-again", 820, 990}}},
		{"um", 2, []piece{{"enter-num-blacklist", 740, 905}}},
		{"er", 2, []piece{{"check-number-dial-again", 1005, 1180}}},
		{"em", 1, []piece{{"letters/m", 60, 510}}},
	}
}

// sound returns what is said, without clicks at the cuts, at the level of the prompts.
func (s saying) sound() (x []float32, err error) {
	for _, p := range s.pieces {
		pcm, err := human.Prompt(p.prompt)
		if err != nil {
			return nil, err
		}
		if p.to > 0 {
			pcm = pcm[:min(len(pcm), p.to*msSamples)]
		}
		x = append(x, faded(voice.PCM16ToFloat(nil, pcm[min(len(pcm), p.from*msSamples):]))...)
	}
	if s.slower > 1 {
		x = longer(x, s.slower)
	}
	return leveled(x), nil
}

// faded lets x begin and end without a click.
func faded(x []float32) []float32 {
	const ramp = 8 * msSamples
	for i := range min(ramp, len(x)/2) {
		x[i] *= float32(i) / ramp
		x[len(x)-1-i] *= float32(i) / ramp
	}
	return x
}

// longer makes x longer at the same pitch: it adds overlapping pieces, each from where it continues the one before it best.
func longer(x []float32, times float64) []float32 {
	const hop, search = 15 * msSamples, 8 * msSamples
	y := make([]float32, int(float64(len(x))*times))
	at := 0
	for out := 0; out+2*hop <= len(y); out += hop {
		best, most := 0, math.Inf(-1)
		middle := int(float64(out) / times)
		for from := max(0, middle-search); from <= middle+search && from+2*hop <= len(x); from++ {
			var sum float64
			for i := 0; i < hop && at+hop+i < len(x); i++ {
				sum += float64(x[at+hop+i]) * float64(x[from+i])
			}
			if sum > most {
				best, most = from, sum
			}
		}
		at = best
		for i := 0; i < 2*hop && at+i < len(x); i++ {
			y[out+i] += x[at+i] * float32(0.5-0.5*math.Cos(math.Pi*float64(i)/hop))
		}
	}
	return y
}

// cough returns a computed cough: one or two bursts of breath, hoarse at their begin. There is no free recording of one in Debian.
func cough(random *rand.Rand) (x []float32) {
	for range 1 + random.IntN(2) {
		n := (180 + random.IntN(150)) * msSamples
		pitch, decay := 110+120*random.Float64(), 6+6*random.Float64()
		var slow float64
		for i := range n {
			at := float64(i) / human.Rate
			slow = 0.6*slow + random.NormFloat64()
			v := 0.25 * slow
			for k := 1; k <= 8 && at < 0.12; k++ {
				v += 0.12 * math.Sin(2*math.Pi*float64(k)*pitch*at)
			}
			x = append(x, float32(v*min(1, at/0.01)*math.Exp(-decay*at)))
		}
		x = append(x, make([]float32, random.IntN(80)*msSamples)...)
	}
	return leveled(x)
}

// turnedAway makes speech that of somebody who does not face the microphone: softer by so many dB, and dull.
func turnedAway(x []float32, by float64) []float32 {
	y := make([]float32, len(x))
	var dull float32
	for i, v := range x {
		dull += 0.45 * (v - dull) // 1.5 kHz
		y[i] = dull
	}
	leveled(y)
	for i := range y {
		y[i] *= gainOf(-by)
	}
	return y
}

// repertoire has the sounds of each kind, at human.Rate, with their texts.
type repertoire [kinds][]human.Sentence

// sayings returns the repertoire of the prompts a to m, or n to z for the report.
func sayings(t testing.TB, report bool) (r repertoire) {
	first, last := byte('a'), byte('m')
	if report {
		first, last = 'n', 'z'
	}
	make1 := func(k kind, s saying) {
		x, err := s.sound()
		if err != nil {
			t.Fatal(err)
		}
		r[k] = append(r[k], human.Sentence{Text: s.text, PCM: x})
	}
	for _, s := range acknowledgements(report) {
		make1(acknowledgement, s)
	}
	random := rand.New(rand.NewPCG(25, uint64(last)))
	for _, s := range hesitations(report) {
		make1(vocalTic, s)
		r[vocalTic] = append(r[vocalTic], human.Sentence{Text: "(cough)", PCM: cough(random)})
	}
	for _, p := range human.Sentences(prompts(t, first, last), 0) {
		if from, to := spoken(p.PCM); to-from < 4*human.Rate {
			r[interruption] = append(r[interruption], human.Sentence{Text: p.Text, PCM: p.PCM[from:to]})
		}
	}
	r[nonDirected] = aside(t, first, last, random)
	return r
}

// aside returns what people say to somebody else: other people, in French, Italian and Russian, turned away and 6 to 12 dB softer.
func aside(t testing.TB, first, last byte, random *rand.Rand) (all []human.Sentence) {
	for _, people := range []string{"fr_CA_f_June", "it_IT_m_Carlo", "ru_RU_f_IvrvoiceRU"} {
		files, err := filepath.Glob("/usr/share/asterisk/sounds/" + people + "/*.g722")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, file := range files {
			if n == 8 || !human.Within(file, first, last) {
				continue
			}
			pcm, err := human.Recording(file)
			if err != nil {
				t.Fatal(err)
			}
			x := leveled(voice.PCM16ToFloat(nil, pcm))
			from, to := spoken(x)
			if to-from > human.Rate && to-from < 3*human.Rate {
				n++
				all = append(all, human.Sentence{Text: people, PCM: turnedAway(x[from:to], 6+6*random.Float64())})
			}
		}
		if n == 0 {
			t.Fatalf("no recordings of %s: install the packages asterisk-core-sounds-*-g722", people)
		}
	}
	return all
}
