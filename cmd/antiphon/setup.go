package main

// This file has `antiphon setup`: it finds servers of models, writes antiphon.yaml for them, and runs doctor.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	finder "github.com/antiphon-rt/antiphon/cmd/antiphon/internal/setup"
	"github.com/antiphon-rt/antiphon/cmd/antiphon/internal/terminal"
	"github.com/antiphon-rt/antiphon/internal/engine/strict"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

type setup struct {
	Yes  bool     `short:"y" help:"Ask nothing: take the best of each stage, and replace the file after a backup."`
	At   []string `placeholder:"ADDRESS" help:"Look at these addresses instead of the usual ones on this machine, such as http://192.168.1.7:8000 or tcp://127.0.0.1:10300."`
	File string   `type:"path" default:"antiphon.yaml" placeholder:"FILE.yaml" help:"The file to write."`
}

// errNothing is returned when no server of models was found.
var errNothing = errors.New("nothing was written")

// Run finds, asks, writes and tries.
func (s *setup) Run(ctx context.Context) error {
	return s.run(ctx, os.Stdin, os.Stdout, os.Getenv)
}

func (s *setup) run(ctx context.Context, in io.Reader, out io.Writer, getenv func(string) string) error {
	addresses := s.At
	if len(addresses) == 0 {
		addresses = finder.Usual()
	}
	servers, err := finder.Look(ctx, addresses, getenv)
	if err != nil {
		return err
	}
	offers := found(out, servers)
	if getenv(finder.KeyVariable) != "" {
		fmt.Fprintf(out, "  %-24s a key is in %s\n", "OpenAI", finder.KeyVariable)
		offers = append(offers, finder.OpenAI()...)
	}
	if len(offers) == 0 && len(servers) > 0 {
		fmt.Fprintln(out, "None of these servers can be used as it is. Do what its line says, or name others with --at.")
		return errNothing
	}
	if len(offers) == 0 {
		fmt.Fprintf(out, "No server of models answers. Looked at:\n  %s\n", strings.Join(addresses, "\n  "))
		fmt.Fprintln(out, "Start one, or name others with --at. antiphon serve also works without one: it has a small pipeline built in.")
		return errNothing
	}
	path, err := findConfig(s.File)
	if err != nil {
		return err
	}
	before, err := strict.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := before != nil
	if _, err := config.Parse(path, before, &serve{}); err != nil {
		fmt.Fprintf(out, "%s has mistakes, so nothing of it is kept but the backup:\n%s\n", path, printable(err.Error()))
		before = nil
	}
	person := finder.NewPerson(in, out)
	chosen, err := s.choose(person, finder.Known(offers), there, path)
	if err != nil {
		return err
	}
	if err := save(out, path, chosen, string(before)); err != nil {
		return err
	}
	if err := (&doctor{Config: path}).run(ctx, out); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "\nTalk with it: antiphon serve")
	return err
}

// found prints what was found, and returns the offers.
func found(out io.Writer, servers []finder.Server) (offers []finder.Offer) {
	if len(servers) > 0 {
		fmt.Fprintln(out, "Found:")
	}
	for _, s := range servers {
		offers = append(offers, s.Offers...)
		name, about := s.Name, s.Note
		if name == "" {
			name = "a server"
		}
		if about == "" {
			about = s.Summary()
		}
		fmt.Fprintf(out, "  %-24s %s: %s\n", terminal.Clean(name), s.Address, terminal.Clean(about))
	}
	return offers
}

// choose returns the offer of each stage. Where a file is there already, it asks whether to replace the file.
func (s *setup) choose(person *finder.Person, offers []finder.Offer, there bool, path string) ([]finder.Offer, error) {
	if s.Yes {
		return finder.Best(offers), nil
	}
	chosen, err := person.Choose(offers)
	if err != nil || !there {
		return chosen, err
	}
	agreed, err := person.Agrees(fmt.Sprintf("\n%s is there already. Replace its stages? A backup is kept.", path))
	if err == nil && !agreed {
		err = errNothing
	}
	return chosen, err
}

// save writes the file and says what it has.
func save(out io.Writer, path string, chosen []finder.Offer, before string) error {
	text, err := finder.Text(chosen, before)
	if err != nil {
		return err
	}
	if _, err := config.Parse(path, []byte(text), &serve{}); err != nil {
		return err
	}
	backup, err := finder.Write(path, text)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, o := range chosen {
		fmt.Fprintf(out, "  %s  %s\n", o.Stage, o)
	}
	fmt.Fprintf(out, "\nWrote %s.", path)
	if backup != "" {
		fmt.Fprintf(out, " The file before it is %s.", backup)
	}
	fmt.Fprint(out, " Trying it:\n\n")
	return nil
}
