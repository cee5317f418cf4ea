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

// sharedMark is the environment variable with the folder of what was explored. Empty: nothing is shared. Its owner empties the folder when
// the checker changes (scripts/test.sh: before each run).
const sharedMark = "EXPLORED_SPECS"

// explore returns what a child finds, or what another run has found for the same content.
func explore(ctx context.Context, f *ast.File, o Options) (*answer, error) {
	file, err := shared(f, o)
	if err != nil {
		return nil, err
	}
	if known, err := os.ReadFile(file); err == nil {
		found := &answer{}
		return found, gob.NewDecoder(bytes.NewReader(known)).Decode(found)
	}
	found, err := ask(ctx, f, o)
	if err != nil || file == "" {
		return found, err
	}
	return found, share(file, found)
}

// shared returns the file with the answer for a whole exploration of a spec, or "" if it is not shared.
func shared(f *ast.File, o Options) (string, error) {
	folder := os.Getenv(sharedMark)
	if folder == "" || o.Plain || len(o.Stop) > 0 {
		return "", nil
	}
	same := proto.CloneOf(f)
	same.SourceInfo.FileName = specName(f) // wherever it was read from
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(same)
	if err != nil {
		return "", fmt.Errorf("encode the spec: %w", err)
	}
	return filepath.Join(folder, fmt.Sprintf("%x.gob", sha256.Sum256(text))), nil
}

// share writes an answer. The file appears whole.
func share(file string, found *answer) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(found); err != nil {
		return fmt.Errorf("encode what was explored: %w", err)
	}
	part := fmt.Sprintf("%s.%d", file, os.Getpid())
	if err := os.WriteFile(part, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("share what was explored: %w", err)
	}
	return os.Rename(part, file)
}
