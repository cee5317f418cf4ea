package sdk

// The events that the client sends, and the refusals of the server.

import (
	"errors"
	"strconv"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/sdk/internal/transcript"
	"github.com/antiphon-rt/antiphon/wire"
)

// send sends one event with these members under a new id, and returns the id. If the connection does not take the event, the call
// ends.
func (s *Session) send(kind string, members *wire.Writer, in outgoing.Intent) string {
	if s.call == nil || s.call.peer == nil {
		return ""
	}
	s.call.events++
	id := "client_" + strconv.FormatUint(s.call.events, 10)
	s.intents.Add(id, in)
	e := newJSON().Object().Key("type").Text(kind).Key("event_id").Text(id).Raw(members.Bytes()).EndObject()
	s.post(outgoing.Event{ID: id, Text: e.Bytes(), Intent: in})
	return id
}

// post gives one event to the connection. While there is no connection, it keeps the event until there is one again; events about a
// candidate are dropped then, since they would come too late.
func (s *Session) post(l outgoing.Event) {
	c := s.call
	switch {
	case s.phase == phaseLost && l.Intent.Kind == outgoing.Candidate:
		s.trace("an event about an interruption was left out: the connection is lost")
		return
	case s.phase == phaseLost:
		if !c.outgoing.Hold(l) {
			s.fail(ErrOverrun)
		}
		return
	}
	c.outgoing.Record(l)
	err := c.peer.Send(l.Text)
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
		if s.opts.TakeBack {
			hello.Key("take_back").Bool(true)
		}
		if z, ok := s.opts.Dialer.(TimeZoner); ok {
			if zone := z.TimeZone(); zone != "" {
				hello.Key("time_zone").Text(zone)
			}
		}
		s.send("antiphon.hello", hello.Key("machines").Raw(ownMachines()), outgoing.Intent{Kind: outgoing.Hello})
	}
	if patch := s.opening(); patch != nil {
		s.configure(patch)
	}
}

// refused handles an error event of the server.
func (s *Session) refused(e wire.Error) {
	var in outgoing.Intent
	known := false
	if e.EventID != nil {
		in, known = s.intents.Of(*e.EventID)
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
	switch in.Kind {
	case outgoing.Hello, outgoing.Truncate, outgoing.Clear, outgoing.Candidate, outgoing.CarriedOver:
		s.dialog.Refused(in.Seq)
		s.trace("refused: " + problem.Code) // not the message, which may quote what was said
	case outgoing.Cancel:
		s.dialog.Refused(in.Seq)
		if e.Code != "response_cancel_not_active" { // otherwise the response had ended meanwhile
			s.err = problem
		}
	case outgoing.Answer:
		s.answerRefused(in, problem)
	case outgoing.Message:
		s.messageRefused(in, problem)
	case outgoing.Output:
		s.tools.ResultRefused()
		s.err = problem
	case outgoing.Retrieve:
		s.items.Refused(in.Item)
	case outgoing.Commit:
		s.manual.committing = false
		s.dialog.Refused(in.Seq)
		if !s.manual.pushed || e.Code != "input_audio_buffer_commit_empty" { // otherwise the key was pressed too briefly
			s.err = problem
		}
	case outgoing.Run:
		s.runs.Answered(in.Item, false)
		s.err = problem
	case outgoing.Follow:
		s.runs.Lose(in.Item)
	case outgoing.Configure:
		s.err = problem
	}
}

// answerRefused handles the refusal of response.create. If the reason was another live response, the session asks again after it.
func (s *Session) answerRefused(in outgoing.Intent, problem *ServerError) {
	s.dialog.AnswerRefused(in.Seq)
	if problem.Code == "conversation_already_has_active_response" && s.tools.AnswerRefused() {
		return
	}
	s.err = problem
}

// messageRefused notes on a message that the server did not take it.
func (s *Session) messageRefused(in outgoing.Intent, problem *ServerError) {
	s.dialog.Refused(in.Seq)
	s.err = problem
	if it := s.items.Find(in.Item); it != nil {
		s.items.Annotate(it, "not delivered: "+problem.Error(), true)
		s.items.Settle(it)
	}
}

// sendMessage sends a message of the user, with or without a picture. If it has words, it also asks for an answer.
func (s *Session) sendMessage(image, text string) {
	if s.phase == phaseLost && !s.call.outgoing.TakesMessages() {
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
		s.send("conversation.item.create", message, outgoing.Intent{Kind: outgoing.Message, Item: id})
		s.dirty = true
		return
	}
	seq := s.dialog.Expect(view.Write{}, id, s.limits.AnswerStart, now)
	s.send("conversation.item.create", message, outgoing.Intent{Kind: outgoing.Message, Item: id, Seq: seq})
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
		s.send("response.cancel", newJSON(), outgoing.Intent{Kind: outgoing.Cancel, Seq: seq})
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
		s.send("output_audio_buffer.clear", newJSON(), outgoing.Intent{Kind: outgoing.Clear, Seq: seq})
		s.bargeIn(s.barge.Interrupted(false, s.moment())) // last, so that the server gets the requests first
		s.sound.stop(s.clock.Now() + s.limits.Acknowledge)
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
		s.send("conversation.item.truncate", at, outgoing.Intent{Kind: outgoing.Truncate, Item: heard.ItemID})
	}
}

// commit ends the turn of the user by hand. The session asks for the answer when the server has committed the turn.
func (s *Session) commit() {
	now := s.clock.Now()
	seq := s.dialog.Expect(view.Commit{}, "", s.limits.Commit, now)
	s.send("input_audio_buffer.commit", newJSON(), outgoing.Intent{Kind: outgoing.Commit, Seq: seq})
	s.measurement.begin("", now)
	s.manual.committing, s.manual.pushed, s.dirty = true, false, true
}
