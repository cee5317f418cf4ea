package main

// This file has the flags of the command, the prompts, and the noises.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/e2e/internal/command"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// options are the flags.
type options struct {
	parts        string
	n            int
	models, only string
}

func main() { command.Main("noisebench", parse, run) }

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("noisebench", flag.ContinueOnError)
	f.StringVar(&o.parts, "parts", "voices,noise", "what to measure, with commas between")
	f.IntVar(&o.n, "n", 30, "how many prompts the parts noise and calls have")
	f.StringVar(&o.only, "only", "", "conditions of the part calls, besides the first, whose names contain this; empty means all")
	f.StringVar(&o.models, "models", "", "folder of the models; empty means that of antiphon models")
	err = f.Parse(args)
	return o, err
}

func run(ctx context.Context, o options) error {
	caller, err := prompts('a', 'm')
	if err != nil {
		return err
	}
	others, err := prompts('n', 'z')
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(o.parts, ",") {
		switch part {
		case "voices":
			measureVoices(caller, others)
		case "noise":
			if err := measureNoise(ctx, o, caller, others); err != nil {
				return err
			}
		case "calls":
			if err := measureCalls(ctx, o, others, caller); err != nil { // the names a to m have set the numbers of the detector
				return err
			}
		case "over":
			if err := measureOver(ctx, o, others); err != nil {
				return err
			}
		default:
			return fmt.Errorf("-parts: no part is called %q: want voices, noise, calls or over", part)
		}
	}
	return nil
}

// prompt is a sentence at 16 kHz. Its level is that of level.
type prompt struct {
	name, text string
	pcm        []float32
}

// level is the RMS level of the louder half of each prompt.
const level = 0.05

// prompts returns the prompts whose names begin with these letters, of 0.5 s to 15 s, in the order of their names.
func prompts(first, last byte) (all []prompt, err error) {
	texts, err := human.Texts()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		initial := strings.ToLower(path.Base(name))[0]
		if strings.ContainsAny(texts[name], "[<") || initial < first || initial > last {
			continue
		}
		said, err := human.Prompt(name)
		if errors.Is(err, human.ErrNotInstalled) {
			continue // some texts have no recording
		}
		if len(said) >= human.Rate/2 && len(said) <= 15*human.Rate {
			all = append(all, prompt{name, texts[name], leveled(voice.PCM16ToFloat(nil, said))})
		}
	}
	if len(all) == 0 {
		return nil, human.ErrNotInstalled
	}
	return all, nil
}

// leveled changes the level of x: the RMS level of the louder half of its pieces of 20 ms becomes level.
func leveled(x []float32) []float32 {
	const piece = human.Rate / 50
	var powers []float64
	for each := range slices.Chunk(x, piece) {
		var sum float64
		for _, v := range each {
			sum += float64(v) * float64(v)
		}
		powers = append(powers, sum/float64(len(each)))
	}
	slices.Sort(powers)
	var sum float64
	for _, p := range powers[len(powers)/2:] {
		sum += p
	}
	gain := float32(level / math.Sqrt(sum/float64(len(powers)-len(powers)/2)+1e-12))
	for i := range x {
		x[i] *= gain
	}
	return x
}

// talk returns n samples of people who talk, each without a pause.
func talk(from []prompt, people, n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	for range people {
		for at := 0; at < n; {
			said := from[random.IntN(len(from))].pcm
			add(x[at:], said, 1)
			at += len(said)
		}
	}
	return leveled(x)
}

// fan returns n samples of noise whose power falls with the frequency.
func fan(n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	var slow, middle, fast float64
	for i := range x {
		w := random.NormFloat64() // Paul Kellet's filter for pink noise, without two of its poles
		slow = 0.99765*slow + 0.0990460*w
		middle = 0.96300*middle + 0.2965164*w
		fast = 0.57000*fast + 1.0526913*w
		x[i] = float32(slow + middle + fast + 0.1848*w)
	}
	return leveled(x)
}

// add adds y to x, as far as x goes.
func add(x, y []float32, gain float32) {
	for i := range min(len(x), len(y)) {
		x[i] += gain * y[i]
	}
}

// gainOf returns the factor for a change of level in dB.
func gainOf(db float64) float32 { return float32(math.Pow(10, db/20)) }
