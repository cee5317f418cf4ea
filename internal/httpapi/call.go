package httpapi

import (
	"crypto/rand"
	"errors"
	"mime"
	"mime/multipart"
	"net/http"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/offers"
	"github.com/antiphon-rt/antiphon/internal/httpapi/telephones"
	"github.com/antiphon-rt/antiphon/wire"
)

// Calls over WebRTC: reads the SDP offer and the session's settings, and sends the SDP answer.

// call sets up a call over WebRTC: the request has an SDP offer, the response has the SDP answer. A request in JSON asks for a telephone call.
func (h *Handler) call(w http.ResponseWriter, r *http.Request, who requester) *problem {
	if telephones.Asks(r) {
		if who.secret != nil {
			return keyWanted("places no telephone call")
		}
		return h.phones.Place(w, r, telephones.Owner{Principal: who.principal, Address: who.address})
	}
	sdp, settings, p := h.readCall(w, r, who)
	if p != nil {
		return p
	}
	id := rtcPrefix + h.mark(rand.Text())
	c, p := h.newCall(r.Context(), id, settings, who)
	if p != nil {
		return p
	}
	s := c.session
	peer, answer, err := h.cfg.Engine.Answer(r.Context(), sdp, h.purse(c.owner).Open(rtc.OwnUnread), h.limited(c))
	if err != nil {
		h.abandon(id, c)
		return badOffer(err)
	}
	link := h.began(c, peer, peer)
	s.Start(link)
	w.Header().Set("Location", "/v1/realtime/calls/"+id)
	w.Header().Set(resumeHeader, c.token)
	h.linkICE(w, r, c.owner)
	offers.Write(w, http.StatusCreated, answer)
	return nil
}

// limitedHandler is a session whose client's events pass an event limiter.
type limitedHandler struct {
	*session.Session
	limiter   *link.EventLimiter
	connected func()
}

// limited returns the session of a call behind an event limiter.
func (h *Handler) limited(c *callEntry) *limitedHandler {
	limiter := link.NewEventLimiter(h.env, h.rules.Load().EventsPerSecond, c.session.Tab(), c.session.Refuse)
	return &limitedHandler{c.session, limiter, func() { h.connected(c) }}
}

// The methods of link.Handler.
func (l *limitedHandler) Opened() {
	l.connected()
	l.Session.Opened()
}

func (l *limitedHandler) Message(data []byte, text bool) {
	alone := l.limiter.Wait(len(data), nil)
	l.Session.Message(data, text)
	if alone {
		l.AwaitHandled(nil)
	}
}

// What a call may be for: values of the query parameter intent and of a session's type.
const (
	intentRealtime      = "realtime"
	intentTranscription = "transcription"
)

// settings returns the settings with which a call of this requester begins: those of the server or of the client secret, changed by the query.
func (h *Handler) settings(r *http.Request, who requester) (wire.Session, *problem) {
	bound := &h.cfg.Settings
	if who.secret != nil {
		bound = &who.secret.Session
	}
	set, query := bound.Clone(), r.URL.Query()
	if model := query.Get("model"); model != "" {
		set.Model = model
	}
	switch intent := query.Get("intent"); {
	case intent == intentTranscription && set.Type != intentTranscription:
		set = conversation.Transcribing(set)
	case intent == intentRealtime && set.Type != intentRealtime:
		return set, badField(wire.CodeInvalidValue, "intent", "the client secret is for a session of type transcription: leave intent out")
	case query.Has("intent") && intent != intentRealtime && intent != intentTranscription:
		return set, badField(wire.CodeInvalidValue, "intent", "want realtime or transcription")
	}
	return set, badSession(h.locks(who).Check(bound, &set))
}

// readCall reads the offer and the session's settings from a request of either kind: application/sdp or multipart/form-data.
func (h *Handler) readCall(w http.ResponseWriter, r *http.Request, who requester) (sdp string, set wire.Session, p *problem) {
	if set, p = h.settings(r, who); p != nil {
		return "", set, p
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "application/sdp":
		sdp, p = offers.Read(w, r)
		return sdp, set, p
	case err == nil && kind == "multipart/form-data" && params["boundary"] != "":
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		was := set.Clone()
		sdp, patch, p := offers.ReadForm(multipart.NewReader(r.Body, params["boundary"]), maxBody)
		if p == nil && patch != nil {
			p = badSession(conversation.Merge(h.cfg.Pipeline, h.cfg.Options.MCP, &set, patch))
		}
		if p == nil {
			p = badSession(h.locks(who).Check(&was, &set))
		}
		return sdp, set, p
	}
	return "", set, &problem{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Message: "send the SDP offer as application/sdp, or as multipart/form-data with the parts sdp and session; a telephone call is asked for as application/json"}
}

// badSession returns the response to settings that are refused with err; nil if err is nil.
func badSession(err error) *problem {
	if err == nil {
		return nil
	}
	p := &problem{Status: http.StatusBadRequest, Code: "invalid_session", Message: err.Error(), Param: "session"}
	var bad *wire.DecodeError
	if errors.As(err, &bad) {
		p.Code, p.Message, p.Param = bad.Code, bad.Message, bad.Param
	}
	return p
}
