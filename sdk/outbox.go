package sdk

// letter is one event of the client's, as it goes over the link.
type letter struct {
	id   string
	text []byte
	in   intent
}

// outbox keeps what may not have reached the server: what was sent of late, and what waits for the link.
type outbox struct {
	sent      []letter // oldest first. Invariant: at most maxSent, maxSentBytes.
	sentBytes int
	// waiting, while the link is lost. Invariant: at most maxWaiting, maxWaitingBytes.
	waiting      []letter
	waitingBytes int
}

const (
	maxSent, maxSentBytes       = 256, 1 << 20
	maxWaiting, maxWaitingBytes = 256, 4 << 20
)

// note remembers what is given to a peer, which has the text afterwards.
func (o *outbox) note(l letter) {
	l.text = append([]byte(nil), l.text...)
	o.sent = append(o.sent, l)
	o.sentBytes += len(l.text)
	for len(o.sent) > maxSent || o.sentBytes > maxSentBytes {
		o.sentBytes -= len(o.sent[0].text)
		o.sent[0] = letter{}
		o.sent = o.sent[1:]
	}
}

// wait keeps one that is sent when the link is back. It reports false when there is no room.
func (o *outbox) wait(l letter) bool {
	if len(o.waiting) >= maxWaiting || o.waitingBytes+len(l.text) > maxWaitingBytes {
		return false
	}
	o.waiting = append(o.waiting, l)
	o.waitingBytes += len(l.text)
	return true
}

// takesMessages reports whether there is room for one of the person's, beside what it brings along.
func (o *outbox) takesMessages() bool {
	return len(o.waiting) < maxWaiting/2 && o.waitingBytes < maxWaitingBytes/2
}

// resume turns back what the server has not taken: it waits again, before what waits already. seen is the last event that it
// has taken, "" for none.
func (o *outbox) resume(seen string) {
	from := 0
	for i, l := range o.sent {
		if l.id == seen {
			from = i + 1
		}
	}
	o.waiting = append(append([]letter(nil), o.sent[from:]...), o.waiting...)
	for _, l := range o.sent[from:] {
		o.waitingBytes += len(l.text)
	}
	o.sent, o.sentBytes = nil, 0
}

// renew is for another conversation: only what the person wrote waits for it, and what the server has not taken of it.
func (o *outbox) renew(untaken func(item string) bool) {
	var kept []letter
	keep := func(l letter) {
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
	*o = outbox{}
	for _, l := range kept {
		if !o.wait(l) {
			return // it is more than anybody writes
		}
	}
}

// take gives all that waits.
func (o *outbox) take() []letter {
	all := o.waiting
	o.waiting, o.waitingBytes = nil, 0
	return all
}
