package embedded_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// parrot answers with the user's last words, one at a time.
type parrot struct{}

func (parrot) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	var usage pipeline.Usage
	for word := range strings.FieldsSeq(r.Messages[len(r.Messages)-1].Text) {
		if err := ctx.Err(); err != nil {
			return usage, err
		}
		usage.OutputTokens++
		if err := emit(pipeline.TextDelta{Text: word + " "}); err != nil {
			return usage, err
		}
	}
	return usage, nil
}

// A pipeline with the recogniser and the synthesizer of the embedded pipeline, and another model.
func Example() {
	ctx := context.Background()
	p, err := embedded.New(ctx, embedded.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = p.Close() }() // nothing is running
	p.Model = parrot{}
	hello := pipeline.Request{Messages: []pipeline.Message{{Role: pipeline.RoleUser, Text: "hello there"}}}
	usage, err := p.Model.Generate(ctx, hello, func(e pipeline.ModelEvent) error {
		if d, ok := e.(pipeline.TextDelta); ok {
			fmt.Print(d.Text)
		}
		return nil
	})
	fmt.Println(usage.OutputTokens, err)
	// Output: hello there 2 <nil>
}

// door is an engine that hears how long a sound lasts.
type door struct{ samples int }

func (door) Open(context.Context, embedded.EngineConfig) (embedded.Stream, error) {
	return &door{}, nil
}
func (door) Info() embedded.EngineInfo { return embedded.EngineInfo{Name: "door"} }
func (door) Close() error              { return nil }

func (d *door) Feed(_ context.Context, pcm []float32) (embedded.Update, error) {
	d.samples += len(pcm)
	return embedded.Update{Partial: "knock"}, nil
}

func (d *door) Finish(context.Context) (embedded.Result, error) {
	return embedded.Result{Text: fmt.Sprintf("knock of %d ms", d.samples*1000/pipeline.InputRate), Boundary: embedded.EndOfUtterance}, nil
}

// A recogniser with an engine of the program's own.
func ExampleInProcess() {
	ctx := context.Background()
	heard, err := embedded.InProcess(door{}).Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = heard.Close() }() // it may be closed twice
	if err := heard.Write(make([]float32, pipeline.InputRate/2)); err != nil {
		fmt.Println(err)
		return
	}
	if err := heard.CloseInput(); err != nil {
		fmt.Println(err)
		return
	}
	for result := range heard.Results() {
		if result.Final {
			fmt.Println(result.Text)
		}
	}
	// Output: knock of 500 ms
}
