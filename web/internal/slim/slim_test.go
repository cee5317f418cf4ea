//go:build !js

package slim_test

// Smaller programs behave as before.

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/web/internal/slim"
)

// program makes the runtime walk stacks in each way that it does by itself: to collect garbage, to grow a stack, to unwind a panic, to
// run deferred functions and to recover. It then ends in a panic, whose text is printed.
const program = `package main

import (
	"errors"
	"runtime"
	"strconv"
)

type node struct {
	next *node
	name string
}

func deep(n int, kept *node) int {
	var room [64]byte
	room[n%64] = byte(n)
	if n == 0 {
		runtime.GC()
		return len(kept.name)
	}
	return deep(n-1, &node{kept, kept.name + "x"}) + int(room[n%64]) - n%256
}

func recovered() (err error) {
	defer func() {
		err, _ = recover().(error)
	}()
	var none []int
	_ = none[len(none)+deep(10, &node{})]
	return nil
}

func main() {
	println(deep(5000, &node{}))
	done := make(chan int)
	for i := range 50 {
		go func() { done <- deep(100*i, &node{name: strconv.Itoa(i)}) }()
	}
	sum := 0
	for range 50 {
		sum += <-done
	}
	println(sum)
	println(recovered().Error())
	panic(errors.New("the end"))
}
`

// compiled compiles the program with Go, without inlining or with it.
func compiled(t *testing.T, g *gomega.WithT, flags ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	source, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.wasm")
	g.Expect(os.WriteFile(source, []byte(program), 0o600)).To(gomega.Succeed())
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-o", out}, flags...), source)...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	said, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(said))
	wasm, err := os.ReadFile(out)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return wasm
}

// run returns what a program prints before the stack of its panic, and that stack.
func run(t *testing.T, g *gomega.WithT, wasm []byte) (printed, stack string) {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	file := filepath.Join(t.TempDir(), "main.wasm")
	g.Expect(os.WriteFile(file, wasm, 0o600)).To(gomega.Succeed())
	out, err := exec.CommandContext(t.Context(), "node", filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec_node.js"), file).CombinedOutput()
	var ended *exec.ExitError
	g.Expect(errors.As(err, &ended)).To(gomega.BeTrue(), "%v: %s", err, out)
	g.Expect(ended.ExitCode()).To(gomega.Equal(2), string(out))
	printed, stack, _ = strings.Cut(string(out), "goroutine 1 [running]:")
	return printed, stack
}

func TestAProgramDoesTheSame(t *testing.T) {
	for name, flags := range map[string][]string{
		"as it is released":      {"-trimpath", "-ldflags=-s -w", "-gcflags=all=-l"},
		"as Go builds of itself": nil,
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			before := compiled(t, g, flags...)
			after, err := slim.Program(before)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			printed, stack := run(t, g, before)
			g.Expect(stack).To(gomega.ContainSubstring("main.main"))
			g.Expect(printed).To(gomega.ContainSubstring("the end"))
			same, stack := run(t, g, after)
			g.Expect(same).To(gomega.Equal(printed))
			g.Expect(stack).NotTo(gomega.ContainSubstring("main."))
			again, err := slim.Program(after)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(again).To(gomega.Equal(after))
		})
	}
}

func TestOtherInputIsRefused(t *testing.T) {
	const header = "\x00asm\x01\x00\x00\x00"
	for name, c := range map[string]struct{ wasm, says string }{
		"nothing":                {"", "no WebAssembly module"},
		"a text":                 {"not a program", "no WebAssembly module"},
		"cut off":                {header + "\x0b\x05\x01", "ends too early"},
		"a segment cut off":      {header + "\x0b\x05\x01\x00\x41\x00\x0b", "ends too early"},
		"a passive segment":      {header + "\x0b\x06\x01\x01\x41\x00\x0b\x00", "not at a fixed place"},
		"a computed place":       {header + "\x0b\x06\x01\x00\x23\x00\x0b\x00", "not at a fixed place"},
		"before the memory":      {header + "\x0b\x06\x01\x00\x41\x7f\x0b\x00", "a segment is at -1"},
		"more than there can be": {header + "\x0b\x0a\x01\x00\x41\xff\xff\xff\xff\x07\x0b\x00", "a segment is at 2147483647"},
		"a number without end":   {header + "\x0b\x0b\x01\x00\x41\xff\xff\xff\xff\xff\x07\x0b\x00", "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			out, err := slim.Program([]byte(c.wasm))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.says)))
			g.Expect(out).To(gomega.BeNil())
		})
	}
}

// When the table of functions has an unknown form, the segments are still joined.
func TestATableThatIsNotKnown(t *testing.T) {
	const header = "\x00asm\x01\x00\x00\x00"
	two := "\x0c\x01\x02" + "\x0b\x0e\x02" + "\x00\x41\x10\x0b\x02ab" + "\x00\x41\x14\x0b\x01c"
	for name, wasm := range map[string]string{
		"none":             header + two,
		"a header cut off": header + "\x0b\x0e\x01\x00\x41\x10\x0b\x08\xf1\xff\xff\xff\x00\x00\x01\x08",
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			out, err := slim.Program([]byte(wasm))
			g.Expect(err).To(gomega.MatchError(slim.ErrTables))
			g.Expect(string(out)).To(gomega.HavePrefix(header))
			if name == "none" {
				g.Expect(string(out)).To(gomega.Equal(header + "\x0c\x01\x01" + "\x0b\x0b\x01\x00\x41\x10\x0b\x05ab\x00\x00c"))
			}
		})
	}
}
