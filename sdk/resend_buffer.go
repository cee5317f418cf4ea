package sdk

// outgoingEvent is one event of the client's, as it goes over the link.
type outgoingEvent struct {
	id   string
	text []byte
	in   intent
}

// resendBuffer keeps what may not have reached the server: what was sent of late, and what waits for the link.
type resendBuffer struct {
	sent      []outgoingEvent // oldest first. Invariant: at most maxSent, maxSentBytes.
	sentBytes int
	// waiting, while the link is lost. Invariant: at most maxWaiting, maxWaitingBytes.
	waiting      []outgoingEvent
	waitingBytes int
}

const (
	maxSent, maxSentBytes       = 256, 1 << 20
	maxWaiting, maxWaitingBytes = 256, 4 << 20
)

// record remembers what is given to a peer, which has the text afterwards.
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

// hold keeps one that is sent when the link is back. It reports false when there is no room.
func (o *resendBuffer) hold(l outgoingEvent) bool {
	if len(o.waiting) >= maxWaiting || o.waitingBytes+len(l.text) > maxWaitingBytes {
		return false
	}
	o.waiting = append(o.waiting, l)
	o.waitingBytes += len(l.text)
	return true
}

// takesMessages reports whether there is room for one of the person's, beside what it brings along.
func (o *resendBuffer) takesMessages() bool {
	return len(o.waiting) < maxWaiting/2 && o.waitingBytes < maxWaitingBytes/2
}

// requeueUntaken turns back what the server has not taken: it waits again, before what waits already. seen is the last event that it
// has taken, "" for none.
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

// keepMessages is for another conversation: only what the person wrote waits for it, and what the server has not taken of it.
func (o *resendBuffer) keepMessages(untaken func(item string) bool) {
	var kept []outgoingEvent
	keep := func(l outgoingEvent) {
		l.in.seq = 0 // the prediction was of the other conversation
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
			return // it is more than anybody writes
		}
	}
}

// takeWaiting gives all that waits.
func (o *resendBuffer) takeWaiting() []outgoingEvent {
	all := o.waiting
	o.waiting, o.waitingBytes = nil, 0
	return all
}
