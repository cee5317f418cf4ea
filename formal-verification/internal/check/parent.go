package check

// The parent process: it starts a child process for a specification and reads the child's answer.

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"strings"

	ast "fizz/proto"
)

// childMark is the environment variable that makes a program a child process (see Main).
const childMark = "ANTIPHON_CHECK_CHILD"

// keptChatter is how many bytes of FizzBee's output are kept, in order to explain a crash.
const keptChatter = 4 << 10

// ask runs one child and returns its answer.
func ask(ctx context.Context, f *ast.File, o Options) (*answer, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MemoryMB <= 0 {
		o.MemoryMB = DefaultMemoryMB
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to run it again: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout,
		fmt.Errorf("%w after %v: make the spec smaller or the limit larger", ErrTimeout, o.Timeout))
	defer cancel()

	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), childMark+"=1")
	var out bytes.Buffer
	chatter := &tail{limit: keptChatter}
	cmd.Stdout, cmd.Stderr = &out, chatter
	// The child watches its standard input and dies when it closes, so it never outlives this program.
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("open the child's input: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the checker: %w", err)
	}
	asked := writeRequest(in, f, o)
	ended := cmd.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	found := &answer{}
	if err := gob.NewDecoder(&out).Decode(found); err != nil || ended != nil {
		return nil, crashed(asked, ended, err, chatter.String())
	}
	return found, found.err()
}

func (a *answer) err() error {
	switch a.Fault {
	case "":
		return nil
	case faultMemory:
		return fmt.Errorf("%w: %s", ErrMemory, a.Message)
	default:
		return fmt.Errorf("%w: %s", ErrSpec, a.Message)
	}
}

func crashed(asked, ended, decoded error, chatter string) error {
	reason := ended
	for _, err := range []error{decoded, asked} {
		if reason == nil {
			reason = err
		}
	}
	return fmt.Errorf("%w (%w); it said last:\n%s", ErrCrashed, reason, strings.TrimSpace(chatter))
}

// tail is a writer that keeps the last bytes that were written.
type tail struct {
	limit int
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.kept) }
