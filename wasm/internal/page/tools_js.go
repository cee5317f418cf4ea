package page

// The tools of the page. The page's script runs them: this file sends it each tool call, and takes its answer.

import (
	"context"
	"errors"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// toolCalls has the tool calls that wait for the script's answer.
type toolCalls struct {
	tell    func(kind string, args ...any)
	last    int
	waiting map[int]chan outcome
}

type outcome struct {
	output string
	failed bool
}

// list returns the tools of the page for the session. Each element of tools is {name, description, parameters}, where parameters is a JSON text.
func (t *toolCalls) list(tools js.Value) (list []sdk.Tool) {
	t.waiting = map[int]chan outcome{}
	if !there(tools) {
		return nil
	}
	for i := range tools.Length() {
		one := tools.Index(i)
		name := field(one, "name")
		tool := sdk.Tool{Name: name, Description: field(one, "description"), Run: func(ctx context.Context, arguments string) (string, error) {
			return t.run(ctx, name, arguments)
		}}
		if schema := field(one, "parameters"); schema != "" {
			tool.Parameters = []byte(schema)
		}
		list = append(list, tool)
	}
	return list
}

// run asks the script to answer a tool call and waits for the answer.
func (t *toolCalls) run(ctx context.Context, name, arguments string) (string, error) {
	t.last++
	token := t.last
	answered := make(chan outcome, 1)
	t.waiting[token] = answered
	defer delete(t.waiting, token)
	t.tell("tool", token, name, arguments)
	select {
	case o := <-answered:
		if o.failed {
			return "", errors.New(o.output)
		}
		return o.output, nil
	case <-ctx.Done():
		t.tell("abort", token)
		return "", ctx.Err()
	}
}

// ran takes the script's answer. It drops an answer that comes too late.
func (t *toolCalls) ran(token int, output string, failed bool) {
	if answered, ok := t.waiting[token]; ok {
		delete(t.waiting, token)
		answered <- outcome{output, failed}
	}
}
