package gate

// Finds the specifications of a folder, and those that have no code or no name in the lists.

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

// find returns the names of the specs, for example "response", "reference/response_source".
func (g *Gate) find() ([]string, error) {
	var out []string
	err := filepath.WalkDir(g.Specs, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, isSpec := strings.CutSuffix(file, ".fizz")
		if d.IsDir() || !isSpec {
			return nil
		}
		name, err = filepath.Rel(g.Specs, name)
		out = append(out, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for specs: %w", err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no specs in %s: nothing is proven", g.Specs)
	}
	slices.Sort(out)
	return out, nil
}

// unmatched returns the specs without a table, the tables without a spec, and the lists for specs that do not exist.
func (g *Gate) unmatched(specs []string) []string {
	var out []string
	var coded []string
	for _, m := range g.Machines {
		if slices.Contains(coded, m.Name()) {
			out = append(out, m.Name()+": two tables are to be compared with it")
		}
		coded = append(coded, m.Name())
	}
	known := slices.Concat(coded, slices.Collect(maps.Keys(g.References)))
	for _, name := range lacking(known, specs) {
		out = append(out, name+": the gate knows of it, and there is no such spec")
	}
	for _, name := range lacking(sorted(g.Designed), specs) {
		out = append(out, name+": the design asks for it, and there is no such spec")
	}
	for _, name := range lacking(specs, known) {
		out = append(out, name+": no code is compared with it: write its adapter, or say in the gate's references what it is for")
	}
	for _, name := range sorted(g.Designed) {
		if !slices.Contains(specs, name) {
			continue // that is said above, once for all its names
		}
		for _, assertion := range lacking(g.Designed[name], g.claimed(name, specs)) {
			out = append(out, fmt.Sprintf("%s: the design asks for %s, and the spec does not assert it", name, assertion))
		}
	}
	slices.Sort(out)
	return out
}

// claimed returns every assertion and question of the spec of that name or of a slice of it. A spec that cannot be read has none;
// its error is reported elsewhere.
func (g *Gate) claimed(name string, specs []string) []string {
	var out []string
	for _, s := range specs {
		if s != name && !strings.HasPrefix(s, name+"_") {
			continue
		}
		file := filepath.Join(g.Specs, s+".fizz")
		src, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if f, err := parse.File(file, src); err == nil {
			out = append(out, assertions(f)...)
		}
		if asks, err := Asks(string(src)); err == nil {
			for _, a := range asks {
				out = append(out, a.Name)
			}
		}
	}
	return out
}
