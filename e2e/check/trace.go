package check

import (
	"fmt"
	"io"
	"os"
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

// Both writes to w and, where there is one, to the trace.
func Both(w io.Writer, trace *os.File) io.Writer {
	if trace == nil {
		return w
	}
	return io.MultiWriter(w, trace)
}
