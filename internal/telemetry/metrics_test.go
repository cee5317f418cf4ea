package telemetry

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
)

// The dashboard and the guide for operators name no metric that does not exist.
func TestMetricsThatAreNamedExist(t *testing.T) {
	g := gomega.NewWithT(t)
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		New(func() Snapshot { return Snapshot{} }, nil).registry.Describe(described)
	}()
	exists := map[string]bool{}
	for d := range described {
		exists[regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1]] = true
	}
	for _, file := range []string{"deploy/grafana.json", "docs/operating.md"} {
		text, err := os.ReadFile("../../" + file)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(json.Valid(text)).To(gomega.Equal(strings.HasSuffix(file, ".json")))
		for _, name := range regexp.MustCompile(`\b(antiphon|process|go)_\w+`).FindAllString(string(text), -1) {
			g.Expect(exists).To(gomega.HaveKey(strings.TrimSuffix(name, "_bucket")), file)
		}
	}
}

// However many names of keys there are, the metrics have few of them.
func TestNamesOfKeysAreFew(t *testing.T) {
	g := gomega.NewWithT(t)
	m := New(func() Snapshot { return Snapshot{} }, nil)
	for n := range maxLabels + 100 {
		m.Talked(fmt.Sprint("key ", n), time.Second)
		m.Event(fmt.Sprint("key ", n), []byte(`{"type":"response.done","event_id":"e","response":{"id":"r","status":"completed","output":[],"usage":{"total_tokens":5,"input_tokens":3,"output_tokens":2}}}`))
	}
	found, err := m.registry.Gather()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	series := map[string]int{}
	others := map[string]float64{}
	for _, f := range found {
		series[f.GetName()] = len(f.GetMetric())
		for _, one := range f.GetMetric() {
			for _, l := range one.GetLabel() {
				if l.GetName() == "key" && l.GetValue() == "other" {
					others[f.GetName()] += one.GetCounter().GetValue()
				}
			}
		}
	}
	g.Expect(series).To(gomega.HaveKeyWithValue("antiphon_key_call_seconds_total", maxLabels+1))
	g.Expect(series).To(gomega.HaveKeyWithValue("antiphon_key_tokens_total", 2*(maxLabels+1)))
	g.Expect(others).To(gomega.Equal(map[string]float64{"antiphon_key_call_seconds_total": 100, "antiphon_key_tokens_total": 500}))
}

// A name or a code that is no UTF-8 ends no server.
func TestLabelsAreUTF8(t *testing.T) {
	g := gomega.NewWithT(t)
	m := New(func() Snapshot { return Snapshot{} }, nil)
	m.Talked("K\xe4se", time.Second)
	m.Refused("\xff")
	_, err := m.registry.Gather()
	g.Expect(err).NotTo(gomega.HaveOccurred())
}
