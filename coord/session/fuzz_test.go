package session

// A fuzz test of the composition: each byte of the input chooses the next event.

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// corpus is the folder of the inputs with which fuzzing starts.
const corpus = "testdata/fuzz/FuzzSession"

// perform plays a schedule. Each byte of script makes one choice.
func perform(script []byte, see func(Event, Step)) (*world, string) {
	at := 0
	reports := len(script) > 0 && script[0]&1 > 0
	w := newWorld(Config{Interrupt: true, CreateResponse: true, Reports: reports}, func(n int) int {
		if at == len(script) {
			return 0
		}
		at++
		return int(script[at-1]) % n
	})
	w.onStep = see
	return w, w.play(len(script))
}

// FuzzSession plays schedules. Each byte of the input makes one choice.
func FuzzSession(f *testing.F) {
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 400 {
			return
		}
		if w, broken := perform(script, nil); broken != "" {
			t.Fatalf("%s\n%s\n%s", broken, w.story(broken), fmt.Sprintf("%+v", w.s))
		}
	})
}

// reached returns the rows that a script takes.
func reached(script []byte) map[string]bool {
	out := map[string]bool{}
	perform(script, func(_ Event, st Step) {
		if row := rowOf(st); st.Action != "" && !slices.Contains(unreachable, row) {
			out[row] = true
		}
	})
	return out
}

// TestCorpus: the committed inputs take every row that a session can take, so that the engine starts from all of them. A
// change of how bytes are read makes them say something else; -rewrite then looks for inputs that do it again.
func TestCorpus(t *testing.T) {
	g := gomega.NewWithT(t)
	never := map[string]bool{}
	for _, row := range allRows() {
		if !slices.Contains(unreachable, row) {
			never[row] = true
		}
	}
	if coordtest.Rewrites() {
		g.Expect(rewriteCorpus(maps.Clone(never))).To(gomega.Succeed())
	}
	files, err := filepath.Glob(filepath.Join(corpus, "*"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, path := range files {
		text, err := os.ReadFile(path)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		quoted := strings.TrimSuffix(strings.TrimPrefix(string(bytes.Split(text, []byte("\n"))[1]), "[]byte("), ")")
		script, err := strconv.Unquote(quoted)
		g.Expect(err).NotTo(gomega.HaveOccurred(), path)
		for row := range reached([]byte(script)) {
			delete(never, row)
		}
	}
	g.Expect(slices.Sorted(maps.Keys(never))).To(gomega.BeEmpty(), "go test ./coord/session -run '^TestCorpus$' -args -rewrite")
}

// rewriteCorpus keeps of many random scripts the one that takes most of what none before it has taken, again and again.
func rewriteCorpus(never map[string]bool) error {
	old, err := filepath.Glob(filepath.Join(corpus, "*"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	dice := rand.New(rand.NewPCG(1, 1))
	for n := 1; len(never) > 0 && n <= 40; n++ {
		var best []byte
		most := 0
		for range 1_000 {
			script := make([]byte, 60+dice.IntN(140))
			for i := range script {
				script[i] = byte(dice.IntN(256))
			}
			fresh := 0
			for row := range reached(script) {
				if never[row] {
					fresh++
				}
			}
			if fresh > most {
				best, most = script, fresh
			}
		}
		if most == 0 {
			continue
		}
		for row := range reached(best) {
			delete(never, row)
		}
		text := fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", best)
		if err := os.WriteFile(filepath.Join(corpus, fmt.Sprintf("reach-%02d", n)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
