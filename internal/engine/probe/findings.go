package probe

// What is wrong with a stage that works.

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Bounds of a stage in a conversation. The user waits for the sum of the three stages.
const (
	slowModel  = 3 * time.Second // until the first token
	slowSpeech = 2 * time.Second // until the text of the recogniser, or the first audio of the synthesizer
	slowWork   = 1.0             // time of the work for each second of speech
	wrongWords = 0.4             // word error rate of the recogniser: two of the five words of the sentence
)

// Findings returns what is wrong with a stage that works, in sentences with what to do: it is too slow for a conversation, or
// recognises another sentence.
func (r *Result) Findings() (all []string) {
	if r.Err != nil {
		return nil
	}
	what, bound, faster := firsts[r.Stage], slowSpeech, "Take a smaller model, or run it on a GPU."
	if r.Stage == pipeline.StageModel {
		bound, faster = slowModel, "Take a smaller model, keep it loaded (Ollama: keep_alive), switch its thinking off, or run it on a GPU."
	}
	if r.First > bound {
		all = append(all, fmt.Sprintf("The %s is too slow for a conversation: %s after %s, and the bound is %s. %s", r.Stage, what, Short(r.First), Short(bound), faster))
	} else if r.RealTime > slowWork {
		all = append(all, fmt.Sprintf("The %s is too slow for a conversation: it works %.1f s for each second of speech, and the bound is %.0f s. %s", r.Stage, r.RealTime, slowWork, faster))
	}
	if r.Said != "" && wordErrors(r.Said, r.Answer) > wrongWords {
		all = append(all, fmt.Sprintf("The %s recognised %q in place of %q, which the synthesizer said.\n  Listen to the synthesizer, and check the model and the language of both. "+
			"If both are for another language than English, this is no mistake.", r.Stage, r.Answer, r.Said))
	}
	return all
}

// wordErrors returns the word error rate of what was heard: the words to insert, delete or replace, for each word that was said. Case and
// punctuation do not count.
func wordErrors(said, heard string) float64 {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	}
	want, got := words(said), words(heard)
	row := make([]int, len(got)+1) // the errors of the words before, for each number of words of got
	for j := range row {
		row[j] = j
	}
	for i, w := range want {
		above := row[0]
		row[0] = i + 1
		for j, h := range got {
			replaced := above
			if w != h {
				replaced++
			}
			above, row[j+1] = row[j+1], min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return float64(row[len(got)]) / float64(len(want))
}
