package runs

// A tool of the server as the worker of its runs.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/server/pipeline/tool"
)

// Background says how the runs of a tool go.
type Background struct {
	// Approval: the user approves each run before the tool runs.
	Approval bool
	// Repeatable: a call whose process has ended before it was answered is sent again. Otherwise it is not known whether it was done, and its run fails.
	Repeatable bool
}

// codeNotApproved is the code of a run that the user has not approved.
const codeNotApproved = "not_approved"

// callStep is the step in which the tool runs. The Idempotency-Key of its request is the id of the run with this name.
const callStep = "call"

// ToolWorker returns the worker that runs a tool. The input of a run is the JSON object of the tool's arguments, and its output is the text of the tool's output as a
// JSON string.
func ToolWorker(t *tool.Tool, b Background) Worker {
	return Worker{
		Tool: t.Name, Approval: b.Approval, Check: checkArguments,
		Work: func(ctx context.Context, turn *Turn) (json.RawMessage, error) {
			if b.Approval {
				a, err := turn.Ask(ctx, "approval", Question{Prompt: approvalPrompt(t.Name, turn.Input()), Approval: true})
				if err != nil {
					return nil, err
				}
				if !a.Approved {
					return nil, &Failure{codeNotApproved, "the user has not approved " + t.Name}
				}
			}
			return turn.Step(ctx, callStep, b.Repeatable, func(ctx context.Context) (json.RawMessage, error) {
				ctx, cancel := context.WithTimeout(tool.WithKey(ctx, turn.ID()+"."+callStep), t.Limit())
				defer cancel()
				output, err := t.Run(ctx, string(turn.Input()))
				if errors.Is(ctx.Err(), context.DeadlineExceeded) {
					err = fmt.Errorf("the tool took longer than %v", t.Limit())
				}
				if err != nil {
					return nil, err
				}
				return outputText(output)
			})
		},
	}
}

// checkArguments returns an error for an input that is no JSON object.
func checkArguments(input json.RawMessage) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(input, &fields); err != nil || fields == nil {
		return errors.New("want the arguments of the tool as a JSON object")
	}
	return nil
}

// approvalPrompt is what the user reads before an approval: the arguments whole, because the user approves nothing else.
func approvalPrompt(name string, input json.RawMessage) string {
	prompt := fmt.Sprintf("Run %s with %s?", name, input)
	if len(prompt) > maxText {
		prompt = fmt.Sprintf("Run %s? The arguments are too long to show: %d bytes.", name, len(input))
	}
	return prompt
}

// outputText returns an output as a JSON string that is short enough to keep.
func outputText(output string) (json.RawMessage, error) {
	text := strings.ToValidUTF8(output, "\uFFFD")
	for {
		out, err := json.Marshal(text)
		if err != nil || len(out) <= MaxOutput {
			return out, err
		}
		text = text[:len(text)-(len(out)-MaxOutput)/6-64]
		for len(text) > 0 && !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
}
