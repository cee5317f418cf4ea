// Command antiphon is a self-hosted realtime voice server: see its subcommands with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // the users' time zones, on machines without them, such as a container

	"github.com/alecthomas/kong"

	"github.com/antiphon-rt/antiphon/cmd/antiphon/internal/terminal"
	"github.com/antiphon-rt/antiphon/internal/version"
)

// commands are the subcommands. Every flag can also be set by an environment variable: ANTIPHON_ and the name of the flag.
type commands struct {
	Serve   serve         `cmd:"" help:"Serve calls and the Talk page."`
	Talk    talk          `cmd:"" help:"Talk with an agent from this terminal."`
	Setup   setup         `cmd:"" help:"Find servers of models on this machine, and write antiphon.yaml for them."`
	Config  configure     `cmd:"" help:"Check a configuration, or print its JSON Schema."`
	Test    test          `cmd:"" help:"Play calls that files describe, and say whether the agent does what they expect."`
	Replay  replay        `cmd:"" help:"Play a call again from its logbook, and say whether the session does what it did."`
	Doctor  doctor        `cmd:"" help:"Say what is installed, what is missing and how to get it, and what answers."`
	Backend backend       `cmd:"" help:"Serve one back end of a pipeline, on standard input and output or on a Unix socket."`
	Key     key           `cmd:"" help:"Make an API key, and the line of the key file for it."`
	Once    once          `cmd:"" help:"Serve a reverse proxy that lets each request with an Idempotency-Key through once."`
	Models  modelCommands `cmd:"" help:"Fetch, list, check and remove the engines and weights of neural speech."`
	Voices  voiceCommands `cmd:"" help:"Enrol, list and remove the people who may pass a server's voice gate."`
	Bench   bench         `cmd:"" help:"Measure the server on this machine, over loopback."`
	Version show          `cmd:"" help:"Print the version."`
}

type show struct{}

func (show) Run() error {
	fmt.Println("antiphon", version.Version)
	return nil
}

func main() {
	var c commands
	k := kong.Parse(&c, kong.Name("antiphon"), kong.ShortUsageOnError(), kong.DefaultEnvars("ANTIPHON"),
		kong.Description("A self-hosted realtime voice server that speaks the OpenAI Realtime protocol."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	k.BindTo(ctx, (*context.Context)(nil))
	if err := k.Run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "antiphon:", printable(err.Error()))
		stop()
		os.Exit(1)
	}
}

// printable returns the lines of a text, such as an error, each without what would control a terminal: the text may be of a server.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = terminal.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
