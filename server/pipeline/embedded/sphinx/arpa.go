package sphinx

// This file writes a language model of phrases in the ARPA format.

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// backoff is the share of the probability of a context that goes to words that were not seen in it.
const backoff = 0.1

// ngrams counts sequences of up to three words.
type ngrams [3]map[string]float64

// writeARPA writes a trigram model of the phrases in the ARPA format.
func writeARPA(w io.Writer, all []phrase) error {
	var n ngrams
	for i := range n {
		n[i] = map[string]float64{}
	}
	for _, p := range all {
		words := append(append([]string{"<s>"}, p.words...), "</s>")
		for end := 1; end < len(words); end++ {
			for size := 1; size <= 3 && size <= end+1; size++ {
				n[size-1][strings.Join(words[end+1-size:end+1], " ")] += p.weight
			}
		}
	}
	return n.write(w)
}

func (n *ngrams) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	prob, weight := n.estimate()
	prob[0]["<s>"], prob[0]["<UNK>"] = 1e-99, 1e-7
	fmt.Fprintf(b, "\\data\\\n")
	for i := range prob {
		fmt.Fprintf(b, "ngram %d=%d\n", i+1, len(prob[i]))
	}
	for i := range prob {
		fmt.Fprintf(b, "\n\\%d-grams:\n", i+1)
		keys := make([]string, 0, len(prob[i]))
		for k := range prob[i] {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			fmt.Fprintf(b, "%.4f\t%s", math.Log10(prob[i][k]), k)
			if bow, ok := weight[k]; ok && i < 2 {
				fmt.Fprintf(b, "\t%.4f", math.Log10(bow))
			}
			fmt.Fprintln(b)
		}
	}
	fmt.Fprintf(b, "\n\\end\\\n")
	return b.Flush()
}

// estimate returns, for each sequence, the probability of its last word after the words before it, and the back-off weight of each
// context.
func (n *ngrams) estimate() (prob [3]map[string]float64, weight map[string]float64) {
	weight = map[string]float64{}
	for i := range prob {
		prob[i] = map[string]float64{}
		context := map[string]float64{}
		for k, c := range n[i] {
			context[before(k)] += c
		}
		lower := map[string]float64{}
		for k, c := range n[i] {
			share := 1 - backoff
			if i == 0 {
				share = 1
			}
			prob[i][k] = share * c / context[before(k)]
			if i > 0 {
				lower[before(k)] += prob[i-1][after(k)]
			}
		}
		for h, l := range lower {
			weight[h] = backoff / max(1-l, backoff/10)
		}
	}
	return prob, weight
}

// before returns a sequence without its last word, after returns it without its first word.
func before(k string) string { return k[:max(strings.LastIndexByte(k, ' '), 0)] }
func after(k string) string  { return k[strings.IndexByte(k, ' ')+1:] }
