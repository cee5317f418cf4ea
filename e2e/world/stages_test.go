package world

// The back ends of a simulated call. The model answers with words that nobody else says, and the synthesizer speaks them so that each sample of the agent's sound
// says which word it belongs to.

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	// wordMS is how long each word of the agent takes.
	wordMS = 200
	perMS  = pipeline.OutputRate / 1000
)

// agentWord is a word of the agent: the number of its answer, and its place in it.
var agentWord = regexp.MustCompile(`k(\d+)n(\d+)`)

// word is a place in the agent's sound: a word of an answer.
type word struct{ answer, at int }

// wordsIn returns the agent's words in a text.
func wordsIn(text string) (all []word) {
	for _, m := range agentWord.FindAllStringSubmatch(text, -1) {
		answer, _ := strconv.Atoi(m[1])
		at, _ := strconv.Atoi(m[2])
		all = append(all, word{answer, at})
	}
	return all
}

// model is the language model.
type model struct {
	w     *world
	fails bool

	mu      sync.Mutex
	answers int
	told    []pipeline.Message // what the newest request has
	lengths map[int]int        // by answer: how many words it has
}

// Generate implements pipeline.Model.
func (m *model) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	defer m.w.turn() // also if emit has waited, and returns because the answer is cancelled
	m.mu.Lock()
	m.answers++
	answer := m.answers
	m.told = r.Messages
	m.mu.Unlock()
	chance := m.w.source(fmt.Sprintf("answer %d", answer))
	words := 1 + chance.number(40)
	usage := pipeline.Usage{InputTokens: len(r.Messages), OutputTokens: words}
	fault := newFault(m.w, fmt.Sprintf("answer %d", answer), m.fails, words)
	calls := len(r.Tools) > 0 && chance.chance(40) && len(r.Messages) > 0 && r.Messages[len(r.Messages)-1].Result == nil
	if calls {
		words = chance.number(8)
	}
	m.mu.Lock()
	m.lengths[answer] = words
	m.mu.Unlock()
	if err := m.w.pause(ctx, chance.between(50*time.Millisecond, 600*time.Millisecond)); err != nil {
		return usage, err
	}
	for n := range words {
		if err := fault.at(ctx, n); err != nil {
			return usage, err
		}
		text := fmt.Sprintf("k%02dn%02d", answer, n)
		switch {
		case n == words-1 || n%8 == 7:
			text += ". "
		case n%4 == 3:
			text += ", "
		default:
			text += " "
		}
		if err := emit(pipeline.TextDelta{Text: text}); err != nil {
			return usage, err
		}
		if err := m.w.pause(ctx, chance.between(5*time.Millisecond, 60*time.Millisecond)); err != nil {
			return usage, err
		}
	}
	if calls {
		return usage, emit(pipeline.ToolCallDone{Name: "look", Arguments: fmt.Sprintf(`{"answer":%d}`, answer)})
	}
	return usage, nil
}

// messages returns what the newest request has, and the number of its answer.
func (m *model) messages() (told []pipeline.Message, answer int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.told, m.answers
}

// synthesizer speaks each word of the agent for wordMS.
type synthesizer struct {
	w     *world
	fails bool

	mu    sync.Mutex
	broke map[int]bool // the answers of which it has not spoken all
}

// failed reports whether it has not spoken all of an answer.
func (s *synthesizer) failed(answer int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broke[answer]
}

// Synthesize implements pipeline.Synthesizer.
func (s *synthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	defer s.w.turn() // as in Generate
	chance := s.w.source(u.Text)
	if err := s.w.pause(ctx, chance.between(10*time.Millisecond, 200*time.Millisecond)); err != nil {
		return err
	}
	words := wordsIn(u.Text)
	fault := newFault(s.w, "speech "+u.Text, s.fails, len(words))
	for n, said := range words {
		for ms := 0; ms < wordMS; ms += 50 {
			if ms == 100 {
				if err := fault.at(ctx, n); err != nil {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.broke[said.answer] = true
					return err
				}
			}
			if err := emit(spoken(said, ms, 50)); err != nil {
				return err
			}
			if err := s.w.pause(ctx, chance.between(5*time.Millisecond, 30*time.Millisecond)); err != nil {
				return err
			}
		}
	}
	return nil
}

// spoken is the sound of a word from a millisecond on. Samples with an even place are the mark of the answer, the others the millisecond in it, from 1 on.
func spoken(said word, from, ms int) []int16 {
	pcm := make([]int16, 0, ms*perMS)
	for t := range ms {
		for i := range perMS {
			if i%2 == 0 {
				pcm = append(pcm, mark(said.answer))
			} else {
				pcm = append(pcm, int16(1+said.at*wordMS+from+t))
			}
		}
	}
	return pcm
}

// mark returns the sample that names an answer. At a tenth of the level it ends with 0 and not with 1, so that the ear knows a response that the server has
// lowered.
func mark(answer int) int16 { return int16(-100*answer - 1) }

// marked returns which answer a sample names, and how much softer it is: 1 or 10 times. softer is 0 if it is no mark.
func marked(v int16) (answer, softer int) {
	switch m := -int(v); {
	case m > 0 && m%100 == 1:
		return m / 100, 1
	case m > 0 && m%10 == 0:
		return m / 10, 10
	}
	return 0, 0
}

// stages returns the back ends of a call.
func stages(m *model, r *recogniser, s *synthesizer) *pipeline.Pipeline {
	ready := func(stage string) func() pipeline.Component {
		return func() pipeline.Component {
			return pipeline.Component{Stage: stage, Name: "world", State: pipeline.StateReady}
		}
	}
	return pipeline.Compose("world",
		pipeline.Stage[pipeline.Transcriber]{Impl: r, Component: ready(pipeline.StageTranscriber)},
		pipeline.Stage[pipeline.Model]{Impl: m, Component: ready(pipeline.StageModel)},
		pipeline.Stage[pipeline.Synthesizer]{Impl: s, Component: ready(pipeline.StageSynthesizer)})
}

// textOf returns all text of the messages with a role.
func textOf(told []pipeline.Message, role string) string {
	var all []string
	for _, m := range told {
		if m.Role == role {
			all = append(all, m.Text)
		}
	}
	return strings.Join(all, "\n")
}
