package confine

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The limits of a process, and how a command runs with them.

// Limits are what a process may use. It writes no core dump in any case.
type Limits struct {
	// Memory is the size of the data of the process, in bytes.
	Memory uint64
	// CPU is the processor time of the process, rounded up to seconds; 0 is no limit.
	CPU time.Duration
	// File is the size of the largest file that the process may write, in bytes; 0 lets it write none. A pipe is no file.
	File uint64
}

// inherited are the environment variables that the process of an engine gets: what a program, its loader, its runtime and its libraries need.
var inherited = regexp.MustCompile(`^(PATH|HOME|TMPDIR|TMP|TEMP|TZ|LANG|LC_.*|LD_LIBRARY_PATH|DYLD_.*|SYSTEMROOT|GO[A-Z0-9]+|OMP_.*|MKL_.*|CUDA_.*|NVIDIA_.*|GGML_.*)=`)

// Environment returns the environment of an engine's process: this process's own without API keys and other secrets, which a fault in the engine would give away.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return !inherited.MatchString(strings.ToUpper(v)) })
}

// files is how many files and pipes a process may have open.
const files = 128

func (l Limits) seconds() uint64 { return uint64((l.CPU + time.Second - 1) / time.Second) }

// Start starts a command like cmd.Start. On Linux neither its process nor the programs that it runs can gain privileges, for example by a setuid program.
func Start(cmd *exec.Cmd) error { return start(cmd) }

// Run runs a command like cmd.Run, with Start, and limits its process as soon as it exists.
func Run(cmd *exec.Cmd, l Limits) error {
	if err := Start(cmd); err != nil {
		return err
	}
	if err := apply(cmd.Process.Pid, l); err != nil {
		_ = cmd.Process.Kill() // without limits it does not run
		_ = cmd.Wait()         // the error of apply says why
		return err
	}
	return cmd.Wait()
}

func Self(l Limits) error { return apply(0, l) }
