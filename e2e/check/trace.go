package check

// Opens the files in which the tests keep traces and records for make trace-check.

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// tracesFolder names the environment variable with the folder that keeps what the machines of the tests' servers did.
// `make e2e` sets it, and `make trace-check` holds what is there to the specs.
const tracesFolder = "ANTIPHON_TRACES"

// Trace is a new file for one server's trace, in the folder that `make e2e` keeps them in; nil where there is none. Close it
// when the server is closed.
func Trace(name string) (*os.File, error) {
	folder := os.Getenv(tracesFolder)
	if folder == "" {
		return nil, nil
	}
	f, err := os.CreateTemp(folder, name+"-*.jsonl")
	if err != nil {
		return nil, fmt.Errorf("keep a trace in %s=%s: %w", tracesFolder, folder, err)
	}
	return f, nil
}

// Beside is the name of the record that goes with the trace of that name: `make trace-check` compares the two.
func Beside(trace string) string { return strings.TrimSuffix(trace, ".jsonl") + ".record" }

// RecordOf is a new file for the record that goes with a trace; nil where there is none. Close it when the server is closed.
func RecordOf(trace *os.File) (*os.File, error) {
	if trace == nil {
		return nil, nil
	}
	f, err := os.Create(Beside(trace.Name()))
	if err != nil {
		return nil, fmt.Errorf("keep a record beside a trace: %w", err)
	}
	return f, nil
}

// Both writes to w and, where there is one, to the file that is kept.
func Both(w io.Writer, kept *os.File) io.Writer {
	if kept == nil {
		return w
	}
	return io.MultiWriter(w, kept)
}
