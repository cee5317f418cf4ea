// Command sdksize prints the packed sizes of files, as a browser fetches them, and checks them against a budget:
//
//	sdksize [-write] BUDGET NAME=FILE...
//
// A line of the budget is a name, how the file is packed (brotli or gzip), how many bytes it had when the budget was written, how many
// it may have at most, and how many it should have. The command fails for a file that is larger than the most, or more than 3 % larger
// than it was. It prints by how much a goal is missed. -write replaces the sizes in the budget with the present ones. The command only
// measures a name that the budget does not have.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/andybalholm/brotli"
)

// growth is how much larger a file may be than when its budget was written.
const growth = 1.03

// errBudget says that a file is larger than its budget.
var errBudget = errors.New("over the budget")

func main() {
	write := flag.Bool("write", false, "take the present sizes as the budget")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: sdksize [-write] BUDGET NAME=FILE...")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), flag.Args()[1:], *write); err != nil {
		fmt.Fprintln(os.Stderr, "sdksize:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, budgetFile string, args []string, write bool) error {
	text, err := os.ReadFile(budgetFile)
	if err != nil {
		return err
	}
	budget, err := parse(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", budgetFile, err)
	}
	measured := map[string]sizes{}
	for _, arg := range args {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%s: not NAME=FILE", arg)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if measured[name], err = measure(content); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if write {
		return rewrite(budgetFile, string(text), budget, measured)
	}
	return compare(w, budget, args, measured)
}

// sizes are the sizes of one file, in bytes.
type sizes struct{ raw, gzip, brotli int }

// packed returns the size for a kind of packing, brotli or gzip.
func (s sizes) packed(how string) int {
	if how == "gzip" {
		return s.gzip
	}
	return s.brotli
}

func measure(content []byte) (sizes, error) {
	s := sizes{raw: len(content)}
	var err error
	if s.gzip, err = pack(content, func(w io.Writer) (io.WriteCloser, error) {
		return gzip.NewWriterLevel(w, gzip.BestCompression)
	}); err != nil {
		return s, err
	}
	s.brotli, err = pack(content, func(w io.Writer) (io.WriteCloser, error) {
		return brotli.NewWriterLevel(w, brotli.BestCompression), nil
	})
	return s, err
}

func pack(content []byte, to func(io.Writer) (io.WriteCloser, error)) (int, error) {
	var short bytes.Buffer
	w, err := to(&short)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(content); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return short.Len(), nil
}

func compare(w io.Writer, budget []line, args []string, measured map[string]sizes) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "file\traw\tgzip\tbrotli\twas\tat most\tgoal\t")
	var failed []error
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		s, was, most, goal := measured[name], "-", "-", "-"
		for _, b := range budget {
			if b.name != name {
				continue
			}
			was, most, goal = fmt.Sprintf("%d %s", b.was, b.how), fmt.Sprint(b.most), b.judge(s.packed(b.how))
			failed = append(failed, b.check(s.packed(b.how)))
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t\n", name, s.raw, s.gzip, s.brotli, was, most, goal)
	}
	return errors.Join(append(failed, t.Flush())...)
}
