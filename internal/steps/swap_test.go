package steps_test

// Random schedules in virtual time: several writers change one value in a store that is slow, loses requests and answers, and takes requests late.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/steps"
)

// weakPlace is a Place whose store fails now and then.
type weakPlace struct {
	faults int // in 100 requests
	keep   int // how many versions the store keeps; 0 for all
	late   sync.WaitGroup

	mu       sync.Mutex
	random   *rand.Rand
	versions []steps.Version
	newest   uint64
}

// fault is what becomes of one request.
type fault struct {
	wait                    time.Duration
	requestLost, answerLost bool
}

func (p *weakPlace) next() (f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.wait = time.Duration(p.random.IntN(3)) * time.Millisecond
	if p.random.IntN(100) < p.faults {
		f.wait = time.Duration(p.random.IntN(1200)) * time.Millisecond
		f.requestLost, f.answerLost = p.random.IntN(3) == 0, p.random.IntN(3) == 0
	}
	return f
}

// limit is how long a writer waits for an answer.
const limit = 500 * time.Millisecond

func (p *weakPlace) read(ctx context.Context, after uint64, last bool) (steps.Version, error) {
	f := p.next()
	if !steps.Pause(ctx, min(f.wait, limit)) || f.wait >= limit || f.requestLost || f.answerLost {
		return steps.Version{}, steps.ErrUnavailable
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.versions
	if last {
		all = all[max(0, len(all)-1):]
	}
	for _, v := range all {
		if v.Revision > after {
			return v, nil
		}
	}
	return steps.Version{}, steps.ErrNotFound
}

func (p *weakPlace) Newest(ctx context.Context) (steps.Version, error) { return p.read(ctx, 0, true) }

func (p *weakPlace) After(ctx context.Context, revision uint64) (steps.Version, error) {
	return p.read(ctx, revision, false)
}

// Write implements steps.Place. The store also takes a request for which nobody waits any more.
func (p *weakPlace) Write(_ context.Context, value []byte, revision uint64) (uint64, error) {
	f := p.next()
	type answer struct {
		revision uint64
		err      error
	}
	answers := make(chan answer, 1)
	p.late.Go(func() {
		<-time.After(f.wait)
		if f.requestLost {
			return
		}
		stored, err := p.store(value, revision)
		if !f.answerLost {
			answers <- answer{stored, err}
		}
	})
	select {
	case a := <-answers:
		return a.revision, a.err
	case <-time.After(limit):
		return 0, steps.ErrUnavailable
	}
}

func (p *weakPlace) store(value []byte, revision uint64) (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.newest != revision {
		return 0, steps.ErrConflict
	}
	p.newest++
	p.versions = append(p.versions, steps.Version{Value: value, Revision: p.newest})
	if p.keep > 0 && len(p.versions) > p.keep {
		p.versions = p.versions[len(p.versions)-p.keep:]
	}
	return p.newest, nil
}

// words returns what the newest version has.
func (p *weakPlace) words() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.versions) == 0 {
		return nil
	}
	return strings.Fields(string(p.versions[len(p.versions)-1].Value))
}

// add adds a word to the value. once leaves it as it is if it has the word.
func add(word string, once bool) func(steps.Version) ([]byte, string, error) {
	return func(v steps.Version) ([]byte, string, error) {
		if once && slices.Contains(strings.Fields(string(v.Value)), word) {
			return nil, word, nil
		}
		return fmt.Appendf(nil, "%s %s", v.Value, word), word, nil
	}
}

// TestRandomSchedules: of a store that keeps all versions, each word is stored once, also if it may be added twice. Of one that keeps the newest alone, the same holds for words
// that are added once only, as events of a machine that takes none twice.
func TestRandomSchedules(t *testing.T) {
	for seed := range uint64(160) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &weakPlace{random: rand.New(rand.NewPCG(seed, 1)), faults: int(seed % 4 * 12), keep: int(seed / 4 % 2)}
				stored, unknown := playWriters(t, p, seed)
				words := p.words()
				for _, word := range stored {
					if n := count(words, word); n != 1 {
						t.Errorf("%s was stored, and is there %d times: %s", word, n, words)
					}
				}
				for _, word := range unknown {
					if n := count(words, word); n > 1 {
						t.Errorf("%s is there %d times: %s", word, n, words)
					}
				}
				gomega.NewWithT(t).Expect(len(words)).To(gomega.BeNumerically("<=", len(stored)+len(unknown)))
				if p.faults == 0 {
					gomega.NewWithT(t).Expect(unknown).To(gomega.BeEmpty())
				}
			})
		})
	}
}

func count(words []string, word string) (n int) {
	for _, w := range words {
		if w == word {
			n++
		}
	}
	return n
}

// playWriters has three writers add words. It returns those that were stored, and those of which it is not known.
func playWriters(t *testing.T, p *weakPlace, seed uint64) (stored, unknown []string) {
	t.Helper()
	var mu sync.Mutex
	var writers sync.WaitGroup
	for w := range 3 {
		random := rand.New(rand.NewPCG(seed, uint64(w)+2))
		writers.Go(func() {
			for n := range 12 {
				<-time.After(time.Duration(random.IntN(30)) * time.Millisecond)
				word, patience := fmt.Sprintf("%d.%d", w, n), []time.Duration{0, steps.Patience}[random.IntN(2)]
				done, err := steps.Swap(t.Context(), p, patience, add(word, p.keep == 1))
				mu.Lock()
				switch {
				case err == nil && done.Made == word && (done.Stored > done.Found || p.keep == 1):
					stored = append(stored, word)
				case errors.Is(err, steps.ErrUnavailable):
					unknown = append(unknown, word)
				default:
					t.Errorf("%s: %+v, %v", word, done, err)
				}
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	p.late.Wait()
	return stored, unknown
}

// onePlace is a Place of one test: each function may stand in for the working one.
type onePlace struct {
	weakPlace
	write func(value []byte, revision uint64) (uint64, error)
	after func(revision uint64) (steps.Version, error)
	reads int
}

func newPlace() *onePlace {
	return &onePlace{weakPlace: weakPlace{random: rand.New(rand.NewPCG(1, 1))}}
}

func (p *onePlace) Newest(ctx context.Context) (steps.Version, error) {
	p.reads++
	return p.weakPlace.Newest(ctx)
}

func (p *onePlace) Write(_ context.Context, value []byte, revision uint64) (uint64, error) {
	if p.write != nil {
		return p.write(value, revision)
	}
	return p.store(value, revision)
}

func (p *onePlace) After(ctx context.Context, revision uint64) (steps.Version, error) {
	if p.after != nil {
		return p.after(revision)
	}
	return p.weakPlace.After(ctx, revision)
}

// A write whose answer is lost counts, also for who does not try again, and also if another writer has written after it.
func TestALostAnswer(t *testing.T) {
	for name, more := range map[string]bool{"the newest": false, "another writer goes on": true} {
		t.Run(name, func(t *testing.T) {
			g, p := gomega.NewWithT(t), newPlace()
			p.write = func(value []byte, revision uint64) (uint64, error) {
				stored, err := p.store(value, revision)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				if more {
					_, err = p.store(append(slices.Clone(value), " other"...), stored)
					g.Expect(err).NotTo(gomega.HaveOccurred())
				}
				return 0, steps.ErrUnavailable
			}
			done, err := steps.Swap(t.Context(), p, 0, add("one", false))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(done).To(gomega.Equal(steps.Swapped[string]{Made: "one", Stored: 1}))
		})
	}
}

// Who has no patience does not try again while the store is away. Who has some gives up when it is over.
func TestAStoreThatIsAway(t *testing.T) {
	for _, patience := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			g, p, began := gomega.NewWithT(t), newPlace(), time.Now()
			writes := 0
			p.write = func([]byte, uint64) (uint64, error) { writes++; return 0, steps.ErrUnavailable }
			_, err := steps.Swap(t.Context(), p, patience, add("one", false))
			g.Expect(err).To(gomega.MatchError(steps.ErrUnavailable))
			g.Expect(time.Since(began)).To(gomega.BeNumerically("~", patience, 200*time.Millisecond))
			g.Expect(writes > 1).To(gomega.Equal(patience > 0))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			began = time.Now()
			_, err = steps.Swap(ctx, p, time.Hour, add("one", false))
			g.Expect(err).To(gomega.HaveOccurred())
			g.Expect(time.Since(began)).To(gomega.BeNumerically("<", time.Second))
		})
	}
}

// Another writer may be first 100 times. A value that is removed after a write of unknown result is made anew.
func TestConflicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, p := gomega.NewWithT(t), newPlace()
		p.write = func([]byte, uint64) (uint64, error) { return 0, fmt.Errorf("it says: %w", steps.ErrConflict) }
		_, err := steps.Swap(t.Context(), p, time.Hour, add("one", false))
		g.Expect(err).To(gomega.MatchError(steps.ErrConflict))
		g.Expect(p.reads).To(gomega.Equal(101))

		answers := []error{steps.ErrUnavailable, steps.ErrConflict}
		p.reads = 0
		p.write = func(value []byte, revision uint64) (uint64, error) {
			if len(answers) == 0 {
				return p.store(value, revision)
			}
			err := answers[0]
			answers = answers[1:]
			return 0, err
		}
		_, err = steps.Swap(t.Context(), p, time.Hour, add("one", false))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(p.reads).To(gomega.Equal(2))
	})
}

// While it cannot be read who was first, a write stays unknown: it is not made anew.
func TestAReadThatFailsAfterAConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, p, looks := gomega.NewWithT(t), newPlace(), 0
		lost := true
		p.write = func(value []byte, revision uint64) (uint64, error) {
			stored, err := p.store(value, revision)
			if lost {
				lost, err = false, steps.ErrUnavailable
			}
			return stored, err
		}
		p.after = func(revision uint64) (steps.Version, error) {
			if looks++; looks < 5 {
				return steps.Version{}, steps.ErrUnavailable
			}
			return p.weakPlace.After(t.Context(), revision)
		}
		_, err := steps.Swap(t.Context(), p, time.Hour, add("one", false))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(p.words()).To(gomega.Equal([]string{"one"}))
		g.Expect(p.reads).To(gomega.Equal(1))
	})
}

// An error of the caller, and a nil value, end a Swap without a write.
func TestNothingIsStored(t *testing.T) {
	g, p, errWrong := gomega.NewWithT(t), newPlace(), errors.New("wrong")
	_, err := steps.Swap(t.Context(), p, time.Hour, func(steps.Version) ([]byte, int, error) { return []byte("x"), 0, errWrong })
	g.Expect(err).To(gomega.MatchError(errWrong))
	done, err := steps.Swap(t.Context(), p, time.Hour, func(steps.Version) ([]byte, int, error) { return nil, 7, nil })
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(done).To(gomega.Equal(steps.Swapped[int]{Made: 7}))
	g.Expect(p.words()).To(gomega.BeEmpty())
}
