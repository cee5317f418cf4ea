// Package outgoing keeps the client's events that the server may not have, for the time after a reconnect, and the intents of events. It
// sends nothing. One goroutine at a time may use it.
package outgoing

// Event is one client event as text, with its id and its intent.
type Event struct {
	ID     string
	Text   []byte
	Intent Intent
}

// Buffer keeps the events that were sent lately, which a broken connection may have lost, and the events that wait while the
// connection is lost.
type Buffer struct {
	// Sent is only read by the caller.
	Sent      []Event // oldest first. Invariant: at most maxSent, maxSentBytes.
	sentBytes int
	// Waiting has the events that were made while the connection is lost. Invariant: at most maxWaiting, maxWaitingBytes.
	Waiting      []Event
	waitingBytes int
}

const (
	maxSent, maxSentBytes       = 256, 1 << 20
	maxWaiting, maxWaitingBytes = 256, 4 << 20
)

// Record keeps a copy of an event that is about to be sent. The peer owns the text afterwards.
func (o *Buffer) Record(l Event) {
	l.Text = append([]byte(nil), l.Text...)
	o.Sent = append(o.Sent, l)
	o.sentBytes += len(l.Text)
	for len(o.Sent) > maxSent || o.sentBytes > maxSentBytes {
		o.sentBytes -= len(o.Sent[0].Text)
		o.Sent[0] = Event{}
		o.Sent = o.Sent[1:]
	}
}

// Hold keeps an event until the connection is back. It returns false when there is no room.
func (o *Buffer) Hold(l Event) bool {
	if len(o.Waiting) >= maxWaiting || o.waitingBytes+len(l.Text) > maxWaitingBytes {
		return false
	}
	o.Waiting = append(o.Waiting, l)
	o.waitingBytes += len(l.Text)
	return true
}

// TakesMessages reports whether there is room for a message of the user and the events that go with it.
func (o *Buffer) TakesMessages() bool {
	return len(o.Waiting) < maxWaiting/2 && o.waitingBytes < maxWaitingBytes/2
}

// RequeueUntaken prepares the same conversation on a new connection: the sent events that the server has not taken wait again,
// before those that wait already. seen is the id of the last event that the server has taken; "" for none.
func (o *Buffer) RequeueUntaken(seen string) {
	from := 0
	for i, l := range o.Sent {
		if l.ID == seen {
			from = i + 1
		}
	}
	o.Waiting = append(append([]Event(nil), o.Sent[from:]...), o.Waiting...)
	for _, l := range o.Sent[from:] {
		o.waitingBytes += len(l.Text)
	}
	o.Sent, o.sentBytes = nil, 0
}

// KeepMessages prepares a new conversation: only messages of the user wait for it, with the requests to answer them. untaken
// has the items of the messages that the server has not taken.
func (o *Buffer) KeepMessages(untaken map[string]bool) {
	var kept []Event
	keep := func(l Event) {
		l.Intent.Seq = 0 // the prediction was for the lost conversation
		kept = append(kept, l)
	}
	asked := false
	for _, l := range o.Sent {
		fresh := l.Intent.Kind == Message && untaken[l.Intent.Item]
		if fresh || asked && l.Intent.Kind == Answer {
			keep(l)
		}
		asked = fresh
	}
	for _, l := range o.Waiting {
		if l.Intent.Kind == Message || l.Intent.Kind == Answer {
			keep(l)
		}
	}
	*o = Buffer{}
	for _, l := range kept {
		if !o.Hold(l) {
			return // nobody writes so much
		}
	}
}

// TakeWaiting removes and returns all events that wait.
func (o *Buffer) TakeWaiting() []Event {
	all := o.Waiting
	o.Waiting, o.waitingBytes = nil, 0
	return all
}
