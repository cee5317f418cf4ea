package listenbench

// The flags, and the benchmark.

import (
	"flag"
	"testing"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
)

// models has the models that scripts/setup.sh fetches.
const models = "../../.cache/models/"

var (
	letters = flag.String("prompts", "n-z", "initial letters of the prompts")
	draws   = flag.Int("draws", 2, "how many lengths each pause has, one in each run through the prompts")
	fitted  = flag.Bool("fit", false, "print the weights that fit the turns best")
	explain = flag.Bool("explain", false, "print each false cut and each late end")
	silero  = flag.String("silero", "", "the Python with Silero's detector, to measure it, too; empty means not to")
)

// BenchmarkEnds hears all turns, and applies each way to end them.
func BenchmarkEnds(b *testing.B) {
	all := listen(b)
	found := estimates(all)
	report(b, "", all, found)
	if *silero != "" {
		changed, err := bySilero(b.Context(), *silero, all)
		if err != nil {
			b.Fatal("silero: ", err)
		}
		rows(b, "silero/", changed, estimates(changed), policies())
	}
	if *fitted {
		fit(all, found, false)
	}
	j, err := newJudge()
	if err != nil {
		b.Fatal(err)
	}
	if j == nil {
		return
	}
	defer func() { _ = j.engine.Close() }() // nothing is lost
	if found, err = judged(all, j); err != nil {
		b.Fatal(err)
	}
	report(b, "smart-turn/", all, found)
	rows(b, "smart-turn-alone/", all, found, curve(byHeard))
	if *fitted {
		fit(all, found, true)
	}
}

// listen returns what is heard of all turns.
func listen(b *testing.B) (all []heard) {
	if l := *letters; len(l) != 3 || l[1] != '-' || l[0] > l[2] {
		b.Fatalf("-prompts %q: want two letters in their order, such as n-z", l)
	}
	list, err := turns((*letters)[0], (*letters)[2], *draws)
	if err != nil {
		b.Fatal(err)
	}
	e, err := sherpa.NewEngine(models+"sherpa-onnx-linux-amd64", models+"moonshine-tiny-en", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }() // nothing is lost
	for _, t := range list {
		h, err := hear(b.Context(), e, t)
		if err != nil {
			b.Fatalf("%s: %v", t.name, err)
		}
		all = append(all, h)
	}
	return all
}

// estimates returns what the estimator says of all turns.
func estimates(all []heard) (found [][]estimate) {
	for i := range all {
		found = append(found, all[i].estimates(endofturn.New("en"), nil))
	}
	return found
}
