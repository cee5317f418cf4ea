package sip

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
)

// Session timers (RFC 4028): a caller that says so refreshes its call. A call that is not refreshed in time ends.

// minSession is the shortest time between two refreshes, as RFC 4028 sets it.
const minSession = 90 * time.Second

// timer is the session timer of a call. The caller refreshes; a caller that wants this server to do so gets no timer.
type timer struct {
	mu    sync.Mutex
	every time.Duration // 0 for no timer
	end   *time.Timer
	over  func()
}

// expires reads the header Session-Expires.
func expires(r *sip.Request) (every time.Duration, refresher string) {
	h := r.GetHeader("Session-Expires")
	if h == nil {
		h = r.GetHeader("x")
	}
	if h == nil {
		return 0, ""
	}
	number, params, _ := strings.Cut(h.Value(), ";")
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 24)
	if err != nil {
		return 0, ""
	}
	for p := range strings.SplitSeq(params, ";") {
		if who, ok := strings.CutPrefix(strings.TrimSpace(p), "refresher="); ok {
			refresher = who
		}
	}
	return time.Duration(n) * time.Second, refresher
}

// tooShort returns the refusal of a request whose time between refreshes is too short; 0 for none.
func tooShort(r *sip.Request) (status int, header sip.Header) {
	if every, _ := expires(r); every > 0 && every < minSession && supports(r, "timer") {
		return 422, sip.NewHeader("Min-SE", strconv.Itoa(int(minSession.Seconds())))
	}
	return 0, nil
}

// supports reports whether the sender of a request has an extension.
func supports(r *sip.Request, name string) bool {
	for _, header := range []string{"Supported", "k", "Require"} {
		for _, h := range r.GetHeaders(header) {
			for option := range strings.SplitSeq(h.Value(), ",") {
				if strings.TrimSpace(option) == name {
					return true
				}
			}
		}
	}
	return false
}

// agreed returns the time between refreshes to which this server agrees; 0 for no timer.
func agreed(r *sip.Request) time.Duration {
	every, refresher := expires(r)
	if refresher == "uas" || !supports(r, "timer") {
		return 0
	}
	return every
}

func newTimer(r *sip.Request) timer { return timer{every: agreed(r)} }

// answer says in a response who refreshes, and when.
func (t *timer) answer(res *sip.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.every == 0 {
		return
	}
	res.AppendHeader(sip.NewHeader("Require", "timer"))
	res.AppendHeader(sip.NewHeader("Session-Expires", strconv.Itoa(int(t.every.Seconds()))+";refresher=uac"))
}

// start begins the timer. over is called when the call was not refreshed in time.
func (t *timer) start(over func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = over
	if t.every > 0 {
		t.end = time.AfterFunc(t.every, over)
	}
}

// refresh begins the timer again, as a request says.
func (t *timer) refresh(r *sip.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.every = agreed(r); t.end != nil {
		t.end.Stop()
		t.end = nil
	}
	if t.every > 0 && t.over != nil {
		t.end = time.AfterFunc(t.every, t.over)
	}
}

func (t *timer) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end.Stop()
	}
}
