package storage_test

// What Open refuses, and background tools of a server with a storage.

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/storage"
)

func TestOpenRefuses(t *testing.T) {
	for says, o := range map[string]storage.Options{
		"name one of them": {Dir: filepath.Join(t.TempDir(), "data"), NATS: "nats://127.0.0.1:1"},
		"NodeURL needs":    {NodeURL: "http://10.0.0.1:8080"},
		"replicas need":    {Replicas: 3},
	} {
		_, err := storage.Open(t.Context(), o)
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)))
	}
	g, o := gomega.NewWithT(t), storage.Options{Dir: filepath.Join(t.TempDir(), "data")}
	first, err := storage.Open(t.Context(), o)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = storage.Open(t.Context(), o)
	g.Expect(err).To(gomega.MatchError(storage.ErrInUse))
	g.Expect(first.Close(t.Context())).To(gomega.Succeed())
	again, err := storage.Open(t.Context(), o)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(again.Close(t.Context())).To(gomega.Succeed())
}

// lines is a writer of a trace. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// A background tool becomes a run. The trace has the steps of the machines in the store. Close ends a run that does not end by itself.
func TestABackgroundTool(t *testing.T) {
	g, trace, works := gomega.NewWithT(t), &lines{}, make(chan struct{}, 2)
	book := pipeline.ServerTool{Tool: pipeline.Tool{Name: "book", Parameters: json.RawMessage(`{"type":"object"}`)}, Run: func(ctx context.Context, _ string) (string, error) {
		works <- struct{}{}
		<-ctx.Done()
		return "", context.Cause(ctx)
	}}
	kept, err := storage.Open(t.Context(), storage.Options{Background: []storage.Tool{{ServerTool: book}}, Trace: trace})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(kept.Tools).To(gomega.HaveLen(1))
	p := scripted.New(scripted.Options{})
	s, err := server.New(server.Config{Pipeline: p, Loopback: true, Stored: kept.Stored, Tools: pipeline.ServerTools{Tools: kept.Tools}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(kept.Publish(t.Context(), s)).To(gomega.Succeed(), "there is no cluster")
	status, _, text := keyed{t: t, server: s}.post("", "/v1/runs", "k", `{"tool":"book","input":{}}`)
	g.Expect(status).To(gomega.BeNumerically("<", http.StatusMultipleChoices), text)
	<-works
	g.Expect(kept.Drain(t.Context(), s, 0)).To(gomega.Succeed())
	kept.EndStreams()
	end, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g.Expect(s.Close(end)).To(gomega.Succeed())
	g.Expect(kept.Close(end)).To(gomega.Succeed())
	g.Expect(p.Close()).To(gomega.Succeed())
	g.Expect(trace.text.String()).To(gomega.And(gomega.ContainSubstring(`"machine":"run"`), gomega.ContainSubstring(`"machine":"idempotency"`)))
}

// A worker of the program's own asks the user, and goes on with the answer.
func TestAWorkerAsksTheUser(t *testing.T) {
	g, replies := gomega.NewWithT(t), make(chan string, 1)
	seat := storage.Worker{Tool: "seat", Work: func(ctx context.Context, turn *storage.Turn) (json.RawMessage, error) {
		answer, err := turn.Ask(ctx, "where", storage.Question{Prompt: "Which seat?", Choices: []string{"window", "aisle"}})
		if err != nil {
			return nil, err
		}
		replies <- string(answer.Reply)
		return json.RawMessage(`{}`), nil
	}}
	kept, err := storage.Open(t.Context(), storage.Options{Workers: []storage.Worker{seat}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := scripted.New(scripted.Options{})
	s, err := server.New(server.Config{Pipeline: p, Loopback: true, Stored: kept.Stored})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	client := keyed{t: t, server: s}
	_, _, text := client.post("", "/v1/runs", "k", `{"tool":"seat","input":{}}`)
	var begun struct{ ID string }
	g.Expect(json.Unmarshal([]byte(text), &begun)).To(gomega.Succeed(), text)
	g.Eventually(func() int {
		status, _, _ := client.post("", "/v1/runs/"+begun.ID+"/reply", "", `{"interaction_id":"ia_1","reply":"aisle"}`)
		return status
	}, patience).Should(gomega.BeNumerically("<", http.StatusMultipleChoices))
	g.Eventually(replies, patience).Should(gomega.Receive(gomega.Equal(`"aisle"`)))
	end, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g.Expect(s.Close(end)).To(gomega.Succeed())
	g.Expect(kept.Close(end)).To(gomega.Succeed())
	g.Expect(p.Close()).To(gomega.Succeed())
}
