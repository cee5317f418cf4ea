package deploy

// What the servers of a cluster have recorded of their machines, and the journals of the calls on the NATS server: who owned a call, and who wrote.

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
)

// keep copies the traces of servers to where `make trace-check` finds them after `make e2e`, and compares them with the specifications.
func keep(g *gomega.WithT, name string, traces ...string) {
	for _, trace := range traces {
		kept, err := protocolcheck.Trace(name)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		if kept == nil {
			return // nobody asks for them
		}
		text, err := os.ReadFile(trace)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = kept.Write(text[:bytes.LastIndexByte(text, '\n')+1]) // a server that was killed may have written a part of its last line
		g.Expect(errors.Join(err, kept.Close())).To(gomega.Succeed())
	}
}

// ownership is what one trace has of the journal of a call at one of its owners.
type ownership struct {
	Trace   string
	Last    string   // the name of the last state
	Effects []string // the names of all effects
}

// owners returns the owners of the calls in these traces, by the name of the call's list and the epoch.
func owners(g *gomega.WithT, traces ...string) map[string]*ownership {
	all := map[string]*ownership{}
	for _, name := range traces {
		text, err := os.ReadFile(name)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for line := range bytes.Lines(text) {
			var step struct {
				Session, Machine string
				To               struct{ Name string }
				Effects          []struct{ Name string }
			}
			g.Expect(json.Unmarshal(line, &step)).To(gomega.Succeed())
			if step.Machine != "journal" {
				continue
			}
			o := all[step.Session]
			if o == nil {
				o = &ownership{Trace: name}
				all[step.Session] = o
			}
			g.Expect(o.Trace).To(gomega.Equal(name), "two servers own %s", step.Session)
			o.Last = step.To.Name
			for _, f := range step.Effects {
				o.Effects = append(o.Effects, f.Name)
			}
		}
	}
	return all
}

// journalWatch listens to what the servers of a cluster write into the journals of their calls, and to the answers of the NATS server. A journal itself does not have all of it,
// because its owner shortens it.
type journalWatch struct {
	mu      sync.Mutex
	writes  []journalWrite
	answers map[string]uint64 // by their subject: the revision of what was stored, or 0
}

// journalWrite is one write into the journal of a call.
type journalWrite struct {
	list     string
	epoch    uint32
	claims   bool   // it begins an epoch
	reply    string // the subject of its answer
	revision uint64
}

// watchJournals listens until the test ends.
func watchJournals(t *testing.T, address string) *journalWatch {
	t.Helper()
	g := gomega.NewWithT(t)
	connection, err := nats.Connect("nats://" + address)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(connection.Close)
	w := &journalWatch{answers: map[string]uint64{}}
	for subject, heard := range map[string]nats.MsgHandler{"LOG.calls.>": w.written, "_INBOX.>": w.answered} {
		_, err = connection.Subscribe(subject, heard)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(connection.Flush()).To(gomega.Succeed())
	return w
}

func (w *journalWatch) written(m *nats.Msg) {
	epoch := binary.BigEndian.Uint32(m.Data[1:]) // see internal/journal/entry.go
	one := journalWrite{
		reply: m.Reply, list: strings.TrimPrefix(m.Subject, "LOG.calls."), epoch: epoch, claims: bytes.Contains(m.Data, fmt.Appendf(nil, `"Claimed":%d,`, epoch)),
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, one)
}

func (w *journalWatch) answered(m *nats.Msg) {
	var answer struct{ Seq uint64 }
	_ = json.Unmarshal(m.Data, &answer) // a refusal has no number
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[m.Subject] = answer.Seq // it may come before the write itself
}

// stored returns the writes that were stored, in the order of the log, and how many were refused.
func (w *journalWatch) stored() (all []journalWrite, refused int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.writes {
		revision, answered := w.answers[one.reply]
		if one.revision = revision; revision != 0 {
			all = append(all, one)
		} else if answered {
			refused++
		}
	}
	slices.SortFunc(all, func(a, b journalWrite) int { return cmp.Compare(a.revision, b.revision) })
	return all, refused
}

// oneOwner checks that no owner of the only call has written after the next one has claimed it, and that each owner but the first began with its claim. It returns the name
// of the call's journal and the epochs.
func (w *journalWatch) oneOwner(t *testing.T) (list string, epochs []uint32) {
	t.Helper()
	g := gomega.NewWithT(t)
	all, refused := w.stored()
	g.Expect(all).NotTo(gomega.BeEmpty())
	epochs = []uint32{1}
	for _, one := range all {
		g.Expect(one.list).To(gomega.Equal(all[0].list), "there is one call")
		if newest := epochs[len(epochs)-1]; one.epoch != newest {
			g.Expect(one.epoch).To(gomega.Equal(newest+1), "an owner with another epoch writes after that with epoch %d", newest)
			g.Expect(one.claims).To(gomega.BeTrue(), "the owner with epoch %d has not claimed the call", one.epoch)
			epochs = append(epochs, one.epoch)
		}
	}
	t.Logf("%d writes of the owners with the epochs %v were stored one after another; %d writes were refused", len(all), epochs, refused)
	return all[0].list, epochs
}

// fenced checks that the call had two owners, of which the first was fenced, and that it wrote nothing and told nobody anything after that.
func fenced(g *gomega.WithT, owned map[string]*ownership, list string) {
	former, next := owned[fmt.Sprintf("%s.%d", list, 1)], owned[fmt.Sprintf("%s.%d", list, 2)]
	g.Expect(former).NotTo(gomega.BeNil(), list)
	g.Expect(next).NotTo(gomega.BeNil(), list)
	g.Expect(former.Trace).NotTo(gomega.Equal(next.Trace), "the owners are two servers")
	g.Expect(former.Last).To(gomega.Equal("Fenced"))
	g.Expect(former.Effects[len(former.Effects)-1]).To(gomega.Equal("Fence"))
	g.Expect(next.Effects).NotTo(gomega.ContainElement("Fence"))
}
