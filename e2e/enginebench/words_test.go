package enginebench

// This file measures the times of words.

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	mostJoined  = 3                       // prompts of one utterance
	longestPart = 2500 * time.Millisecond // of a prompt that is joined
	mostPause   = 250                     // milliseconds between two prompts
)

// joint is an utterance of several prompts, of which each begins at a known time: that of its first sound.
type joint struct {
	pcm    []float32
	text   string
	begins map[int]time.Duration // of a prompt, by the number of words before it
}

// joints joins prompts at random, the same way each time. Between half of them there is no silence at all.
func joints(all []human.Sentence, n int) []joint {
	random := rand.New(rand.NewPCG(25, 6))
	short := slices.DeleteFunc(slices.Clone(all), func(s human.Sentence) bool { return human.Duration(len(s.PCM)) > longestPart })
	out := make([]joint, n)
	for i := range out {
		j := joint{pcm: make([]float32, human.Rate*3/10), begins: map[int]time.Duration{}}
		words := 0
		for range mostJoined {
			s := short[random.IntN(len(short))]
			j.begins[words] = human.Duration(len(j.pcm))
			j.pcm, j.text, words = append(j.pcm, sounding(s.PCM)...), j.text+" "+s.Text, words+len(human.Words(s.Text))
			if random.IntN(2) == 0 {
				j.pcm = append(j.pcm, make([]float32, random.IntN(mostPause)*human.Rate/1000)...)
			}
		}
		j.pcm = append(j.pcm, make([]float32, human.Rate/2)...)
		out[i] = j
	}
	return out
}

// sounding returns a prompt from its first sound to its last.
func sounding(pcm []float32) []float32 {
	loud := func(v float32) bool { return v > audible || v < -audible }
	begin := max(0, slices.IndexFunc(pcm, loud))
	end := len(pcm)
	for end > begin && !loud(pcm[end-1]) {
		end--
	}
	return pcm[begin:end]
}

// BenchmarkWordTimes compares when words begin, as the recogniser says it, with when they do. The reference is the first sound of a prompt (-40 dBFS) that is
// joined to others. Only utterances count whose words are all understood.
func BenchmarkWordTimes(b *testing.B) {
	all, err := human.Prompts((*letters)[0], (*letters)[2])
	if err != nil {
		b.Fatal(err)
	}
	r, _ := recogniser(b, 1)
	var first, inner, plain, timed []time.Duration
	understood := 0
	n := max(*count, 1)
	for _, j := range joints(all, n) {
		began := time.Now()
		if _, err := whole(b.Context(), r, j.pcm, false); err != nil {
			b.Fatal(err)
		}
		plain = append(plain, time.Since(began))
		began = time.Now()
		heard, err := whole(b.Context(), r, j.pcm, true)
		if err != nil {
			b.Fatal(err)
		}
		timed = append(timed, time.Since(began))
		if wrong, _ := human.WrongWords(j.text, heard.Text); wrong > 0 {
			continue
		}
		understood++
		before := 0
		for _, w := range heard.Words {
			if begin, is := j.begins[before]; is {
				deviation := (w.Start - begin).Abs()
				if before == 0 {
					first = append(first, deviation)
				} else {
					inner = append(inner, deviation)
				}
			}
			before += len(human.Words(w.Text))
		}
	}
	figures.Share(b, "understood", understood, n)
	figures.Count(b, "onsets", len(inner))
	figures.Times(b, "onset-deviation", inner, 50, 95)
	figures.Times(b, "first-onset-deviation", first, 50, 95)
	figures.Times(b, "text", plain, 50, 95)
	figures.Times(b, "text-with-times", timed, 50, 95)
}

// whole has a recording recognised at once.
func whole(ctx context.Context, r pipeline.Transcriber, pcm []float32, words bool) (last pipeline.TranscriptResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, finish)
	defer cancel()
	t, err := r.Open(ctx, pipeline.TranscribeConfig{Words: words})
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if err := errors.Join(t.Write(pcm), t.CloseInput()); err != nil {
		return last, err
	}
	for last = range t.Results() {
	}
	return last, last.Err
}

// An utterance whose words are known has the times of its words.
func TestWordTimesAreMeasured(t *testing.T) {
	all := prompts(t)
	r, _ := recogniser(t, 1)
	heard, err := whole(t.Context(), r, all[0].PCM, true)
	if err != nil || len(heard.Words) != len(strings.Fields(heard.Text)) {
		t.Fatalf("%v: %q has %d words with times", err, heard.Text, len(heard.Words))
	}
}
