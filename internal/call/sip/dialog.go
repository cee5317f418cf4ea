package sip

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// What comes within a call: its confirmation, changes, keys, news of a transfer, and its end.

// ack takes a confirmation: of the call, or of a change.
func (c *Call) ack(r *sip.Request, tx sip.ServerTransaction) {
	first := c.dialog.LoadState() < sip.DialogStateConfirmed
	if first && c.late {
		if err := c.stream.Answered(r.Body()); err != nil {
			if l, ok := c.decision(); ok {
				l.Ended(fmt.Errorf("sip: the caller's answer: %w: %w", err, link.ErrUnreachable))
			}
		}
	}
	if r.CSeq() != nil {
		select {
		case c.acked <- r.CSeq().SeqNo:
		default: // a repeated one
		}
	}
	if c.in != nil {
		_ = c.in.ReadAck(r, tx) // one with the number of no INVITE is nothing
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.agreed:
	default:
		if c.dialog.LoadState() >= sip.DialogStateConfirmed {
			close(c.agreed)
		}
	}
}

// bye takes the end of the call.
func (c *Call) bye(r *sip.Request, tx sip.ServerTransaction) {
	if err := c.dialog.ReadBye(r, tx); err != nil {
		answer(tx, r, sip.StatusBadRequest)
		return
	}
	if l, ok := c.decision(); ok {
		l.Ended(fmt.Errorf("sip: the telephone has hung up: %w", link.ErrHungUp))
	}
}

// maxInfo is the size of the largest INFO that is read.
const maxInfo = 512

// signal finds the key in a body of application/dtmf-relay.
var signal = regexp.MustCompile(`(?im)^\s*Signal\s*=\s*([0-9*#A-D])\s*$`)

// info takes a key.
func (c *Call) info(r *sip.Request, tx sip.ServerTransaction) {
	l, ok := c.decision()
	if err := c.dialog.ReadRequest(r, tx); err != nil || !ok {
		answer(tx, r, sip.StatusBadRequest)
		return
	}
	kind := ""
	if h := r.ContentType(); h != nil {
		kind = strings.ToLower(h.Value())
	}
	body, key := string(r.Body()), ""
	switch {
	case len(body) > maxInfo:
	case strings.HasPrefix(kind, "application/dtmf-relay"):
		if m := signal.FindStringSubmatch(strings.ReplaceAll(body, "\r", "")); m != nil {
			key = m[1]
		}
	case strings.HasPrefix(kind, "application/dtmf"):
		key = strings.TrimSpace(body)
	}
	if len(key) == 1 {
		l.Digit(key[0]) // it drops what is no key
	}
	answer(tx, r, sip.StatusOK)
}

// update takes a change or a refresh by UPDATE.
func (c *Call) update(r *sip.Request, tx sip.ServerTransaction) {
	c.change(r, tx)
}

// replace ends the wait for the confirmation of the change before, and returns what ends the wait for the change with the number n. Changes are answered in order, but each in a
// goroutine of its own: the wait for an older one is over at once.
func (c *Call) replace(n uint32) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	over := make(chan struct{})
	if n < c.newest.n {
		close(over)
		return over
	}
	if c.newest.over != nil {
		close(c.newest.over)
	}
	c.newest = newest{n, over}
	return over
}

// reinvite takes a change or a refresh by INVITE. It repeats its answer until the caller confirms it or sends a newer change: many changes repeat one answer.
func (c *Call) reinvite(r *sip.Request, tx sip.ServerTransaction) {
	res := c.change(r, tx)
	if res == nil {
		return
	}
	newer := c.replace(r.CSeq().SeqNo)
	limit := time.NewTimer(acksWithin)
	defer limit.Stop()
	for wait := sip.T1; ; wait = min(2*wait, sip.T2) {
		again := time.NewTimer(wait)
		select {
		case n := <-c.acked:
			again.Stop()
			if n >= r.CSeq().SeqNo {
				return
			}
		case <-again.C:
			if tx.Respond(res) != nil {
				return
			}
		case <-newer:
			again.Stop()
			return
		case <-c.over:
			again.Stop()
			return
		case <-limit.C:
			again.Stop()
			if l, ok := c.decision(); ok {
				l.Ended(fmt.Errorf("sip: the caller has not confirmed a change: %w", link.ErrUnreachable))
			}
			return
		}
	}
}

// change answers a change of the audio, and refreshes the call. It returns the answer, or nil after a refusal.
func (c *Call) change(r *sip.Request, tx sip.ServerTransaction) *sip.Response {
	c.changes.Lock()
	defer c.changes.Unlock()
	l, ok := c.decision()
	if ok && c.dialog.LoadState() < sip.DialogStateConfirmed { // the ACK of the call may be in another goroutine
		select {
		case <-c.agreed:
		case <-c.over:
		case <-time.After(sip.T1):
		}
	}
	if !ok || c.dialog.LoadState() != sip.DialogStateConfirmed {
		answer(tx, r, sip.StatusRequestPending)
		return nil
	}
	if wants := required(r); wants != "" {
		answer(tx, r, sip.StatusBadExtension, sip.NewHeader("Unsupported", wants))
		return nil
	}
	if status, header := tooShort(r); status != 0 {
		answer(tx, r, status, header)
		return nil
	}
	if err := c.dialog.ReadRequest(r, tx); err != nil {
		answer(tx, r, sip.StatusInternalServerError)
		return nil
	}
	var body []byte
	var err error
	switch {
	case len(r.Body()) > 0:
		body, err = c.stream.Answer(r.Body())
	case r.IsInvite():
		body = c.stream.Again()
	}
	if err != nil {
		answer(tx, r, sip.StatusNotAcceptableHere)
		return nil
	}
	l.Hold(c.stream.Held())
	res := sip.NewResponseFromRequest(r, sip.StatusOK, "OK", nil)
	if body != nil {
		res = sip.NewSDPResponseFromRequest(r, body)
	}
	res.AppendHeader(&c.contact)
	c.timer.refresh(r)
	c.timer.answer(res)
	if tx.Respond(res) != nil {
		return nil
	}
	return res
}

// notify takes the news of a transfer.
func (c *Call) notify(r *sip.Request, tx sip.ServerTransaction) {
	answer(tx, r, sip.StatusOK)
	line, _, _ := strings.Cut(string(r.Body()), "\n")
	parts := strings.Fields(line)
	if len(parts) < 2 || !strings.HasPrefix(parts[0], "SIP/") {
		return
	}
	status, err := strconv.Atoi(parts[1])
	if l, ok := c.decision(); ok && err == nil && status >= 200 && status < 300 {
		l.Ended(fmt.Errorf("sip: the call was transferred: %w", link.ErrHungUp))
	}
}
