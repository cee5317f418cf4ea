package speaking

// The end of a response: its terminal event, its truncation at the played position, and its metrics.

import (
	"errors"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// close closes the items that are open and announces the end of r.
func (g *Generator) close(r *Response) (out room.List) {
	itemStatus := statusIncomplete
	if r.status == response.Completed {
		itemStatus = statusCompleted
	}
	for _, o := range r.text.items {
		if o.item.Type != wire.ItemMessage { // the model has not completed the call, although it may have completed its answer
			out = append(out, g.closeItem(r, o, statusIncomplete)...)
			continue
		}
		out = append(out, g.closeItem(r, o, itemStatus)...)
	}
	r.object.Status, r.object.StatusDetails = r.ending()
	r.object.Usage = g.usage(r)
	items := make([]*conversation.Item, 0, len(r.text.items))
	for _, o := range r.text.items {
		items = append(items, o.item)
	}
	out.Send(responseDone(&r.object, items))
	g.bills = append(g.bills, r.object.Usage.TotalTokens)
	g.Player.Complete(r.track)
	if r.OutOfBand() {
		return out
	}
	if !g.Player.ServerPaced() { // audio that is not sent yet would come after the response's end
		g.discount(r)
	}
	unheard := g.Player.ResponseEnded(r.track)
	switch voiceless := r.cost.voiceErr != nil && r.spoken; {
	case (r.object.Status == statusCancelled && r.status != response.SessionEnded && r.spoken || voiceless) && unheard:
		// The user has heard no word of it, so the conversation must not keep any (openai-agents-js#523).
		out = append(out, g.Truncate(r, playout.Position{})...)
	case voiceless && !g.Player.ServerPaced():
		out = append(out, g.Truncate(r, r.track.ItemPosition(r.track.Length()))...)
	}
	if !r.track.Begun() { // otherwise the metrics wait for the end of the playout
		out = append(out, g.metrics(r)...)
	}
	return out
}

// responseDone gives a response its output, and returns the event for its end. Every response.done of the server is made here.
func responseDone(object *wire.Response, output []*conversation.Item) *wire.ResponseDone {
	object.Output = make([]wire.Item, 0, len(output))
	for _, it := range output {
		object.Output = append(object.Output, it.Item)
	}
	return &wire.ResponseDone{Response: *object}
}

// ending returns the protocol's status and its details.
func (r *Response) ending() (string, *wire.StatusDetails) {
	switch r.status {
	case response.Incomplete:
		return statusIncomplete, &wire.StatusDetails{Type: statusIncomplete, Reason: "max_output_tokens"}
	case response.Failed:
		return statusFailed, &wire.StatusDetails{Type: statusFailed, Error: r.stageError()}
	case response.TurnDetected:
		return statusCancelled, &wire.StatusDetails{Type: statusCancelled, Reason: "turn_detected"}
	case response.ClientCancelled, response.SessionEnded:
		return statusCancelled, &wire.StatusDetails{Type: statusCancelled, Reason: "client_cancelled"}
	case response.Completed:
	}
	return statusCompleted, nil
}

// stageError returns the error of the stage that failed, as the client sees it.
func (r *Response) stageError() *wire.StatusError {
	e := &wire.StatusError{Type: "server_error", Code: "pipeline_failed"}
	var limit *ratelimit.Error
	if errors.As(r.cost.textErr, &limit) {
		return &wire.StatusError{Type: room.TypeInvalid, Code: ratelimit.Code}
	}
	if errors.Is(r.cost.textErr, conversation.ErrTooLong) {
		return &wire.StatusError{Type: room.TypeInvalid, Code: conversation.CodeTooLong}
	}
	var stage *pipeline.StageError
	if errors.As(r.cost.textErr, &stage) || errors.As(r.cost.voiceErr, &stage) {
		e.Code = stage.Stage + "_failed"
	}
	return e
}

// Truncate cuts the messages of r at end, the played position, and tells the client. Only the first call has an effect, unless the synthesizer has failed: then the text goes on after the audio.
func (g *Generator) Truncate(r *Response, end playout.Position) (out room.List) {
	if r.cut {
		return nil
	}
	r.cut = r.cost.voiceErr == nil
	beyond := end.Item == 0
	for _, o := range r.text.items {
		if o.item.Type != wire.ItemMessage {
			continue
		}
		if !r.cut {
			o.item.FallSilent()
		}
		switch {
		case o.item.Num() == end.Item:
			out.SendAll(g.Conversation.Cut(o.item, int(end.MS)))
			beyond = true
		case beyond:
			out.SendAll(g.Conversation.Cut(o.item, 0))
		}
	}
	return out
}

// Drop forgets the audio of r that was not sent. wasOnAir says that r was on air; then no response is on air any more.
func (g *Generator) Drop(r *Response) (wasOnAir bool) {
	if r.body != nil {
		r.body.drop() // the synthesizer need not wait for playout
	}
	g.discount(r)
	return g.Player.Drop(r.track)
}

// discount counts audio that a client that plays by itself was not sent, and will not be, as never generated: the client
// cannot truncate there.
func (g *Generator) discount(r *Response) {
	for _, o := range r.text.items {
		o.item.TakeBack(g.Player.SentOf(r.track, o.start, o.item.Length()))
	}
}

// SentOf returns how much of an item's audio the client has, in samples at 24 kHz.
func (g *Generator) SentOf(it *conversation.Item) voice.Samples {
	for _, r := range g.responses {
		if o := r.has(it); o != nil {
			return g.Player.SentOf(r.track, o.start, it.Length())
		}
	}
	return it.Length()
}

// ClientStopped reports whether it is of a response that a client that plays by itself has received in whole, and that is
// on air: when the client truncates such an item, its playout is over.
func (g *Generator) ClientStopped(it *conversation.Item) bool {
	r := g.OnAir()
	return r != nil && !g.Player.ServerPaced() && r.closed() && r.has(it) != nil
}

// Stopped notes that r was played to its end, and returns the events that follow. reports says that the client reports how
// far it has played.
func (g *Generator) Stopped(r *Response, reports bool) (out room.List) {
	if g.Player.ServerPaced() {
		out.Send(&wire.OutputAudioBufferStopped{ResponseID: r.object.ID})
		if r.closed() && (r.status == response.ClientCancelled || r.cost.voiceErr != nil) {
			out = append(out, g.Truncate(r, r.track.ItemPosition(r.track.Length()))...)
		}
	}
	if g.Player.Stopped(r.track, reports) {
		out = append(out, g.metrics(r)...)
	}
	return out
}

// metrics returns the event with the times of a turn and of r, if the client wants it. The server observes it in any case.
func (g *Generator) metrics(r *Response) (out room.List) {
	if r.turn == nil {
		return nil
	}
	e := r.turn.Event(r.object.ID, g.Env.Now())
	if g.Timed != nil {
		g.Timed(e, r.turn.Spoke())
	}
	if g.Settings.Client.Metrics {
		out.Send(e)
	}
	return out
}
