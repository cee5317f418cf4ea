package check

// The child process: it reads a specification from its standard input, explores it with FizzBee, and writes what it found.

import (
	"encoding/gob"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	ast "fizz/proto"
	"github.com/fizzbee-io/fizzbee/modelchecker"
)

// memoryLook is the interval at which the child checks its memory.
const memoryLook = 100 * time.Millisecond

// nearLimit is how many tenths of the memory limit the child may use.
const nearLimit = 7

// collectAt is the child's GOGC in percent, and twice the parent's. FizzBee and the comparison of graphs make much garbage, and memory is cheap.
const collectAt = 800

// Main must be the first call of a program that uses this package, also in TestMain. To explore a spec, the program runs itself
// again as a child process. In the parent Main returns at once. In the child it explores the spec and never returns.
func Main() {
	if os.Getenv(childMark) == "" {
		debug.SetGCPercent(collectAt / 2)
		return
	}
	// FizzBee prints at will, so its standard output becomes the error output, and the answer has the real one.
	out := os.Stdout
	os.Stdout = os.Stderr
	_ = flag.Set("logtostderr", "true")

	f, o, err := readRequest(os.Stdin)
	if err != nil {
		reply(out, &answer{Fault: faultSpec, Message: err.Error()})
	}
	go dieWithParent()
	go watchMemory(out, o.MemoryMB)
	reply(out, run(f, o))
}

// reply writes the answer and ends the process. A second caller waits for the end.
func reply(out io.Writer, a *answer) {
	replying <- struct{}{}
	if err := gob.NewEncoder(out).Encode(a); err != nil {
		fmt.Fprintln(os.Stderr, "send the answer:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

var replying = make(chan struct{}, 1)

func dieWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// watchMemory ends the child when its memory without garbage comes near the limit, because it would then mostly collect garbage.
func watchMemory(out io.Writer, limitMB int) {
	limit := int64(limitMB) << 20
	debug.SetGCPercent(collectAt)
	debug.SetMemoryLimit(limit)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for range time.Tick(memoryLook) {
		metrics.Read(live)
		if live[0].Value.Uint64() > uint64(limit)/10*nearLimit {
			reply(out, &answer{Fault: faultMemory, Message: fmt.Sprintf("over %d MB: make the spec smaller or the limit larger", limitMB)})
		}
	}
}

// run explores the spec. A panic of FizzBee means that the spec is wrong.
func run(f *ast.File, o Options) (found *answer) {
	defer func() {
		if r := recover(); r != nil {
			found = &answer{Fault: faultSpec, Message: explain(r)}
		}
	}()
	config, err := configure(f, o)
	if err != nil {
		return &answer{Fault: faultSpec, Message: err.Error()}
	}
	checked := narrow(f, o.Stop)
	p := modelchecker.NewProcessor([]*ast.File{f}, config, false, 0, o.Dir, "bfs", true, nil, nil, "")
	tune(p, f)
	root, failed, err := p.Start()
	if err != nil {
		return &answer{Fault: faultSpec, Message: err.Error()}
	}
	return collect(f, config, checked, root, failed)
}

// explain returns the message of a panic: a mistake in the spec, or in a program.
func explain(r any) string {
	text := fmt.Sprint(r)
	switch r := r.(type) {
	case *modelchecker.ModelError:
		if r.NestedError != nil {
			text += ": " + r.NestedError.Error()
		}
	case runtime.Error:
		text += "\n" + string(debug.Stack())
	}
	return text
}
