package smartturn

// The features against those of a published library, ONNX Runtime with a model of one line, and libraries that crash and hang.

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/antiphon-rt/antiphon/internal/engine/onnx"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engineFolder is the folder of ONNX Runtime, which scripts/models.sh fetches.
const engineFolder = "../../../.cache/models/sherpa-onnx-linux-amd64"

// sweep returns n samples of a tone whose pitch rises again each second, with a little noise.
func sweep(n int) []float32 {
	pcm := make([]float32, n)
	seed := uint32(1)
	for i := range pcm {
		seed = seed*1664525 + 1013904223
		pcm[i] = float32(0.3*math.Sin(float64(i*(i%16000))*1e-5)) + 0.01*(float32(seed>>8)/(1<<23)-1)
	}
	return pcm
}

// The values are those of WhisperFeatureExtractor(chunk_length=8) of transformers 5.23.0 with numpy 2.4.6, with do_normalize=True, rounded to four digits. The
// shorter audio got zeros before it.
func TestFeaturesAreThoseOfWhisper(t *testing.T) {
	g := gomega.NewWithT(t)
	e := newExtractor()
	at := [][2]int{{0, 0}, {0, 1}, {5, 3}, {10, 790}, {40, 400}, {60, 700}, {79, 799}} // band and window
	for n, want := range map[int][]float64{
		samples: {0.681, 1.461, 0.4864, 0.2374, 1.3462, 0.769, 0.3548},
		40000:   {0.4021, 0.4021, -0.1957, 0.38, -0.1957, 0.5092, 0.4578},
	} {
		got := e.extract(sweep(n))
		g.Expect(got).To(gomega.HaveLen(mels * frames))
		for i, place := range at {
			g.Expect(got[place[0]*frames+place[1]]).To(gomega.BeNumerically("~", want[i], 2e-4), "%d samples, band %d, window %d", n, place[0], place[1])
		}
	}
}

// Only the last 8 s count, and neither silence nor nothing at all gives a value that is no number.
func TestFeaturesOfLongAndEmptyAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	e := newExtractor()
	long := sweep(samples + 12345)
	want := append([]float32(nil), e.extract(long[12345:])...)
	g.Expect(e.extract(long)).To(gomega.Equal(want))
	for _, pcm := range [][]float32{nil, make([]float32, samples)} {
		for _, x := range e.extract(pcm) {
			g.Expect(math.IsNaN(float64(x))).To(gomega.BeFalse())
		}
	}
}

// field appends a field of a protocol buffer: a number, a text or a message.
func field[V int | string | []byte](to []byte, number protowire.Number, value V) []byte {
	switch v := any(value).(type) {
	case int:
		return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.VarintType), uint64(v))
	case string:
		return protowire.AppendString(protowire.AppendTag(to, number, protowire.BytesType), v)
	case []byte:
		return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), v)
	}
	return to
}

// meanModel writes an ONNX model with the inputs and outputs of Smart Turn into a new folder, and returns the folder. Its result is the logistic
// function of the mean of all features. The numbers of the fields are those of onnx.proto.
func meanModel(t *testing.T) string {
	t.Helper()
	value := func(name string, shape ...int) []byte {
		var dimensions []byte
		for _, n := range shape {
			dimensions = field(dimensions, 1, field([]byte(nil), 1, n))
		}
		tensor := field(field([]byte(nil), 1, 1), 2, dimensions) // of floats
		return field(field([]byte(nil), 1, name), 2, field([]byte(nil), 1, tensor))
	}
	axes := field(field(field(field([]byte(nil), 1, "axes"), 8, 1), 8, 2), 20, 7)
	mean := field(field(field(field([]byte(nil), 1, "input_features"), 2, "mean"), 4, "ReduceMean"), 5, axes)
	logistic := field(field(field([]byte(nil), 1, "mean"), 2, "logits"), 4, "Sigmoid")
	graph := field(field(field([]byte(nil), 1, mean), 1, logistic), 2, "mean")
	graph = field(field(graph, 11, value("input_features", 1, mels, frames)), 12, value("logits", 1, 1, 1))
	model := field(field(field([]byte(nil), 1, 8), 7, graph), 8, field(field([]byte(nil), 1, ""), 2, 13))
	folder := t.TempDir()
	gomega.NewWithT(t).Expect(os.WriteFile(filepath.Join(folder, modelFile), model, 0o600)).To(gomega.Succeed())
	return folder
}

// A process of its own computes the features, and ONNX Runtime runs the model with them.
func TestAnswers(t *testing.T) {
	g := gomega.NewWithT(t)
	d, err := New(Config{library: engineFolder, model: meanModel(t)})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(d.Close()).To(gomega.Succeed()) }()
	g.Expect(d.Component().State).To(gomega.Equal(pipeline.StateLoading))
	g.Expect(d.Warm(t.Context())).To(gomega.Succeed())
	c := d.Component()
	g.Expect(c.State).To(gomega.Equal(pipeline.StateReady), c.Detail)
	g.Expect(c.Detail).To(gomega.HavePrefix("ONNX Runtime 1."))
	for n, mean := range map[int]float64{samples: 0.39669, 40000: 0.04522} { // of transformers, as above
		t, ok := d.ask(t.Context(), sweep(n))
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(t).To(gomega.BeNumerically("~", 1/(1+math.Exp(-mean)), 1e-4))
	}
	g.Expect(d.Close()).To(gomega.Succeed())
	g.Expect(d.Judge(sweep(samples))).To(gomega.BeClosed(), "nobody asks after the end")
}

// Without the model there are no answers. The component says how to get it.
func TestNothingIsInstalled(t *testing.T) {
	g := gomega.NewWithT(t)
	d, err := New(Config{Models: t.TempDir()})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c := d.Component()
	g.Expect(c.State).To(gomega.Equal(pipeline.StateMissing))
	g.Expect(c.Install).To(gomega.Equal("antiphon models get smart-turn"))
	g.Expect(d.Warm(t.Context())).To(gomega.Succeed())
	_, answered := <-d.Judge(sweep(1000))
	g.Expect(answered).To(gomega.BeFalse())
	g.Expect(d.Close()).To(gomega.Succeed())
}

// A file that is no model, and a library that crashes or hangs, cost the answer and nothing else.
func TestABrokenLibraryGivesNoAnswer(t *testing.T) {
	noModel := t.TempDir()
	if err := os.WriteFile(filepath.Join(noModel, modelFile), []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Config{
		"no model": {library: engineFolder, model: noModel},
		"crash":    {library: compiled(t, `#include <stdlib.h>`+"\nvoid *OrtGetApiBase(void) { abort(); }"), model: meanModel(t)},
		"hang":     {library: compiled(t, `#include <unistd.h>`+"\nvoid *OrtGetApiBase(void) { for (;;) pause(); }"), model: meanModel(t)},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			d, err := New(c)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, answered := <-d.Judge(sweep(1000))
			g.Expect(answered).To(gomega.BeFalse())
			g.Expect(d.Close()).To(gomega.Succeed())
		})
	}
}

// compiled returns a folder with a library of that source in C, in place of ONNX Runtime.
func compiled(t *testing.T, source string) string {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "library.c")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", filepath.Join(folder, "libonnxruntime.so"), file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return folder
}

// What ONNX Runtime says of a file that is no model is in the error.
func TestErrors(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := NewEngine(engineFolder, t.TempDir(), 1)
	g.Expect(err).To(gomega.And(gomega.MatchError(onnx.ErrModel), gomega.MatchError(gomega.ContainSubstring(modelFile))))
	_, err = NewEngine(t.TempDir(), meanModel(t), 1)
	g.Expect(err).To(gomega.MatchError(onnx.ErrLibrary))
}
