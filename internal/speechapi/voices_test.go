package speechapi

// Who may pass the voice gate: enrolment over HTTP, with an Enroller of the test.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// list is an Enroller that keeps the lengths of the recordings.
type list struct {
	mu     sync.Mutex
	people map[string]int
}

// Enrolled implements pipeline.Enroller.
func (l *list) Enrolled() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.people))
}

// EnrolRecording implements pipeline.Enroller.
func (l *list) EnrolRecording(_ context.Context, name string, pcm []float32) error {
	if name == "broken" {
		return errors.New("the disk is full")
	}
	if len(pcm) < pipeline.InputRate {
		return fmt.Errorf("%w: too short", pipeline.ErrEnrolment)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.people[name] = len(pcm)
	return nil
}

// Remove implements pipeline.Enroller.
func (l *list) Remove(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.people[name] == 0 {
		return fmt.Errorf("%w: nobody called %s", pipeline.ErrEnrolment, name)
	}
	delete(l.people, name)
	return nil
}

// does sends a request and returns the status and the body.
func (d desk) does(method, path, kind string, body io.Reader) string {
	r, err := http.NewRequest(method, d.url+path, body)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Content-Type", kind)
	w, err := http.DefaultClient.Do(r)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = w.Body.Close() }()
	text, err := io.ReadAll(w.Body)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	return fmt.Sprintf("%d %s", w.StatusCode, bytes.TrimSpace(text))
}

// enrol sends a form with those fields; the field file is a recording of so many seconds at 24 kHz, none for 0.
func (d desk) enrol(name string, seconds int) string {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if name != "" {
		d.g.Expect(form.WriteField("name", name)).To(gomega.Succeed())
	}
	if seconds > 0 {
		file, err := form.CreateFormFile("file", "a.wav")
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
		pcm := voice.PCM16ToBytes(nil, make([]int16, seconds*24000))
		_, err = file.Write(append(wav.Header(24000, len(pcm)), pcm...))
		d.g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	d.g.Expect(form.Close()).To(gomega.Succeed())
	return d.does(http.MethodPost, "antiphon/voices", form.FormDataContentType(), &body)
}

func TestEnrolment(t *testing.T) {
	p := scripted.New(scripted.Options{})
	d := open(t, p)
	d.g.Expect(d.enrol("Ada", 3)).To(gomega.HavePrefix("404 no_enrolment"), "there is no gate")
	p = scripted.New(scripted.Options{})
	p.Gate = &pipeline.VoiceGate{Enroller: &list{people: map[string]int{}}}
	d = open(t, p)
	d.g.Expect(d.does(http.MethodGet, "antiphon/voices", "", nil)).To(gomega.Equal(`200 {"people":[]}`))
	d.g.Expect(d.enrol("Ada Lovelace", 3)).To(gomega.Equal(`200 {"name":"Ada Lovelace"}`))
	d.g.Expect(p.Gate.Enroller.(*list).people["Ada Lovelace"]).To(gomega.Equal(3*pipeline.InputRate), "it is resampled") //nolint:forcetypeassert // see above
	d.g.Expect(d.does(http.MethodGet, "antiphon/voices", "", nil)).To(gomega.Equal(`200 {"people":["Ada Lovelace"]}`))
	d.g.Expect(d.enrol("", 3)).To(gomega.HavePrefix("400 invalid_value: name"))
	d.g.Expect(d.enrol("Bob", 0)).To(gomega.HavePrefix("400 invalid_value: file"))
	d.g.Expect(d.enrol("Bob", 1)).To(gomega.HavePrefix("200"))
	d.g.Expect(d.enrol("broken", 1)).To(gomega.HavePrefix("502 stage_failed"))
	d.g.Expect(d.does(http.MethodPost, "antiphon/voices", "text/plain", nil)).To(gomega.HavePrefix("415"))
	d.g.Expect(d.does(http.MethodPost, "antiphon/voices/Ada%20Lovelace/remove", "", nil)).To(gomega.Equal(`200 {"name":"Ada Lovelace"}`))
	d.g.Expect(d.does(http.MethodPost, "antiphon/voices/Ada%20Lovelace/remove", "", nil)).To(gomega.HavePrefix("400 invalid_value: name"))
	d.g.Expect(d.does(http.MethodGet, "antiphon/voices", "", nil)).To(gomega.Equal(`200 {"people":["Bob"]}`))
}
