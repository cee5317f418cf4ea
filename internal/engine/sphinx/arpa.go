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

// The share of the probability that goes to the words that were seen after a context. The rest goes to the shorter context. A short
// context says little: "the" begins many sentences that are no phrase. So the shares of short contexts are small, and there the general
// model decides. These values made fewer word errors than the other values that were tried, with prompts of 230 words that a person spoke.
// The next best values made 3 errors more. That is too few to say that these values are the best.
const (
	shareAlone  = 0.002 // without context. The rest goes to restWord
	shareAfter1 = 0.03  // after one word
	shareAfter2 = 0.9   // after two words, and at the begin of a sentence
)

// restWord has the probability of all words that are not in the phrases. The dictionary does not have it, so it is never recognised.
const restWord = "<rest>"

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
	prob[0]["<s>"], prob[0]["<UNK>"], prob[0][restWord] = 1e-99, 1e-7, 1-shareAlone
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
			prob[i][k] = share(i, before(k)) * c / context[before(k)]
			if i > 0 {
				lower[before(k)] += prob[i-1][after(k)]
			}
		}
		for h, l := range lower {
			rest := 1 - share(i, h)
			weight[h] = rest / max(1-l, rest/10)
		}
	}
	return prob, weight
}

// share returns the share of the words that were seen after a context of this many words.
func share(words int, context string) float64 {
	switch {
	case words == 0:
		return shareAlone
	case words == 1 && context != "<s>":
		return shareAfter1
	default:
		return shareAfter2
	}
}

// before returns a sequence without its last word, after returns it without its first word.
func before(k string) string { return k[:max(strings.LastIndexByte(k, ' '), 0)] }
func after(k string) string  { return k[strings.IndexByte(k, ' ')+1:] }
