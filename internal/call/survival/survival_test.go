package survival

// What the journal is to learn of the events that the client gets.

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestEventsBeforeARecord: before the client says that it can reconnect, the newest events are kept. After that none may be lost.
func TestEventsBeforeARecord(t *testing.T) {
	for begun, kept := range map[bool]int{false: keptBeforeHello, true: 3 * keptBeforeHello} {
		s := New(Parts{})
		s.begun = begun
		for n := range uint64(3 * keptBeforeHello) {
			s.Sends(&wire.ConversationItemAdded{}, link.Event{Number: n + 1})
		}
		g := gomega.NewWithT(t)
		g.Expect(s.events).To(gomega.HaveLen(kept))
		g.Expect(s.events[kept-1].Number).To(gomega.Equal(uint64(3 * keptBeforeHello)))
	}
}

// TestWhatAnEventBeginsAnotherEnds: the session that goes on ends what is open.
func TestWhatAnEventBeginsAnotherEnds(t *testing.T) {
	for _, row := range []struct {
		begin wire.ServerEvent
		ends  []wire.ServerEvent
		open  journal.Open
	}{
		{
			&wire.OutputAudioBufferStarted{ResponseID: "r"},
			[]wire.ServerEvent{&wire.OutputAudioBufferStopped{ResponseID: "r"}, &wire.OutputAudioBufferCleared{ResponseID: "r"}},
			journal.Open{Playing: "r"},
		},
		{
			&wire.InputAudioBufferSpeechStarted{ItemID: "u"},
			[]wire.ServerEvent{&wire.InputAudioBufferCommitted{ItemID: "u"}, &wire.InputAudioBufferCleared{}},
			journal.Open{Speech: "u"},
		},
	} {
		for _, end := range row.ends {
			g, s := gomega.NewWithT(t), New(Parts{})
			s.follow(row.begin)
			g.Expect(s.open).To(gomega.Equal(row.open))
			s.follow(end)
			g.Expect(s.open).To(gomega.Equal(journal.Open{}), end.Type())
		}
	}
}

// TestTheJournalLearnsOfEachChange: whatever differs in what is open is recorded, but for how far the answer was heard, which is recorded now and then.
func TestTheJournalLearnsOfEachChange(t *testing.T) {
	for field := range reflect.TypeFor[journal.Open]().Fields() {
		var was, is journal.Open
		switch f := reflect.ValueOf(&is).Elem().FieldByIndex(field.Index); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString("x")
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		default:
			is.Heard.MS = 1
		}
		gomega.NewWithT(t).Expect(sameOpen(&was, &is)).To(gomega.Equal(field.Name == "Heard"), field.Name)
	}
}

// TestNothingFollowsTheMove: the session that goes on with the call sends the events after antiphon.session.moving.
func TestNothingFollowsTheMove(t *testing.T) {
	g, s := gomega.NewWithT(t), New(Parts{})
	g.Expect(s.Leaves("response.done")).To(gomega.BeFalse())
	g.Expect(s.Leaves(movingEvent)).To(gomega.BeFalse(), "it is the last one")
	for range 2 {
		g.Expect(s.Leaves("response.done")).To(gomega.BeTrue())
	}
}

// records is a Journal that keeps what it gets.
type records []journal.Record

func (*records) Epoch() uint32              { return 1 }
func (r *records) Record(of journal.Record) { *r = append(*r, of) }

// TestOnlySomeEndsAreTheEndOfACall: a call whose server stops, or that moves to a fresh session, goes on elsewhere. So does one whose client is lost before its new session opens.
func TestOnlySomeEndsAreTheEndOfACall(t *testing.T) {
	for why := conn.ByClient; why <= conn.Moves; why++ {
		for _, restored := range []*journal.State{nil, {}} {
			var got records
			s := New(Parts{Journal: &got, Reconnects: &atomic.Bool{}, Restored: restored})
			s.begun = true
			for range 2 {
				s.End(why, &coord.State{})
			}
			want := records{{Ended: true}}
			if why == conn.ServerStops || why == conn.Moves || why == conn.Failed && restored != nil {
				want = nil
			}
			gomega.NewWithT(t).Expect(got).To(gomega.Equal(want), why.String())
		}
	}
}

// TestTheJournalKeepsWhatWasBegun: until the session that goes on with a call has opened, and has ended what was open, the journal must have that as it is: the next server may have to end it.
func TestTheJournalKeepsWhatWasBegun(t *testing.T) {
	for _, begun := range []bool{false, true} {
		var got records
		e, p := env.System(), scripted.New(scripted.Options{})
		s := New(Parts{
			Env: e, Journal: &got, Reconnects: &atomic.Bool{}, Restored: &journal.State{}, Settings: conversation.NewSettings(e, p, wire.DefaultSession(), nil),
			Conversation: conversation.New(e, p.Model), Runs: runs.New(runs.Parts{}),
		})
		s.Reconnects.Store(true)
		s.begun = begun
		m := &coord.State{Playout: playout.Silent{}, Response: response.Idle{}}
		for _, opened := range []bool{false, true} {
			s.opened = opened
			s.Sends(&wire.ConversationItemAdded{}, link.Event{Number: 1})
			s.Record(m, false)
			gomega.NewWithT(t).Expect(len(got) > 0).To(gomega.Equal(opened))
		}
	}
}

// TestWhatIsUnderWayIsNotTaken: a client sends an event again that the journal does not have. So the journal gets none while a request for a run is under way.
func TestWhatIsUnderWayIsNotTaken(t *testing.T) {
	g, e, p := gomega.NewWithT(t), env.System(), scripted.New(scripted.Options{})
	goes, ended := make(chan struct{}), make(chan runs.Event, 1)
	set := conversation.NewSettings(e, p, wire.DefaultSession(), nil)
	set.Client.Extended = true
	work := runs.New(runs.Parts{Env: e, Settings: set, Context: t.Context(), Workers: env.NewGroup(e), Post: func(e runs.Event) bool { ended <- e; return true }, Access: runs.Access{
		Keyed: true, Act: func(context.Context, wire.ClientEvent) *wire.Error { <-goes; return nil },
	}})
	var got records
	s := New(Parts{Env: e, Journal: &got, Reconnects: &atomic.Bool{}, Settings: set, Conversation: conversation.New(e, p.Model), Runs: work})
	s.Reconnects.Store(true)
	m := &coord.State{Playout: playout.Silent{}, Response: response.Idle{}}
	s.Record(m, false)
	n := 0
	takes := func() string {
		n++
		id := strconv.Itoa(n)
		s.Take(id)
		s.sent.repeated(id, nil)
		s.Sends(&wire.ConversationItemAdded{}, link.Event{Number: uint64(n)})
		s.Record(m, false)
		return id
	}
	last := takes()
	g.Expect(got[n].Taken).To(gomega.Equal(last))
	g.Expect(work.Act(room.Origin{Client: true}, &wire.AntiphonRunCancel{})).To(gomega.BeEmpty())
	for range 3 {
		takes()
		g.Expect(got[n].Taken).To(gomega.BeEmpty())
		g.Expect(got[n].Sent).To(gomega.BeEmpty())
	}
	close(goes)
	work.Handle(<-ended, m)
	last = takes()
	g.Expect(got[n].Taken).To(gomega.Equal(last))
	g.Expect(got[n].Sent).To(gomega.HaveLen(4), "of the time before, too")
	g.Expect(slices.ContainsFunc(got, func(r journal.Record) bool { return r.Ended })).To(gomega.BeFalse())
	work.Workers.Wait()
}
