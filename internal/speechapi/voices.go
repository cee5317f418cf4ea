package speechapi

// The people who may pass the voice gate: GET and POST /v1/antiphon/voices, and POST /v1/antiphon/voices/{name}/remove.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// enrolWithin is how long an enrolment may take: the print of a minute of speech takes 2 s of a processor.
const enrolWithin = 30 * time.Second

// enroller returns what enrols people.
func (h *Handler) enroller() (pipeline.Enroller, *answer.Problem) {
	if h.cfg.Pipeline.Gate == nil || h.cfg.Pipeline.Gate.Enroller == nil {
		return nil, &answer.Problem{
			Status: http.StatusNotFound, Code: "no_enrolment",
			Message: "this server enrols nobody over HTTP: give the section voices of antiphon.yaml a folder",
		}
	}
	return h.cfg.Pipeline.Gate.Enroller, nil
}

// Voices answers the request for the names of those who are enrolled.
func (h *Handler) Voices(w http.ResponseWriter, _ *http.Request, _ string) *answer.Problem {
	e, p := h.enroller()
	if p != nil {
		return p
	}
	answer.JSON(w, http.StatusOK, map[string]any{"people": append([]string{}, e.Enrolled()...)})
	return nil
}

// Enrol answers the request to enrol a person: a form with the fields name and file.
func (h *Handler) Enrol(w http.ResponseWriter, r *http.Request, principal string) *answer.Problem {
	e, p := h.enroller()
	if p != nil {
		return p
	}
	done, p := h.enter(principal)
	if p != nil {
		return p
	}
	defer done()
	name, pcm, p := readEnrolment(w, r)
	if p != nil {
		return p
	}
	err := h.cfg.Guard.Run(r.Context(), pipeline.StageVoiceGate, func(watch *watchdog.Watch) error {
		ctx, cancel := context.WithTimeout(r.Context(), enrolWithin)
		defer cancel()
		watch.Expect("enrolling a voice", enrolWithin+time.Second)
		defer watch.Rest()
		return e.EnrolRecording(ctx, name, voice.PCM16ToFloat(nil, pcm))
	})
	switch {
	case r.Context().Err() != nil:
		return nil // the client is gone
	case errors.Is(err, pipeline.ErrEnrolment):
		return bad("file", "%v", err)
	case err != nil:
		return stageProblem(err)
	}
	answer.JSON(w, http.StatusOK, map[string]any{"name": name})
	return nil
}

// Remove answers the request to remove a person.
func (h *Handler) Remove(w http.ResponseWriter, r *http.Request, _ string) *answer.Problem {
	e, p := h.enroller()
	if p != nil {
		return p
	}
	switch err := e.Remove(r.PathValue("name")); {
	case errors.Is(err, pipeline.ErrEnrolment):
		return bad("name", "%v", err)
	case err != nil:
		return stageProblem(err)
	}
	answer.JSON(w, http.StatusOK, map[string]any{"name": r.PathValue("name")})
	return nil
}

// readEnrolment reads the form of an enrolment.
func readEnrolment(w http.ResponseWriter, r *http.Request) (name string, pcm []int16, p *answer.Problem) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRecording+1<<20)
	form, err := r.MultipartReader()
	if err != nil {
		return "", nil, &answer.Problem{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Message: "want a form with a name and a file (multipart/form-data)"}
	}
	var q transcriptionRequest
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", nil, answer.BadBody(err)
		}
		switch part.FormName() {
		case "file":
			if p := q.recording(part); p != nil {
				return "", nil, p
			}
		case "name":
			text, err := io.ReadAll(io.LimitReader(part, maxField))
			if err != nil {
				return "", nil, answer.BadBody(err)
			}
			name = string(text)
		}
	}
	switch {
	case name == "":
		return "", nil, bad("name", "the form has no name")
	case q.pcm == nil:
		return "", nil, bad("file", "the form has no file")
	}
	return name, q.pcm, nil
}
