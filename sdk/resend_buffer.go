package sdk

// Events of the client that the server may not have: they are sent again after a reconnect.

// outgoingEvent is one client event as text, with its id and its purpose.
type outgoingEvent struct {
	id   string
	text []byte
	in   intent
}

// resendBuffer keeps the events that were sent lately, which a broken connection may have lost, and the events that wait while the
// connection is lost.
type resendBuffer struct {
	sent      []outgoingEvent // oldest first. Invariant: at most maxSent, maxSentBytes.
	sentBytes int
	// waiting has the events that were made while the connection is lost. Invariant: at most maxWaiting, maxWaitingBytes.
	waiting      []outgoingEvent
	waitingBytes int
}

const (
	maxSent, maxSentBytes       = 256, 1 << 20
	maxWaiting, maxWaitingBytes = 256, 4 << 20
)

// record keeps a copy of an event that is about to be sent. The peer owns the text afterwards.
func (o *resendBuffer) record(l outgoingEvent) {
	l.text = append([]byte(nil), l.text...)
	o.sent = append(o.sent, l)
	o.sentBytes += len(l.text)
	for len(o.sent) > maxSent || o.sentBytes > maxSentBytes {
		o.sentBytes -= len(o.sent[0].text)
		o.sent[0] = outgoingEvent{}
		o.sent = o.sent[1:]
	}
}

// hold keeps an event until the connection is back. It returns false when there is no room.
func (o *resendBuffer) hold(l outgoingEvent) bool {
	if len(o.waiting) >= maxWaiting || o.waitingBytes+len(l.text) > maxWaitingBytes {
		return false
	}
	o.waiting = append(o.waiting, l)
	o.waitingBytes += len(l.text)
	return true
}

// takesMessages reports whether there is room for a message of the user and the events that go with it.
func (o *resendBuffer) takesMessages() bool {
	return len(o.waiting) < maxWaiting/2 && o.waitingBytes < maxWaitingBytes/2
}

// requeueUntaken prepares the same conversation on a new connection: the sent events that the server has not taken wait again,
// before those that wait already. seen is the id of the last event that the server has taken; "" for none.
func (o *resendBuffer) requeueUntaken(seen string) {
	from := 0
	for i, l := range o.sent {
		if l.id == seen {
			from = i + 1
		}
	}
	o.waiting = append(append([]outgoingEvent(nil), o.sent[from:]...), o.waiting...)
	for _, l := range o.sent[from:] {
		o.waitingBytes += len(l.text)
	}
	o.sent, o.sentBytes = nil, 0
}

// keepMessages prepares a new conversation: only messages of the user wait for it, with the requests to answer them. untaken
// reports whether the server has not taken the message with this item id.
func (o *resendBuffer) keepMessages(untaken func(item string) bool) {
	var kept []outgoingEvent
	keep := func(l outgoingEvent) {
		l.in.seq = 0 // the prediction was for the lost conversation
		kept = append(kept, l)
	}
	asked := false
	for _, l := range o.sent {
		fresh := l.in.kind == intentMessage && untaken(l.in.item)
		if fresh || asked && l.in.kind == intentAnswer {
			keep(l)
		}
		asked = fresh
	}
	for _, l := range o.waiting {
		if l.in.kind == intentMessage || l.in.kind == intentAnswer {
			keep(l)
		}
	}
	*o = resendBuffer{}
	for _, l := range kept {
		if !o.hold(l) {
			return // nobody writes so much
		}
	}
}

// takeWaiting removes and returns all events that wait.
func (o *resendBuffer) takeWaiting() []outgoingEvent {
	all := o.waiting
	o.waiting, o.waitingBytes = nil, 0
	return all
}
