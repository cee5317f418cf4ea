package check

// Programs that explore the same specification share what they find: the gate, the tests of the adapters and tracecheck.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"

	ast "fizz/proto"
	"google.golang.org/protobuf/proto"
)

// sharedMark is the environment variable with the folder of what was explored. Empty: nothing is shared. Its owner takes another folder when the
// checker changes (scripts/remember.sh).
const sharedMark = "EXPLORED_SPECS"

// explore returns what a child finds, or what another run has found for the same content. A spec that may read files beside it is not shared.
func explore(ctx context.Context, f *ast.File, o Options) (*answer, error) {
	folder := os.Getenv(sharedMark)
	if folder == "" || o.Plain || o.Dir != "" {
		return ask(ctx, f, o)
	}
	same, sum := proto.CloneOf(f), sha256.New()
	same.SourceInfo.FileName = specName(f) // wherever it was read from
	if err := writeRequest(sum, same, Options{Stop: o.Stop}); err != nil {
		return nil, err
	}
	file := filepath.Join(folder, fmt.Sprintf("%x", sum.Sum(nil)))
	if known, err := os.ReadFile(file); err == nil {
		found := &answer{}
		return found, gob.NewDecoder(bytes.NewReader(known)).Decode(found)
	}
	found, err := ask(ctx, f, o)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(found); err != nil {
		return nil, fmt.Errorf("encode what was explored: %w", err)
	}
	part := fmt.Sprintf("%s.%d", file, os.Getpid()) // the file appears whole
	if err := os.WriteFile(part, b.Bytes(), 0o600); err != nil {
		return nil, fmt.Errorf("share what was explored: %w", err)
	}
	return found, os.Rename(part, file)
}
