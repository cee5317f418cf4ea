package main

// This file has `antiphon replay`: it plays a call again from its logbook.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/cmd/antiphon/internal/terminal"
	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/call/session"
)

type replay struct {
	File  string        `arg:"" type:"existingfile" placeholder:"FILE.logbook" help:"The logbook, which serve --logbooks has written: docs/replay.md."`
	Story bool          `help:"Tell the call in sentences."`
	Step  bool          `help:"Show one event of the session at a time, with all that it leads to, and wait for Enter."`
	Until time.Duration `placeholder:"12s" help:"Stop at this time of the call."`
}

// Run plays the logbook. A logbook that plays in another way than it was recorded is an error.
func (r *replay) Run() error {
	f, err := os.Open(r.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return r.play(f, os.Stdin, os.Stdout)
}

func (r *replay) play(book io.Reader, in io.Reader, out io.Writer) error {
	keys := bufio.NewReader(in)
	played, err := session.Replay(book, func(m logbook.Moment) error {
		if r.Until > 0 && m.At > r.Until {
			return logbook.ErrStop
		}
		if r.Story || r.Step {
			for line := range strings.Lines(m.Story()) {
				said := strings.TrimLeft(line, " ")
				fmt.Fprintln(out, line[:len(line)-len(said)]+terminal.Clean(strings.TrimSuffix(said, "\n")))
			}
		}
		if r.Step && m.Story() != "" {
			for _, did := range m.Did {
				fmt.Fprintln(out, "             |", terminal.Clean(did))
			}
			if _, err := keys.ReadString('\n'); err != nil {
				return logbook.ErrStop
			}
		}
		return nil
	})
	for _, note := range played.Notes {
		fmt.Fprintln(out, "note:", terminal.Clean(note))
	}
	var other *logbook.Difference
	switch {
	case errors.As(err, &other):
		return fmt.Errorf("%d entries play as they were recorded, and then %w", played.Entries-1, err)
	case err != nil && played.Entries > 0:
		return fmt.Errorf("%d entries were played: %w", played.Entries, err)
	case err != nil:
		return err
	case played.End == "":
		_, err = fmt.Fprintf(out, "%d entries play as they were recorded, up to %.3f s\n", played.Entries, played.Lasted.Seconds())
		return err
	}
	_, err = fmt.Fprintf(out, "all %d entries play as they were recorded: %.3f s of a call of antiphon %s, %s; the logbook ends because %s\n", played.Entries,
		played.Lasted.Seconds(), terminal.Clean(played.Header.Version), played.Header.Began.Format(time.RFC3339), terminal.Clean(played.End))
	return err
}
