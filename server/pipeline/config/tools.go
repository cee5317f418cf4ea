package config

// The section `tools`: the tools that the server runs.

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Tools has the tools that the server runs itself, in every session.
type Tools struct {
	Announcement string        `yaml:"announcement" doc:"What the agent says when a tool takes long, once for a response. Left out: nothing."`
	After        time.Duration `yaml:"after" min:"100ms" max:"1m" doc:"How long a tool may take before the announcement; 1.5s where it is left out."`
	Functions    []Function    `yaml:"functions" doc:"The tools. The server sends each call to the address of the tool."`
}

// Function is a tool that an HTTP server has.
type Function struct {
	Name        string            `yaml:"name" required:""`
	Description string            `yaml:"description" doc:"What the tool does, for the model."`
	Parameters  map[string]any    `yaml:"parameters" doc:"JSON Schema of the arguments."`
	URL         string            `yaml:"url" required:"" doc:"Gets the arguments by POST, as JSON. The body of its answer is the output of the tool."`
	KeyEnv      string            `yaml:"key_env" doc:"The environment variable that has the key of the server."`
	KeyFile     string            `yaml:"key_file" type:"path" doc:"The file that has the key of the server, and nothing else."`
	Headers     map[string]string `yaml:"headers" doc:"Further header fields of each request."`
	Timeout     time.Duration     `yaml:"timeout" min:"100ms" max:"10m" doc:"How long a call may take; 30s where it is left out."`
	Background  bool              `yaml:"background" doc:"A call of the tool begins a run, which works in the background and outlives the call. Runs can also be begun over /v1/runs."`
	Approval    string            `yaml:"approval" enum:"required" doc:"With background: the user approves each run before the tool gets its call."`
	Repeatable  bool              `yaml:"repeatable" doc:"The tool may get a call again, with the same Idempotency-Key, if the server has stopped before the answer. Otherwise the outcome of such a call is unknown, and its run fails."`
}

// BackgroundTool is a tool whose calls are runs.
type BackgroundTool struct {
	pipeline.ServerTool
	Approval, Repeatable bool
}

// BackgroundTools returns the tools that work in the background. It calls no server. The error names the tool that is wrong.
func (f *File) BackgroundTools(e Env) (all []BackgroundTool, err error) {
	for _, function := range f.Tools.Functions {
		if !function.Background {
			continue
		}
		t, err := function.open(e)
		if err != nil {
			return nil, fmt.Errorf("%s: tools: %s: %w", f.Path, function.Name, err)
		}
		all = append(all, BackgroundTool{t, function.Approval != "", function.Repeatable})
	}
	return all, nil
}

// ServerTools returns the tools that the server runs, for server.Config.Tools. It calls no server. The error names the tool that is wrong.
func (f *File) ServerTools(e Env) (pipeline.ServerTools, error) {
	set := pipeline.ServerTools{Announcement: f.Tools.Announcement, After: f.Tools.After}
	for _, function := range f.Tools.Functions {
		if function.Background {
			continue
		}
		if function.Approval != "" {
			return pipeline.ServerTools{}, fmt.Errorf("%s: tools: %s: approval is for tools with background: true", f.Path, function.Name)
		}
		t, err := function.open(e)
		if err != nil {
			return pipeline.ServerTools{}, fmt.Errorf("%s: tools: %s: %w", f.Path, function.Name, err)
		}
		t.Repeatable = function.Repeatable
		set.Tools = append(set.Tools, t)
	}
	if err := set.Check(); err != nil {
		return pipeline.ServerTools{}, fmt.Errorf("%s: tools: %w", f.Path, err)
	}
	return set, nil
}

func (f *Function) open(e Env) (t pipeline.ServerTool, err error) {
	t = pipeline.ServerTool{Tool: pipeline.Tool{Name: f.Name, Description: f.Description}, Timeout: f.Timeout}
	if f.Parameters != nil {
		if t.Parameters, err = json.Marshal(f.Parameters); err != nil {
			return t, err
		}
	}
	key, err := (&Remote{KeyEnv: f.KeyEnv, KeyFile: f.KeyFile}).Key(e)
	if err != nil {
		return t, err
	}
	t.Run, err = HTTPTool(Endpoint{URL: f.URL, Key: key, Headers: f.Headers, Timeout: f.Timeout})
	return t, err
}
