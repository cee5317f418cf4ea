package signal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/antiphon-rt/antiphon/server/rtc"
	"github.com/antiphon-rt/antiphon/server/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// call sets up a WebRTC call: an SDP offer comes, an SDP answer goes.
func (h *Handler) call(w http.ResponseWriter, r *http.Request) {
	offer, settings, p := h.readCall(w, r)
	if p != nil {
		p.write(w)
		return
	}
	id := "rtc_" + rand.Text()
	s, p := h.newSession(id, settings)
	if p != nil {
		p.write(w)
		return
	}
	peer, answer, err := h.cfg.Engine.Answer(r.Context(), offer, s)
	if err != nil {
		h.abandon(id, s)
		p := &problem{status: http.StatusBadRequest, code: "invalid_offer", message: err.Error(), param: "sdp"}
		if !errors.Is(err, rtc.ErrBadSDP) && !errors.Is(err, rtc.ErrNoAudio) {
			p = &problem{status: http.StatusInternalServerError, kind: "server_error", code: "call_failed", message: err.Error()}
		}
		p.write(w)
		return
	}
	h.began()
	s.Start(peerLink{peer})
	w.Header().Set("Content-Type", "application/sdp")
	w.Header().Set("Location", "/v1/realtime/calls/"+id)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer) // an error here is a client that went away: the call ends by itself
}

// readCall reads the offer and the session's settings from either form of the request.
func (h *Handler) readCall(w http.ResponseWriter, r *http.Request) (offer string, settings wire.Session, p *problem) {
	settings = h.cfg.Settings.Clone()
	if model := r.URL.Query().Get("model"); model != "" {
		settings.Model = model
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/sdp":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return "", settings, badBody(err)
		}
		return string(body), settings, nil
	case err == nil && kind == "multipart/form-data" && params["boundary"] != "":
		return readForm(multipart.NewReader(r.Body, params["boundary"]), settings)
	}
	return "", settings, &problem{
		status: http.StatusUnsupportedMediaType, code: "unsupported_media_type",
		message: "send the SDP offer as application/sdp, or as multipart/form-data with the parts sdp and session",
	}
}

// readForm takes the parts sdp and session, each a field or a file: browsers send Blobs as files.
func readForm(form *multipart.Reader, settings wire.Session) (offer string, _ wire.Session, p *problem) {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", settings, badBody(err)
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return "", settings, badBody(err)
		}
		switch part.FormName() {
		case "sdp":
			offer = string(body)
		case "session":
			if err := session.Settings(&settings, body); err != nil {
				return "", settings, badSession(err)
			}
		}
	}
	if strings.TrimSpace(offer) == "" {
		return "", settings, &problem{status: http.StatusBadRequest, code: "missing_field", param: "sdp", message: "the form has no part named sdp with the SDP offer"}
	}
	return offer, settings, nil
}

func badBody(err error) *problem {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &problem{
			status: http.StatusRequestEntityTooLarge, code: "body_too_large",
			message: fmt.Sprintf("the request is larger than %d bytes", tooLarge.Limit),
		}
	}
	return &problem{status: http.StatusBadRequest, code: "invalid_body", message: "the request's body cannot be read: " + err.Error()}
}

func badSession(err error) *problem {
	p := &problem{status: http.StatusBadRequest, code: "invalid_session", message: err.Error(), param: "session"}
	var bad *wire.DecodeError
	if errors.As(err, &bad) {
		p.code, p.message, p.param = bad.Code, bad.Message, bad.Param
	}
	return p
}

// peerLink is a WebRTC call as a session sees it.
type peerLink struct{ peer *rtc.Peer }

func (l peerLink) Send(text []byte, sent func()) error {
	err := l.peer.Send(text)
	if err == nil && sent != nil {
		sent()
	}
	return err
}

func (l peerLink) Speaker() session.Speaker { return l.peer.Speaker() }
func (l peerLink) Close() error             { return l.peer.Close() }
