package main

// This file has `antiphon doctor`: it tries the components of a pipeline.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/antiphon-rt/antiphon/cmd/antiphon/internal/terminal"
	"github.com/antiphon-rt/antiphon/internal/engine/probe"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

type doctor struct {
	Pipeline string               `arg:"" optional:"" placeholder:"best|embedded|sherpa|scripted|FILE.yaml" help:"What to look at, as for --pipeline of serve. Without it: the configuration, or best where there is none."`
	servers  mcp.Config           `kong:"-"`
	phones   config.PhonesConfig  `kong:"-"`
	streams  []server.PhoneStream `kong:"-"`
	Config   string               `type:"existingfile" placeholder:"FILE.yaml" help:"The configuration; without the flag, antiphon.yaml in this folder."`
}

// doctorTimeout limits how long the components may take to load and to be tried.
const doctorTimeout = 4 * time.Minute

// errNotWorking is returned when a component does not work. The table that was printed before says what to do.
var errNotWorking = errors.New("not everything works")

// Run tries the components of a pipeline and prints a table. It returns an error if one of them does not work. What probe.Result.Findings
// says is no error: another load of the machine, or another language, may be the cause.
func (d *doctor) Run(ctx context.Context) error { return d.run(ctx, os.Stdout) }

func (d *doctor) run(ctx context.Context, w io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	p, name, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	fmt.Fprintf(w, "%s (each stage has a minute to load and to answer):\n\n", name)
	results := probe.Run(ctx, p) // before the components, whose states it changes
	err = diagnose(w, p.Components(), results)
	diagnoseEnds(ctx, w, p)
	if p.Gate != nil {
		fmt.Fprintln(w, "The voice gate works: only the people of the section voices may speak to the model.")
	}
	reduceNoise(p, slog.New(slog.DiscardHandler))
	diagnoseNoise(w, p.Noise.Component())
	diagnosePhones(w, d.phones)
	for _, s := range d.streams {
		fmt.Fprintf(w, "Telephones of the kind %s may connect to /v1/antiphon/phones/%s.\n", s.Kind, s.Name)
	}
	return errors.Join(err, diagnoseMCP(ctx, w, d.servers))
}

func diagnosePhones(w io.Writer, c config.PhonesConfig) {
	if len(c.Trunks) == 0 {
		return
	}
	var names []string
	for _, t := range c.Trunks {
		names = append(names, t.Name)
	}
	decides := "the configuration"
	if c.Webhook != nil {
		decides = "the webhook"
	}
	fmt.Fprintf(w, "Telephones: the trunks %s may call with --sip; %s decides who answers.\n", strings.Join(names, ", "), decides)
}

// diagnoseMCP connects to each MCP server of the configuration, and says how many tools it has.
func diagnoseMCP(ctx context.Context, w io.Writer, c mcp.Config) (err error) {
	for _, s := range c.Servers {
		open, tools, bad := mcp.New(c).Open(ctx, "", mcp.Definition{Label: s.Name})
		open.Close()
		if bad != nil {
			fmt.Fprintf(w, "The MCP server %s does not work: %s\n", s.Name, terminal.Clean(bad.Error()))
			err = errNotWorking
			continue
		}
		fmt.Fprintf(w, "The MCP server %s works: it has %d tools.\n", s.Name, len(tools))
	}
	return err
}

// diagnoseEnds says how semantic_vad finds the ends of turns. A server works without Smart Turn, so it is never an error.
func diagnoseEnds(ctx context.Context, w io.Writer, p *pipeline.Pipeline) {
	switch {
	case p.EndOfTurn == nil:
		fmt.Fprintln(w, "semantic_vad: the recogniser reports the ends of turns.")
		return
	case p.EndJudge == nil:
		fmt.Fprintln(w, "semantic_vad: ends of turns are estimated by the words and the sound.")
		return
	}
	_ = p.EndJudge.Warm(ctx) // the component has the error
	switch c := p.EndJudge.Component(); c.State {
	case pipeline.StateReady:
		fmt.Fprintf(w, "semantic_vad: ends of turns are estimated by the words, the sound, and %s (%s).\n", c.Name, c.Detail)
	case pipeline.StateMissing:
		fmt.Fprintf(w, "semantic_vad: ends of turns are estimated by the words and the sound, because %s is not on this machine. To get it:\n  %s\n", c.Name, c.Install)
	default:
		fmt.Fprintf(w, "semantic_vad: ends of turns are estimated by the words and the sound, because %s does not work: %s\n", c.Name, c.Detail)
	}
}

// diagnoseNoise says whether there is noise reduction. A server without it works, so it is never an error.
func diagnoseNoise(w io.Writer, c pipeline.Component) {
	switch c.State {
	case pipeline.StateMissing:
		fmt.Fprintf(w, "There is no noise reduction (noise_reduction of a session). To get it:\n  %s\n", c.Install)
	case pipeline.StateFailed:
		fmt.Fprintf(w, "Noise reduction does not work: %s\n", c.Detail)
	default:
		fmt.Fprintf(w, "Noise reduction works: %s, from %s.\n", c.Name, c.Detail)
	}
}

// open opens the pipeline that the flags name. It also returns what the table calls it.
func (d *doctor) open(ctx context.Context) (p *pipeline.Pipeline, name string, err error) {
	logger := slog.New(slog.DiscardHandler)
	path := ""
	if d.Pipeline == "" || d.Config != "" {
		if path, err = findConfig(d.Config); err != nil {
			return nil, "", err
		}
	}
	if path == "" {
		if d.Pipeline == "" {
			d.Pipeline = "best"
		}
		p, err = openPipeline(ctx, d.Pipeline, 0, logger)
		return p, fmt.Sprintf("The pipeline %q", d.Pipeline), err
	}
	flags := serve{Config: path}
	file, err := flags.readConfig(nil)
	if err != nil {
		return nil, "", err
	}
	if d.servers, err = file.MCPServers(config.Env{Logger: logger}); err != nil {
		return nil, "", err
	}
	if d.phones, err = file.PhoneCalls(config.Env{Logger: logger}); err != nil {
		return nil, "", err
	}
	if d.streams, _, err = file.PhoneStreams(config.Env{Logger: logger}); err != nil {
		return nil, "", err
	}
	p, err = file.Pipeline(ctx, config.Env{Logger: logger, RecogniserProcesses: flags.RecogniserProcesses})
	return p, path, err
}

// diagnose prints one line for each component, why those fail that do not work, and the commands that install those that are missing.
func diagnose(w io.Writer, components []pipeline.Component, results []probe.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  stage\tname\tstate\tconnect\tfirst\treal time\tanswer")
	var failing, findings []string
	for _, c := range components {
		c.Name = terminal.Clean(c.Name) // it may be a server's
		r := resultOf(results, c.Stage)
		state := c.State
		if state != pipeline.StateMissing {
			state = pipeline.StateReady
			if r.Err != nil {
				state = pipeline.StateFailed
			}
		}
		if state != pipeline.StateReady {
			failing = append(failing, c.Stage)
			r = probe.Result{}
		}
		findings = append(findings, r.Findings()...)
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Stage, c.Name, state, dash(probe.Short(r.Connect)), dash(probe.Short(r.First)), dash(factor(r.RealTime)), brief(r.Answer))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, f := range findings {
		fmt.Fprintln(w, printable(f))
	}
	if len(failing) == 0 {
		if len(findings) == 0 {
			fmt.Fprint(w, "Everything works. ")
		}
		fmt.Fprintln(w, "first: until the first token of the model, the first audio of the synthesizer, the text of the recogniser.\nreal time: time of the work for each second of speech.")
		return nil
	}
	for _, c := range probe.Show(components, results) {
		switch c.State {
		case pipeline.StateMissing:
			fmt.Fprintf(w, "The %s is missing: %s\n", c.Stage, printable(c.Detail))
			if c.Install != "" {
				fmt.Fprintf(w, "To get it:\n  %s\n", c.Install)
			}
		case pipeline.StateFailed:
			fmt.Fprintf(w, "The %s does not work: %s\n", c.Stage, printable(c.Detail))
		}
	}
	return fmt.Errorf("%w: %s", errNotWorking, strings.Join(failing, ", "))
}

// resultOf returns the result of a stage; the zero value if there is none.
func resultOf(results []probe.Result, stage string) probe.Result {
	for _, r := range results {
		if r.Stage == stage {
			return r
		}
	}
	return probe.Result{}
}

// dash returns a text, and "-" for the empty one.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// factor returns a real-time factor; "" for 0.
func factor(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// brief returns the begin of what a stage answered, in one line.
func brief(text string) string {
	text = terminal.Clean(strings.Join(strings.Fields(text), " "))
	if runes := []rune(text); len(runes) > 40 {
		text = string(runes[:40]) + "…"
	}
	return text
}
