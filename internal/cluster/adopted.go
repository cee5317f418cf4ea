package cluster

// Adopted calls: those that a server has taken over, whose ids and tokens have the mark of another one.

import (
	"context"
	"encoding/binary"
	"iter"
	"net/http"
	"time"
)

// code stands for an id or a token in a record: who reads the record learns neither.
type code [8]byte

const (
	// maxAdopted is how many ids and tokens a server publishes: 64 KiB of its record.
	maxAdopted  = 4096
	adoptedSize = len(code{}) + 4
)

func (k sealKey) adopted(mark string) code { return code(k.code("adopted", mark)) }

// writeAdopted returns the ids and tokens as a record has them: of each the code and the epoch.
func (k sealKey) writeAdopted(all []Adopted) (text []byte) {
	for _, a := range all[:min(len(all), maxAdopted)] {
		c := k.adopted(a.Mark)
		text = binary.BigEndian.AppendUint32(append(text, c[:]...), a.Epoch)
	}
	return text
}

// readAdopted returns the codes and epochs of a record.
func readAdopted(text []byte) iter.Seq2[code, uint32] {
	return func(yield func(code, uint32) bool) {
		for n := 0; n < maxAdopted && len(text) >= adoptedSize; n++ {
			c, rest := code(text[:len(code{})]), text[len(code{}):]
			if !yield(c, binary.BigEndian.Uint32(rest)) {
				return
			}
			text = text[adoptedSize:]
		}
	}
}

// adopter is a server that has taken a call over.
type adopter struct {
	*peer
	epoch uint32
}

// adopter returns the server that has taken over a call since the owner with that epoch. It returns nil for none, or for one that has just not answered.
func (t *table) adopter(c code, since uint32, now time.Time) *peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.adopted[c]; a.epoch > since && !now.Before(a.avoid) {
		return a.peer
	}
	return nil
}

// Pass passes a request about a call on to the present owner of the call, if this is another server that can be reached. mark is the marked text of the call's id or token, epoch that of
// this server as the owner of the call, or 0 if it does not have the call. owner asks the journal which server owns the call, and returns "" for a call that the journal does not know; it is
// nil for a request that does not reconnect a call. Pass reports false if nothing was answered. The request can then be answered here: its body can be read again. A
// request that reconnects a call is not passed on to a server that drains, because this one can take the call over.
func (n *Node) Pass(w http.ResponseWriter, r *http.Request, mark string, epoch uint32, owner func(context.Context) string) (answered bool) {
	id, ok := n.key.owner(mark)
	if !ok {
		return false
	}
	if r.Context().Value(passedKey{}) != nil {
		return epoch == 0 && owner != nil && n.disown(w, owner(r.Context()))
	}
	reconnects, call := owner != nil, n.key.adopted(mark)
	to := n.table.adopter(call, epoch, time.Now())
	if to == nil && epoch == 0 {
		to = n.table.find(id, time.Now())
	}
	leaves := to != nil && to.Draining && reconnects
	if to != nil && !leaves && n.send(w, r, sending{to: to, reconnects: reconnects}) {
		return true
	}
	if epoch > 0 {
		return false
	}
	next, known := n.present(r.Context(), call, owner)
	switch {
	case !known && leaves:
		next = to // no other server can continue the call
	case next == nil || next.Draining && reconnects || to != nil && next.id == to.id:
		return false
	}
	return n.send(w, r, sending{to: next, reconnects: reconnects})
}

// present returns the server that has the call according to the journal, or, for a request that does not reconnect a call, according to the newest records; nil for none that can be
// reached. known is false if the journal does not know the call.
func (n *Node) present(ctx context.Context, call code, owner func(context.Context) string) (at *peer, known bool) {
	if owner == nil {
		n.lookAgain(ctx)
		return n.table.adopter(call, 0, time.Now()), true
	}
	id := owner(ctx)
	return n.table.find(id, time.Now()), id != ""
}

// disown answers a request that another server has passed on with 404 if a third one owns the call, so that the other server looks for that one.
func (n *Node) disown(w http.ResponseWriter, owner string) (answered bool) {
	if to := n.table.find(owner, time.Now()); to == nil || to.Draining {
		return false
	}
	w.WriteHeader(http.StatusNotFound)
	return true
}

// looking lets one look at the store happen at a time. Its time belongs to the one that looks.
type looking struct {
	one   chan struct{} // has room for the one that looks
	began time.Time     // the last look
}

// lookApart is the least time between two looks that requests ask for.
const lookApart = 100 * time.Millisecond

// lookAgain looks at the store for a request whose call no server seems to have, unless a look has begun since. If the store does not answer, the table stays.
func (n *Node) lookAgain(ctx context.Context) {
	since := time.Now()
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	select {
	case n.looking.one <- struct{}{}:
		defer func() { <-n.looking.one }()
	case <-ctx.Done():
		return
	}
	if n.looking.began.After(since) {
		return
	}
	due := time.NewTimer(time.Until(n.looking.began.Add(lookApart)))
	defer due.Stop()
	select {
	case <-due.C:
		n.looking.began = time.Now()
		if err := n.read(ctx); err != nil {
			n.cfg.Logger.Debug("cluster: the store was not read for a request", "err", err)
		}
	case <-ctx.Done():
	}
}
