package runs

// The runs that a session follows: how far the client and the model know each, so that another session of the call goes on from there.

import (
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxFollowed is how many runs the journal has of a call: the newest.
const maxFollowed = 64

// followed are the runs that a session follows, in the order in which it has begun to. The zero value has none.
type followed struct {
	runs []journal.Run
	news bool // the journal does not know all of it
}

// set notes that the session follows a run, or that there are no more news of it.
func (f *followed) set(run string, follows bool) {
	at := f.index(run)
	switch {
	case follows && at < 0:
		f.runs = append(f.runs, journal.Run{ID: run})
		f.runs = slices.Delete(f.runs, 0, max(0, len(f.runs)-maxFollowed))
	case !follows && at >= 0:
		f.runs = slices.Delete(f.runs, at, at+1)
	default:
		return
	}
	f.news = true
}

// told notes that the client was told the message seq of a run. read: the model knows what it has to know of it, too.
func (f *followed) told(run string, seq uint64, read bool) {
	at := f.index(run)
	if at < 0 {
		return
	}
	r := &f.runs[at]
	r.Told = max(r.Told, seq)
	if read {
		r.Read = max(r.Read, seq)
	}
	f.news = true
}

func (f *followed) index(run string) int {
	return slices.IndexFunc(f.runs, func(r journal.Run) bool { return r.ID == run })
}

// changed returns the runs if the journal does not know all of it, and nil if it does.
func (f *followed) changed() *[]journal.Run {
	if !f.news {
		return nil
	}
	f.news = false
	all := slices.Clone(f.runs)
	return &all
}

// restore takes what the journal knows, and returns it as a tool.Caller has it.
func (f *followed) restore(runs []journal.Run) map[string]tool.Progress {
	f.runs = slices.Clone(runs)
	knew := map[string]tool.Progress{}
	for _, r := range runs {
		knew[r.ID] = tool.Progress{Told: r.Told, Read: r.Read}
	}
	return knew
}

// Changed returns the runs that the session follows if the journal does not know all of it, and nil if it does. The journal knows it from then on.
func (r *Runs) Changed() *[]journal.Run { return r.followed.changed() }

// Followed returns the runs that the session follows. The journal knows them from then on.
func (r *Runs) Followed() []journal.Run {
	r.followed.news = false
	return slices.Clone(r.followed.runs)
}

// Restore takes the runs that the session before has followed. Continue has this session follow them.
func (r *Runs) Restore(all []journal.Run) { r.Caller.Knew = r.followed.restore(all) }

// Continue has the session follow the runs of Restore.
func (r *Runs) Continue() {
	for _, run := range r.followed.runs {
		r.followAgain(run.ID)
	}
}

// followAgain has the session follow a run that the session before has followed.
func (r *Runs) followAgain(run string) {
	if r.Access.Act == nil {
		return
	}
	r.actThen(&wire.AntiphonRunFollow{RunID: run}, func(refused *wire.Error) Event { return FollowedAgain{run, refused} })
}

// retryFollow is how long a session waits before it tries again to follow a run.
const retryFollow = 5 * time.Second

// followedAgain takes the end of followAgain. While the store is away the session tries again. It forgets a run that is not there any more.
func (r *Runs) followedAgain(e FollowedAgain) {
	switch {
	case e.Refused == nil:
	case e.Refused.Code == "store_unavailable":
		r.Env.AfterFunc(retryFollow, func() { r.Post(FollowAgainDue{e.Run}) })
	default:
		r.Log.Info("a run that the call has followed is followed no more", "run", e.Run, "why", e.Refused.Message)
		r.followed.set(e.Run, false)
	}
}
