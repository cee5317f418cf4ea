package protocolcheck

// Opens the files in which the tests keep traces and records for make trace-check.

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// tracesFolder is the environment variable with the folder for the traces of the tests' servers. `make e2e` sets it, and
// `make trace-check` compares the traces with the specifications.
const tracesFolder = "ANTIPHON_TRACES"

// Trace returns a new file for one server's trace, in the folder of `make e2e`; nil where there is no folder. Close it
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

// Beside returns the name of the record that belongs to the trace with this name: `make trace-check` compares the two.
func Beside(trace string) string { return strings.TrimSuffix(trace, ".jsonl") + ".record" }

// RecordOf returns a new file for the record that belongs to a trace; nil where there is no trace. Close it when the server is closed.
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

// Both returns a writer to w and, where there is one, to the file.
func Both(w io.Writer, kept *os.File) io.Writer {
	if kept == nil {
		return w
	}
	return io.MultiWriter(w, kept)
}
