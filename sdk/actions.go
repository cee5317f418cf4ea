package sdk

// The events that the client sends, and the refusals of the server.

import (
	"errors"
	"strconv"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/sdk/internal/transcript"
	"github.com/antiphon-rt/antiphon/wire"
)

// intent says why an event was sent, so that the session can handle a refusal of the event.
type intent struct {
	kind intentKind
	item string
	seq  view.Seq // the input that the event belongs to; 0 for none
}

type intentKind uint8

const (
	intentConfigure intentKind = iota
	intentHello                // a server that does not know the event refuses it
	intentCancel
	intentClear
	intentAnswer
	intentMessage
	intentOutput
	intentRetrieve
	intentTruncate
	intentCommit
	intentCarriedOver // an item of a lost conversation, sent to the new one
	intentRun         // an answer to a run, or its end; item is the run
	intentFollow      // asks for the messages of a run; item is the run
	intentCandidate   // an event of barge-in; after a refusal the deadline decides
)

// pending remembers the intents of the last events that were sent, by event id.
type pending struct {
	byID  map[string]intent
	order []string // Invariant: len <= maxPending.
}

// maxPending bounds how many sent events are remembered. The refusal of an older event is shown as an error of its own.
const maxPending = 256

func newPending() pending { return pending{byID: map[string]intent{}} }

func (p *pending) add(id string, in intent) {
	p.byID[id] = in
	p.order = append(p.order, id)
	if len(p.order) > maxPending {
		delete(p.byID, p.order[0])
		p.order = p.order[1:]
	}
}

// send sends one event with these members under a new id, and returns the id. If the connection does not take the event, the call
// ends.
func (s *Session) send(kind string, members *wire.Writer, in intent) string {
	if s.call == nil || s.call.peer == nil {
		return ""
	}
	s.call.events++
	id := "client_" + strconv.FormatUint(s.call.events, 10)
	s.pending.add(id, in)
	e := newJSON().Object().Key("type").Text(kind).Key("event_id").Text(id).Raw(members.Bytes()).EndObject()
	s.post(outgoingEvent{id, e.Bytes(), in})
	return id
}

// post gives one event to the connection. While there is no connection, it keeps the event until there is one again; events about a
// candidate are dropped then, since they would come too late.
func (s *Session) post(l outgoingEvent) {
	c := s.call
	switch {
	case s.phase == phaseLost && l.in.kind == intentCandidate:
		s.trace("an event about an interruption was left out: the connection is lost")
		return
	case s.phase == phaseLost:
		if !c.outgoing.hold(l) {
			s.fail(ErrOverrun)
		}
		return
	}
	c.outgoing.record(l)
	err := c.peer.Send(l.text)
	switch {
	case err == nil:
	case errors.Is(err, ErrServerGone) && s.phase == phaseLive:
		s.connectionBroken(err)
	default:
		s.fail(err)
	}
}

// greet answers the server's first event.
func (s *Session) greet() {
	if s.phase == phaseDialing {
		s.sendHello()
	}
}

// sendHello tells the server what this client knows and which settings it wants.
func (s *Session) sendHello() {
	s.bindPeer()
	if s.call.peer.Antiphon() {
		hello := newJSON().Key("metrics").Bool(true)
		if s.barge.Machine != nil { // the server may rely on the events about interruptions
			hello.Key("barge_in").Bool(true)
		}
		if z, ok := s.opts.Dialer.(TimeZoner); ok {
			if zone := z.TimeZone(); zone != "" {
				hello.Key("time_zone").Text(zone)
			}
		}
		s.send("antiphon.hello", hello.Key("machines").Raw(ownMachines()), intent{kind: intentHello})
	}
	if patch := s.opening(); patch != nil {
		s.configure(patch)
	}
}

// refused handles an error event of the server.
func (s *Session) refused(e wire.Error) {
	var in intent
	known := false
	if e.EventID != nil {
		in, known = s.pending.byID[*e.EventID]
	}
	problem := &ServerError{Type: e.Type, Code: e.Code, Message: e.Message}
	if e.Param != nil {
		problem.Param = *e.Param
	}
	s.dirty = true
	if !known {
		s.err = problem
		return
	}
	switch in.kind {
	case intentHello, intentTruncate, intentClear, intentCandidate, intentCarriedOver:
		s.dialog.Refused(in.seq)
		s.trace("refused: " + problem.Code) // not the message, which may quote what was said
	case intentCancel:
		s.dialog.Refused(in.seq)
		if e.Code != "response_cancel_not_active" { // otherwise the response had ended meanwhile
			s.err = problem
		}
	case intentAnswer:
		s.answerRefused(in, problem)
	case intentMessage:
		s.messageRefused(in, problem)
	case intentOutput:
		s.tools.ResultRefused()
		s.err = problem
	case intentRetrieve:
		s.items.Refused(in.item)
	case intentCommit:
		s.manual.committing = false
		s.dialog.Refused(in.seq)
		if !s.manual.pushed || e.Code != "input_audio_buffer_commit_empty" { // otherwise the key was pressed too briefly
			s.err = problem
		}
	case intentRun:
		s.runs.Answered(in.item, false)
		s.err = problem
	case intentFollow:
		s.runs.Lose(in.item)
	case intentConfigure:
		s.err = problem
	}
}

// answerRefused handles the refusal of response.create. If the reason was another live response, the session asks again after it.
func (s *Session) answerRefused(in intent, problem *ServerError) {
	s.dialog.AnswerRefused(in.seq)
	if problem.Code == "conversation_already_has_active_response" && s.tools.AnswerRefused() {
		return
	}
	s.err = problem
}

// messageRefused notes on a message that the server did not take it.
func (s *Session) messageRefused(in intent, problem *ServerError) {
	s.dialog.Refused(in.seq)
	s.err = problem
	if it := s.items.Find(in.item); it != nil {
		s.items.Annotate(it, "not delivered: "+problem.Error(), true)
		s.items.Settle(it)
	}
}

func (s *Session) sendText(text string) {
	s.sendMessage("", text)
}

// sendMessage sends a message of the user, with or without a picture. If it has words, it also asks for an answer.
func (s *Session) sendMessage(image, text string) {
	if s.phase == phaseLost && !s.call.outgoing.takesMessages() {
		s.err, s.dirty = ErrReconnecting, true
		it := s.items.Open(s.itemName(), transcript.User)
		s.items.SetText(it, text)
		s.items.Annotate(it, "not delivered: "+ErrReconnecting.Error(), true)
		s.items.Settle(it)
		return
	}
	s.err = nil
	if text != "" {
		s.interrupt()
	}
	if s.call == nil {
		return // the connection did not take the event, so the call has ended
	}
	id, now := s.itemName(), s.clock.Now()
	it := s.items.Open(id, transcript.User)
	it.Image = image != ""
	s.items.SetText(it, text)
	message := newMessage(id, "user")
	if image != "" {
		message.Object().Key("type").Text(wire.ContentInputImage).Key("image_url").Text(image).EndObject()
	}
	if text != "" {
		writeText(message, wire.ContentInputText, text)
	}
	message.EndList().EndObject()
	if text == "" {
		s.send("conversation.item.create", message, intent{kind: intentMessage, item: id})
		s.dirty = true
		return
	}
	seq := s.dialog.Expect(view.Write{}, id, s.limits.AnswerStart, now)
	s.send("conversation.item.create", message, intent{kind: intentMessage, item: id, seq: seq})
	s.measurement.begin(id, now)
	s.askAnswer(id)
}

// itemName returns a new id for an item of the user.
func (s *Session) itemName() string {
	s.call.events++
	return "item_client_" + strconv.FormatUint(s.call.events, 10)
}

// interrupt stops the agent, and gives up a response that is due and has not begun.
func (s *Session) interrupt() {
	s.stopAgent()
	s.dialog.Interrupted()
}

// stopAgent cancels the live response and stops the playback.
func (s *Session) stopAgent() {
	s.dirty = true
	s.tools.Interrupted()
	now := s.dialog.Confirmed()
	if now.Live != 0 {
		seq := s.dialog.Expect(view.Cancel{}, "", s.limits.Acknowledge, s.clock.Now())
		s.send("response.cancel", newJSON(), intent{kind: intentCancel, seq: seq})
	}
	if s.call == nil {
		return
	}
	if _, ok := s.call.peer.(Player); ok {
		s.bargeIn(s.barge.Interrupted(false, s.moment()))
		s.stopPlayer()
		return
	}
	if now.Live != 0 || now.Sound != 0 {
		seq := s.dialog.Expect(view.Clear{}, "", s.limits.Acknowledge, s.clock.Now())
		s.send("output_audio_buffer.clear", newJSON(), intent{kind: intentClear, seq: seq})
		s.bargeIn(s.barge.Interrupted(false, s.moment())) // last, so that the server gets the requests first
	}
}

// stopPlayer stops the playback where the client plays the sound itself, and tells the server how far the user has heard it.
func (s *Session) stopPlayer() {
	if s.call == nil {
		return
	}
	p, ok := s.call.peer.(Player)
	if !ok {
		return
	}
	heard, was := p.Stop()
	s.soundEnded("", false)
	if was {
		at := newJSON().Key("item_id").Text(heard.ItemID).
			Key("content_index").Int(int64(heard.ContentIndex)).Key("audio_end_ms").Int(int64(heard.MS))
		s.send("conversation.item.truncate", at, intent{kind: intentTruncate, item: heard.ItemID})
	}
}

// commit ends the turn of the user by hand. The session asks for the answer when the server has committed the turn.
func (s *Session) commit() {
	now := s.clock.Now()
	seq := s.dialog.Expect(view.Commit{}, "", s.limits.Commit, now)
	s.send("input_audio_buffer.commit", newJSON(), intent{kind: intentCommit, seq: seq})
	s.measurement.begin("", now)
	s.manual.committing, s.manual.pushed, s.dirty = true, false, true
}
