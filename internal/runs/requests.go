package runs

// What a principal may do with its runs: begin, read, list, answer, cancel, follow.

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
)

// Errors that callers tell apart. The errors of a Runner's methods wrap one of them, ErrNotFound, or an error of package store.
var (
	// ErrInvalid: the request is wrong. The text says what is wrong in it.
	ErrInvalid = errors.New("the request is wrong")
	// ErrTooMany: a limit of the principal or of the Runner is reached.
	ErrTooMany = errors.New("there are too many runs")
	// ErrResolved: the question is not pending: it was answered or timed out, or the run has ended, or there is no such question.
	ErrResolved = errors.New("this question is not pending")
	// ErrEnded: the run has ended in another way.
	ErrEnded = errors.New("the run has ended")
	// ErrClosing: the Runner is closed.
	ErrClosing = errors.New("the server stops: try again in a moment")
)

// Request begins a run.
type Request struct {
	// Principal is whose run it is. Runs of different principals know nothing of each other. The store has a hash of it only.
	Principal string
	// Tool names the Worker.
	Tool string
	// Input is what the Worker gets: a JSON value of at most 64 KiB; nil is null.
	Input json.RawMessage
	// Policy says what happens when the run needs the user's input; 0 takes run.RequireReply.
	Policy run.Policy
	// ReplyTimeout is how long a question waits with the policy run.AutoDecide: 1 s to 24 h; 0 takes 5 min.
	ReplyTimeout time.Duration
	// Begins, if not nil, is called before the run is stored. If it returns an error there is no run.
	Begins func(context.Context) error
}

// Run is a run as its principal sees it.
type Run struct {
	ID        string   `json:"id"`
	Object    string   `json:"object"`
	Tool      string   `json:"tool"`
	Status    string   `json:"status"`
	Policy    string   `json:"policy"`
	Attempt   uint64   `json:"attempt"`
	Seq       uint64   `json:"seq"` // the newest message
	CreatedAt string   `json:"created_at"`
	UpdatedAt string   `json:"updated_at"`
	Pending   *Pending `json:"pending"` // while the run waits for the user
	Result    *Result  `json:"result"`  // once the run has ended
}

// Pending is the question for which a run waits.
type Pending struct {
	InteractionID string  `json:"interaction_id"`
	Kind          string  `json:"kind"` // approval or question
	Prompt        string  `json:"prompt"`
	AskedAt       string  `json:"asked_at"`
	Deadline      *string `json:"deadline"` // when the run goes on without an answer
	// Choices are what the reply may be; without them it may be any value.
	Choices []string `json:"choices,omitempty"`
}

// view returns a run by its first and its newest entry.
func view(id string, first, last *entry) *Run {
	r := &Run{
		ID: id, Object: "run", Tool: first.Begin.Tool, Status: last.State.Name, Policy: first.Begin.Policy.String(),
		Attempt: uint64(last.State.Attempt), Seq: last.Seq, CreatedAt: timeText(first.At), UpdatedAt: timeText(last.At), Result: last.Result,
	}
	if q := last.Question; q != nil {
		r.Pending = &Pending{InteractionID: interactionText(q.Interaction), Kind: q.kind(), Prompt: q.Prompt, AskedAt: timeText(q.Asked), Choices: q.Choices}
		if q.Deadline != 0 {
			deadline := timeText(q.Deadline)
			r.Pending.Deadline = &deadline
		}
	}
	return r
}

// idPrefix begins the id of a run, and idText writes the rest: the time, so that ids sort by it, and random bits.
const idPrefix = "run_"

var idText = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// newID returns an id that no other run has.
func newID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // never fails, see crypto/rand
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(millis(now)))
	copy(b[:6], ms[2:])
	return idPrefix + idText.EncodeToString(b[:])
}

// began returns the time in an id; the zero time for a text that is no id.
func began(id string) time.Time {
	b, err := idText.DecodeString(strings.TrimPrefix(id, idPrefix))
	if err != nil || len(b) != 16 || !strings.HasPrefix(id, idPrefix) {
		return time.Time{}
	}
	return at2time(run.Millis(binary.BigEndian.Uint64(append([]byte{0, 0}, b[:6]...))))
}

// keyOf returns the name of a principal's run in the store, or ErrNotFound for an id that no run can have.
func keyOf(principal, id string) (key, error) {
	if began(id).IsZero() {
		return key{}, ErrNotFound
	}
	return key{hashed(principal), id}, nil
}

// hashed returns the hash of a principal.
func hashed(principal string) string {
	sum := sha256.Sum256([]byte("principal " + principal))
	return hex.EncodeToString(sum[:16])
}

func parseKey(text string) key {
	principal, id, _ := strings.Cut(text, ".")
	return key{principal, id}
}

// IsID reports whether a text may be the id of a run.
func IsID(text string) bool { return !began(text).IsZero() }

// Tools returns the names of the tools that runs may have, sorted.
func (r *Runner) Tools() []string {
	var all []string
	for name := range r.workers {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Start begins a run and returns it. It fails with ErrInvalid, ErrTooMany, ErrClosing or an error of the store.
func (r *Runner) Start(ctx context.Context, q Request) (*Run, error) {
	begin, err := r.check(q)
	if err != nil {
		return nil, err
	}
	now, err := r.cfg.Store.Now(ctx)
	if err != nil {
		return nil, err
	}
	k := key{hashed(q.Principal), newID(now)}
	if err := r.room(ctx, k.principal); err != nil {
		return nil, err
	}
	var w *writing
	if q.Begins != nil {
		err = q.Begins(ctx)
	}
	if err == nil {
		w, err = r.create(ctx, k, begin)
	}
	if err != nil {
		r.uncount(k.principal)
		return nil, err
	}
	r.todo.add(k)
	return view(k.id, w.Now, w.Now), nil
}

// create stores a run: its key first, so that no run is ever without one.
func (r *Runner) create(ctx context.Context, k key, begin *beginning) (*writing, error) {
	if err := r.open.Put(ctx, k.String(), []byte(r.book.node)); err != nil {
		return nil, err
	}
	return r.book.write(ctx, k, 0, func(w *writing) error {
		w.Now.Begin = begin
		return nil
	})
}

// check returns what a run begins with.
func (r *Runner) check(q Request) (*beginning, error) {
	worker := r.workers[q.Tool]
	input := q.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	switch {
	case len(r.workers) == 0:
		return nil, fmt.Errorf("%w: tool: this server has no background tools", ErrInvalid)
	case worker == nil:
		return nil, fmt.Errorf("%w: tool: there is no background tool %q: there is %s", ErrInvalid, q.Tool, strings.Join(r.Tools(), ", "))
	case len(input) > MaxInput:
		return nil, fmt.Errorf("%w: input: it has %d bytes: want at most %d", ErrInvalid, len(input), MaxInput)
	case !json.Valid(input):
		return nil, fmt.Errorf("%w: input: it is not JSON", ErrInvalid)
	case worker.Approval && q.Policy != 0 && q.Policy != run.RequireReply:
		return nil, fmt.Errorf("%w: policy: the tool %s needs an approval, so its runs have the policy %s", ErrInvalid, q.Tool, run.RequireReply)
	case q.ReplyTimeout != 0 && (q.Policy != run.AutoDecide || q.ReplyTimeout < time.Second || q.ReplyTimeout > maxReplyTimeout):
		return nil, fmt.Errorf("%w: reply_timeout: want 1 s to %v, with the policy %s", ErrInvalid, maxReplyTimeout, run.AutoDecide)
	}
	if worker.Check != nil {
		if err := worker.Check(input); err != nil {
			return nil, fmt.Errorf("%w: input: %w", ErrInvalid, err)
		}
	}
	b := &beginning{Tool: q.Tool, Version: uint64(worker.session()), Input: input, Policy: cmp.Or(q.Policy, run.RequireReply)}
	if b.Policy == run.AutoDecide {
		b.Timeout = cmp.Or(q.ReplyTimeout, defaultReplyTimeout)
	}
	return b, nil
}

// room counts a new run of a principal, and removes the principal's oldest runs that have ended if too many are kept, or if they take more bytes than the principal leaves for
// others.
func (r *Runner) room(ctx context.Context, principal string) error {
	if err := r.count(principal); err != nil {
		return err
	}
	err := r.trim(ctx, principal)
	if err == nil {
		err = errors.Join(r.book.log.Room(ctx), r.open.Room(ctx))
	}
	if err != nil {
		r.uncount(principal)
	}
	return err
}

// trim removes the oldest ended runs of a principal until there is room for one more.
func (r *Runner) trim(ctx context.Context, principal string) error {
	kept, err := r.book.log.Names(ctx, principal+".*")
	if err != nil {
		return err
	}
	sizes, beyond, err := r.beyond(ctx, kept)
	if err != nil {
		return err
	}
	n := len(kept)
	full := func() bool { return n >= r.cfg.MaxKept || beyond > 0 }
	for _, name := range kept {
		if !full() {
			return nil
		}
		last, err := r.book.last(ctx, parseKey(name))
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if err == nil && last.Result == nil {
			continue
		}
		if err := r.book.log.Remove(ctx, name); err != nil {
			return err
		}
		n--
		beyond -= 2 * sizes[name] // the principal has less, and leaves more
	}
	if !full() {
		return nil
	}
	return fmt.Errorf("%w: %d runs of this principal have not ended, or take as much as it may: cancel some, or wait", ErrTooMany, n)
}

// count counts a new open run.
func (r *Runner) count(principal string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := 0
	for _, n := range r.openOf {
		all += n
	}
	share := max(1, r.cfg.MaxOpen/10)
	switch {
	case r.closed:
		return ErrClosing
	case r.openOf[principal] >= share:
		return fmt.Errorf("%w: one principal may have %d open runs: cancel some, or wait until one has ended", ErrTooMany, share)
	case all >= r.cfg.MaxOpen:
		return fmt.Errorf("%w: the server has %d open runs: try again later", ErrTooMany, all)
	}
	r.openOf[principal]++
	return nil
}

func (r *Runner) uncount(principal string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.openOf[principal]--; r.openOf[principal] <= 0 {
		delete(r.openOf, principal)
	}
}

// Get returns a run of a principal, or ErrNotFound.
func (r *Runner) Get(ctx context.Context, principal, id string) (*Run, error) {
	k, err := keyOf(principal, id)
	if err != nil {
		return nil, err
	}
	return r.get(ctx, k)
}

func (r *Runner) get(ctx context.Context, k key) (*Run, error) {
	first, err := r.book.first(ctx, k)
	if err != nil {
		return nil, err
	}
	last, err := r.book.last(ctx, k)
	if err != nil {
		return nil, err
	}
	return view(k.id, first, last), nil
}

// List returns at most limit runs of a principal, the newest first, and whether there are more. after is the id of the last run of the page before; "" begins with the newest.
func (r *Runner) List(ctx context.Context, principal, after string, limit int) (page []*Run, more bool, err error) {
	names, err := r.book.log.Names(ctx, hashed(principal)+".*")
	if err != nil {
		return nil, false, err
	}
	for _, name := range slices.Backward(names) {
		k := parseKey(name)
		if after != "" && k.id >= after {
			continue
		}
		if len(page) == limit {
			return page, true, nil
		}
		found, err := r.get(ctx, k)
		if errors.Is(err, ErrNotFound) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, false, err
		}
		page = append(page, found)
	}
	return page, false, nil
}

// Reply answers the question for which a run waits. It fails with ErrResolved, ErrInvalid or ErrNotFound. Nothing but a caller of Reply answers for the
// user: no output of a model comes here.
func (r *Runner) Reply(ctx context.Context, principal, id, interaction string, a Answer) (*Run, error) {
	k, err := keyOf(principal, id)
	if err != nil {
		return nil, err
	}
	first, err := r.book.first(ctx, k)
	if err != nil {
		return nil, err
	}
	n := parseInteraction(interaction)
	w, err := r.book.write(ctx, k, 0, func(w *writing) error {
		var before []newMessage
		if q := w.Was.Question; q != nil && q.Interaction == n {
			if err := fits(q, a); err != nil {
				return err
			}
			w.Now.Answer, w.Now.Question = &answer{Name: q.Name, Answer: a}, nil
			if !q.Approval {
				before = []newMessage{{typeReplied, repliedWith{interactionText(n), a.Reply}}}
			}
		}
		return w.take(run.Reply{Interaction: n, At: w.Now.At}, before...)
	})
	if err != nil {
		return nil, err
	}
	r.perform(k, w)
	for _, f := range w.Effects() {
		switch f := f.(type) {
		case run.AnswerReply:
			return nil, resolved(interaction, f.Resolved, w.State)
		case run.StateChanged, run.ArmTimeout, run.ReplyAccepted, run.AutoDecided, run.Conclude, run.StopTurn, run.DecideAlone:
		}
	}
	return view(id, first, w.Now), nil
}

// fits returns an error if an answer is of another kind than the question.
func fits(q *question, a Answer) error {
	switch {
	case q.Approval && a.Reply != nil:
		return fmt.Errorf("%w: reply: the question asks for an approval: send approve with true or false", ErrInvalid)
	case !q.Approval && a.Reply == nil:
		return fmt.Errorf("%w: approve: the question asks for a reply: send reply with a JSON value", ErrInvalid)
	case len(a.Reply) > maxAnswer || a.Reply != nil && !json.Valid(a.Reply):
		return fmt.Errorf("%w: reply: want a JSON value of at most %d bytes", ErrInvalid, maxAnswer)
	}
	if len(q.Choices) == 0 {
		return nil
	}
	var choice string
	if json.Unmarshal(a.Reply, &choice) != nil || !slices.Contains(q.Choices, choice) {
		return fmt.Errorf("%w: reply: want one of the choices, as a string: %q", ErrInvalid, q.Choices)
	}
	return nil
}

// resolved returns the error for a reply that was not applied.
func resolved(interaction string, by run.Mode, s run.State) error {
	switch by {
	case run.UserReply:
		return fmt.Errorf("%w: %s was answered already", ErrResolved, interaction)
	case run.AutoDecideTimeout:
		return fmt.Errorf("%w: nobody answered %s in time, and the run went on", ErrResolved, interaction)
	}
	return fmt.Errorf("%w: the run is %s and does not wait for an answer to %q", ErrResolved, s.Name(), interaction)
}

// Cancel ends a run of a principal. A run that is canceled already stays as it is; one that has ended otherwise is ErrEnded.
func (r *Runner) Cancel(ctx context.Context, principal, id, reason string) (*Run, error) {
	k, err := keyOf(principal, id)
	if err != nil {
		return nil, err
	}
	if len(reason) > maxText {
		return nil, fmt.Errorf("%w: reason: want at most %d bytes", ErrInvalid, maxText)
	}
	if _, err := r.book.first(ctx, k); err != nil {
		return nil, err
	}
	err = r.cancel(ctx, k, Result{Code: codeCanceled, Message: cmp.Or(reason, "the user canceled the run")})
	if err != nil {
		return nil, err
	}
	now, err := r.get(ctx, k)
	if err == nil && now.Status != (run.Canceled{}).Name() {
		err = fmt.Errorf("%w: it has %s", ErrEnded, now.Status)
	}
	return now, err
}

// Follow calls f with each message of a run whose number is above after, in order: those that are there, and then each new one. It returns nil after the last message of a run
// that has ended. It ends with the error of f, of ctx, or with ErrClosing. idle, if not nil, is called before the first wait, and when no message came for a time.
func (r *Runner) Follow(ctx context.Context, principal, id string, after uint64, f func(Message) error, idle func() error) error {
	k, err := keyOf(principal, id)
	if err != nil {
		return err
	}
	if _, err := r.book.first(ctx, k); err != nil {
		return err
	}
	news, end, err := r.watch.on(k, r.cfg.MaxWatchers)
	if err != nil {
		return err
	}
	defer end()
	var revision uint64
	for begins := true; ; begins = false {
		ended := false
		revision, err = r.book.each(ctx, k, revision, func(e *entry) error {
			ended = e.Result != nil
			for _, m := range e.Messages {
				if m.Seq > after {
					if err := f(m); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil || ended {
			return err
		}
		if begins && idle != nil {
			if err := idle(); err != nil {
				return err
			}
		}
		if err := r.watch.wait(ctx, news, r.exclusive(), idle); err != nil {
			return err
		}
	}
}
