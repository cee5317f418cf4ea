// Gate holds the specs to what package gate says, and exits with 1 where one does not pass.
//
//	go run ./cmd/gate                    all specs, and their figures against specs/golden.txt
//	go run ./cmd/gate response turn      these alone
//	go run ./cmd/gate -rewrite           write the figures that are new or have grown
//	go run ./cmd/gate -rewrite -smaller  write them although some have shrunk: say why in the commit
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/gate"
)

func main() { check.Program("gate", run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gate", flag.ContinueOnError)
	specs := flags.String("specs", "specs", "folder of the specs")
	rewrite := flags.Bool("rewrite", false, "write golden.txt")
	smaller := flags.Bool("smaller", false, "let -rewrite write figures that have shrunk")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rewrite && flags.NArg() > 0 {
		return fmt.Errorf("-rewrite wants all specs, not only %s", strings.Join(flags.Args(), " "))
	}
	golden := filepath.Join(*specs, "golden.txt")
	was, err := os.ReadFile(golden)
	if err != nil && !*rewrite {
		return fmt.Errorf("read the figures that are expected (-rewrite writes them): %w", err)
	}
	missing := filepath.Join(*specs, "never_offered.txt")
	report := gate.New(*specs).Run(ctx, flags.Args()...)
	if !*rewrite {
		report.Compare(string(was), flags.NArg() == 0)
		report.CompareMissing(missing, flags.NArg() == 0)
	}
	report.Print(out)
	if !report.Passed() {
		return fmt.Errorf("red, after %.0f s", report.Seconds)
	}
	if *rewrite {
		if err := report.Rewrite(golden, string(was), *smaller); err != nil {
			return err
		}
		if err := report.RewriteMissing(missing); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "green, in %.0f s\n", report.Seconds)
	return err
}
