package sherpa

// This file finds when the words of a text were said. sherpa-onnx gives no times for a Moonshine model. But while the model's decoder writes a token, it attends
// to the sound that the token stands for. So the text is given to the decoder once more, as a whole, and a path through what it attends to gives each token a
// stretch of the sound. The method is that of Whisper's word timestamps (openai/whisper, timing.py).

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/onnx"
)

const (
	hop        = 24 * ms // samples for which the encoder has one result
	firstToken = 1       // <s>
	unknown    = 0       // <unk>
	space      = "▁"     // how a token begins that begins a word
	width      = 36      // of a head of the decoder
	heads      = 8       // of a layer of the decoder
	allLayers  = 6       // of the decoder

	shortestWord = 40 // milliseconds
)

// attended are the layers whose attention follows the sound. The two before them do not: measured on joined prompts, a to m.
func attended() []int { return []int{2, 3, 4, 5} }

// aligner finds the times of words. Only one goroutine may use it.
type aligner struct {
	encoder, decoder *onnx.Model
	tokens           map[string]int64
	longest          int // bytes of a token
}

// newAligner loads the model once more, with ONNX Runtime itself.
func newAligner(library, folder string, threads int) (a *aligner, err error) {
	l, err := onnx.Open(library)
	if err != nil {
		return nil, err
	}
	a = &aligner{}
	defer func() {
		if err != nil {
			a.close()
			a = nil
		}
	}()
	if a.tokens, a.longest, err = readTokens(filepath.Join(folder, tokensFile)); err != nil {
		return nil, err
	}
	a.encoder, err = l.LoadFile(filepath.Join(folder, moonshineEncoder), threads, []string{"input_values", "attention_mask"}, []string{"last_hidden_state"})
	if err != nil {
		return nil, err
	}
	file, err := os.ReadFile(filepath.Join(folder, moonshineDecoder))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if file, err = attending(file, attended()); err != nil {
		return nil, err
	}
	inputs := []string{"encoder_attention_mask", "input_ids", "encoder_hidden_states", "use_cache_branch"}
	for i := range allLayers {
		for _, of := range []string{"decoder.key", "decoder.value", "encoder.key", "encoder.value"} {
			inputs = append(inputs, fmt.Sprintf("past_key_values.%d.%s", i, of))
		}
	}
	var outputs []string
	for _, layer := range attended() {
		outputs = append(outputs, fmt.Sprintf(unusedOutput, layer))
	}
	a.decoder, err = l.Load(file, threads, inputs, outputs)
	return a, err
}

// readTokens reads the table of tokens: their numbers by their texts.
func readTokens(path string) (tokens map[string]int64, longest int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrModel, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	tokens = map[string]int64{}
	lines := bufio.NewScanner(f)
	for n := int64(0); lines.Scan(); n++ {
		code, _, _ := strings.Cut(lines.Text(), " ")
		text, err := base64.StdEncoding.DecodeString(code)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %s, line %d: %w", ErrModel, path, n+1, err)
		}
		tokens[string(text)] = n
		longest = max(longest, len(text))
	}
	return tokens, longest, lines.Err()
}

// tokenise returns the tokens of a word: of each place the longest.
func (a *aligner) tokenise(word string) (all []int64) {
	for rest := space + word; rest != ""; {
		n := min(a.longest, len(rest))
		for n > 1 {
			if _, is := a.tokens[rest[:n]]; is {
				break
			}
			n--
		}
		id, is := a.tokens[rest[:n]]
		if !is {
			id = unknown
		}
		all, rest = append(all, id), rest[n:]
	}
	return all
}

// times returns the words of a text with their times in the recording (mono, 16 kHz). The recording has silence after the speech.
func (a *aligner) times(pcm []float32, text string) ([]backend.Word, error) {
	said := strings.Fields(text)
	ids, begins := []int64{firstToken}, make([]int, len(said)) // of each word, the place of its first token
	for i, word := range said {
		begins[i] = len(ids)
		ids = append(ids, a.tokenise(word)...)
	}
	weights, frames, err := a.attention(pcm, ids)
	if err != nil || len(said) == 0 || frames < len(ids) {
		return nil, err
	}
	at := path(weights, len(ids), frames)
	words := make([]backend.Word, len(said))
	loud := newLoudness(pcm)
	attended := func(i int) int { // what the decoder attends to when it has a token is what it needs for the next one
		if i == len(said) {
			return len(pcm) / ms
		}
		return at[begins[i]-1] * hop / ms
	}
	for i, word := range said {
		words[i] = backend.Word{Text: word, StartMS: loud.onset(attended(i), attended(i+1))}
		if i > 0 {
			words[i].StartMS = max(words[i].StartMS, words[i-1].StartMS+shortestWord)
			words[i-1].EndMS = loud.end(words[i-1].StartMS, words[i].StartMS)
		}
	}
	last := &words[len(words)-1]
	last.EndMS = loud.end(last.StartMS, len(pcm)/ms)
	return words, nil
}

// attention returns what the decoder attends to: for each token a row of weights over the frames of the recording, the mean of all heads.
func (a *aligner) attention(pcm []float32, ids []int64) (weights []float64, frames int, err error) {
	heard := make([]int64, len(pcm))
	for i := range heard {
		heard[i] = 1
	}
	mask := onnx.Tensor{Shape: []int64{1, int64(len(pcm))}, Longs: heard}
	encoded, err := a.encoder.Run(onnx.Tensor{Shape: mask.Shape, Floats: pcm}, mask)
	if err != nil {
		return nil, 0, err
	}
	inputs := []onnx.Tensor{mask, {Shape: []int64{1, int64(len(ids))}, Longs: ids}, encoded[0], {Shape: []int64{1}, Bools: []bool{false}}}
	for range 4 * allLayers {
		inputs = append(inputs, onnx.Tensor{Shape: []int64{1, heads, 0, width}})
	}
	layers, err := a.decoder.Run(inputs...)
	if err != nil {
		return nil, 0, err
	}
	for _, l := range layers {
		if len(l.Shape) != 4 || l.Shape[1] != heads || l.Shape[2] != int64(len(ids)) {
			return nil, 0, fmt.Errorf("%w: its attention has the shape %v", ErrModel, l.Shape)
		}
		frames = int(l.Shape[3])
		if weights == nil {
			weights = make([]float64, len(ids)*frames)
		}
		if len(weights)*heads != len(l.Floats) {
			return nil, 0, fmt.Errorf("%w: its layers differ: %v", ErrModel, l.Shape)
		}
		for i, v := range l.Floats {
			weights[i%len(weights)] += float64(v) / float64(heads*len(layers))
		}
	}
	return weights, frames, nil
}

// path gives each row of a matrix a stretch of its columns, in order, so that the weights there are largest, and returns where the stretches begin.
func path(weights []float64, rows, columns int) []int {
	best := make([]float64, len(weights))
	from := make([]bool, len(weights)) // the best way to this cell comes from the row before
	for r := range rows {
		for c := range columns {
			i := r*columns + c
			stay, next := math.Inf(-1), math.Inf(-1)
			if c > 0 {
				stay = best[i-1]
			}
			if r > 0 && c > 0 {
				next = best[i-columns-1]
			}
			switch {
			case r == 0 && c == 0:
				best[i] = weights[i]
			default:
				best[i], from[i] = max(stay, next)+weights[i], next > stay
			}
		}
	}
	begins := make([]int, rows)
	for r, c := rows-1, columns-1; r > 0; c-- {
		if from[r*columns+c] {
			begins[r] = c
			r--
		}
	}
	return begins
}

func (a *aligner) close() {
	for _, m := range []*onnx.Model{a.encoder, a.decoder} {
		if m != nil {
			m.Close()
		}
	}
}
