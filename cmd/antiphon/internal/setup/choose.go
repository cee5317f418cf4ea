package setup

// Choosing: which offer each stage takes, by the user's answers or the best one.

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// questions has what is asked for each stage.
var questions = []struct{ stage, text string }{
	{config.STT, "Who recognises speech (stt)?"},
	{config.LLM, "Who writes the answers (llm)?"},
	{config.TTS, "Who speaks (tts)?"},
}

// Ranks of offers that come after those of servers on this machine.
const (
	rankNoKey   = 500
	rankCloud   = 1000
	rankBuiltIn = 2000
)

// KeyVariable is the environment variable with the key of OpenAI.
const KeyVariable = "OPENAI_API_KEY"

// OpenAI returns the offers of OpenAI's own service, for who has a key in KeyVariable.
func OpenAI() []Offer {
	offer := func(stage, model, voice string) Offer {
		return Offer{
			Server: "OpenAI", Stage: stage, Kind: kindOpenAI, URL: "https://api.openai.com/v1", Model: model, Voice: voice, KeyEnv: KeyVariable,
			Note: "what people say goes to api.openai.com, which charges for it", rank: rankCloud,
		}
	}
	return []Offer{offer(config.STT, "gpt-4o-mini-transcribe", ""), offer(config.LLM, "gpt-4.1-mini", ""), offer(config.TTS, "gpt-4o-mini-tts", "alloy")}
}

// Known returns the offers whose kind this program has, best first. The kind that is built in is the last one of each stage.
func Known(offers []Offer) []Offer {
	var known []Offer
	for _, o := range offers {
		if slices.ContainsFunc(config.Kinds(o.Stage), func(k config.Kind) bool { return k.Name == o.Kind }) {
			known = append(known, o)
		}
	}
	for _, q := range questions {
		known = append(known, Offer{Server: "built in", Stage: q.stage, rank: rankBuiltIn})
	}
	slices.SortStableFunc(known, func(a, b Offer) int { return cmp.Compare(a.rank, b.rank) })
	return known
}

// Best returns the first offer of each stage.
func Best(offers []Offer) []Offer {
	var chosen []Offer
	for _, q := range questions {
		chosen = append(chosen, of(offers, q.stage)[0])
	}
	return chosen
}

func of(offers []Offer, stage string) []Offer {
	return slices.DeleteFunc(slices.Clone(offers), func(o Offer) bool { return o.Stage != stage })
}

// Person asks a person on a console.
type Person struct {
	in  *bufio.Reader
	out io.Writer
}

// NewPerson returns the person who writes to in and reads out.
func NewPerson(in io.Reader, out io.Writer) *Person { return &Person{bufio.NewReader(in), out} }

// errNoAnswer: nobody answers on the console.
var errNoAnswer = errors.New("no answer came: run antiphon setup --yes to take the best without questions")

// maxTries is how often a question is repeated.
const maxTries = 3

func (p *Person) line() (string, error) {
	const longest = 1000
	text, err := p.in.ReadString('\n')
	if err != nil && text == "" || len(text) > longest {
		return "", errNoAnswer
	}
	return strings.TrimSpace(text), nil
}

// Choose asks which offer each stage takes.
func (p *Person) Choose(offers []Offer) ([]Offer, error) {
	var chosen []Offer
	for _, q := range questions {
		mine := of(offers, q.stage)
		if len(mine) == 1 {
			chosen = append(chosen, mine[0])
			continue
		}
		fmt.Fprintf(p.out, "\n%s\n", q.text)
		for i, o := range mine {
			fmt.Fprintf(p.out, "  %d  %s\n", i+1, o)
		}
		n, err := p.number(len(mine))
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, mine[n-1])
	}
	return chosen, nil
}

// number asks for a number from 1 to most. The empty line means 1.
func (p *Person) number(most int) (int, error) {
	for range maxTries {
		fmt.Fprintf(p.out, "Number [1]: ")
		text, err := p.line()
		if err != nil {
			return 0, err
		}
		if text == "" {
			return 1, nil
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= most {
			return n, nil
		}
		fmt.Fprintf(p.out, "Want a number from 1 to %d.\n", most)
	}
	return 0, errors.New("no number was given: nothing is written")
}

// Agrees asks a question that is answered with yes or no; the empty line means no.
func (p *Person) Agrees(question string) (bool, error) {
	fmt.Fprintf(p.out, "%s [y/N] ", question)
	text, err := p.line()
	return strings.EqualFold(text, "y") || strings.EqualFold(text, "yes"), err
}

func (o Offer) String() string {
	text := o.Server
	if o.rank == rankBuiltIn {
		return "the best that is on this machine, built in"
	}
	if o.Model != "" {
		text += ", " + printable(o.Model)
	}
	if o.Voice != "" {
		text += ", " + printable(o.Voice)
	}
	text += " (" + o.URL + ")"
	if o.Note != "" {
		text += ": " + o.Note
	}
	return text
}

// Summary returns the stages that a server can do, with its models.
func (s *Server) Summary() string {
	var stages []string
	for _, q := range questions {
		var models []string
		for _, o := range of(s.Offers, q.stage) {
			models = append(models, printable(cmp.Or(o.Model, o.Kind)))
		}
		if len(models) > 0 {
			stages = append(stages, q.stage+" "+strings.Join(models, ", "))
		}
	}
	return strings.Join(stages, "; ")
}
