package main

// The flags of `antiphon bench`, and its capacity campaign with a few calls.

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestBenchRefusesTooLargeFlags(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect((&bench{Time: time.Hour}).Run(t.Context())).To(gomega.MatchError(gomega.ContainSubstring("--time")))
	g.Expect((&bench{Time: maxBenchTime, Sessions: 1e6}).Run(t.Context())).To(gomega.MatchError(gomega.ContainSubstring("--sessions")))
	g.Expect((&bench{Time: maxBenchTime, Soak: true}).Run(t.Context())).To(gomega.MatchError(gomega.ContainSubstring("--soak")))
}

// asProgram is the environment variable that makes the test program bin/antiphon: the campaign starts its own program as the server.
const asProgram = "ANTIPHON_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	main()
}

// program returns a run of bin/antiphon.
func program(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	c := exec.CommandContext(t.Context(), self, arguments...)
	c.Env = append(os.Environ(), asProgram+"=1")
	return c
}

// TestCapacityCampaign holds three calls on a server and reads what the campaign prints: figures, which depend on the machine, and the
// server's goroutines, none of which is left.
func TestCapacityCampaign(t *testing.T) {
	for name, flags := range map[string][]string{
		"growing":   nil,
		"soak":      {"--soak"},
		"profiling": {"--profile", "profiles"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			c := program(t, append([]string{"bench", "--sessions", "3", "--time", "5s"}, flags...)...)
			c.Dir, c.Stderr = t.TempDir(), os.Stderr
			out, err := c.Output()
			g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
			// The number of calls or the time, processors, calls a processor, the same as a share of bare pion's, processors of the clients, p50 and p99 of lateness, late frames
			// of all, memory a call, resident memory, goroutines.
			g.Expect(string(out)).To(gomega.MatchRegexp(
				`\n +(3|5s) +\d+\.\d\d +\d+ +\d+\.\d\d +\d+\.\d\d +\S+s +\S+s +\d+ of [1-9]\d* +-?\d+\.\d\d MB +\d+\.\d\d MB +\d+\n`))
			ends := regexp.MustCompile(`(\d+) and (\d+) goroutines`).FindSubmatch(out)
			g.Expect(ends).To(gomega.HaveLen(3), string(out))
			before, err1 := strconv.Atoi(string(ends[1]))
			after, err2 := strconv.Atoi(string(ends[2]))
			g.Expect([]error{err1, err2}).To(gomega.HaveEach(gomega.BeNil()))
			g.Expect(after).To(gomega.BeNumerically("<=", before), "goroutines of the server that outlive its calls")
			if name == "profiling" {
				for _, file := range []string{"cpu.pprof", "heap.pprof", "goroutines.txt"} {
					g.Expect(filepath.Join(c.Dir, "profiles", file)).To(gomega.BeAnExistingFile())
				}
			}
		})
	}
}

func TestProfilesAreForThisMachine(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := serveProfiles("0.0.0.0:0")
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("want a loopback address")))
}
