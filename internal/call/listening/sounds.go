package listening

// Sound events: which sounds are in the audio of a turn, for clients that ask for it.

import (
	"encoding/json"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of sound events.
const (
	maxTagging = 2                       // turns of a session that the Tagger works on at a time; a further turn has no event
	maxTagged  = 60 * pipeline.InputRate // samples of a turn that the Tagger gets: its first minute
	maxTags    = 16                      // sounds that an event has
	tagWithin  = 5 * time.Second         // the longest time for one turn
)

// tagSounds has the Tagger look at pcm, the audio of a turn at room.InputRate. The turn became the item itemID.
func (l *Listening) tagSounds(itemID string, pcm []int16) {
	if l.Sounds == nil || !l.Settings.Client.Sounds || l.tagging == maxTagging {
		return
	}
	l.tagging++
	pcm = pcm[:min(len(pcm), maxTagged/pipeline.InputRate*room.InputRate)]
	l.workers.Go(func() {
		found := SoundsFound{ItemID: itemID}
		found.Err = l.Guard.Run(l.Context, pipeline.StageSounds, func(w *watchdog.Watch) error {
			heard, err := forStages(pcm)
			if err != nil {
				return err
			}
			w.Expect("finding sounds", tagWithin)
			defer w.Rest()
			tags, err := l.Sounds.Tag(l.Context, heard)
			if err != nil {
				return err
			}
			return w.Deliver(func() error {
				found.Tags = tags
				return nil
			})
		})
		l.Post(found)
	})
}

// soundsFound tells the client which sounds a turn has.
func (l *Listening) soundsFound(e SoundsFound) (out room.List) {
	l.tagging--
	if e.Err != nil {
		if l.Context.Err() == nil {
			room.LogFailure(l.Log, "the sounds of a turn are not known", e.Err, "item", e.ItemID)
		}
		return nil
	}
	event := &wire.AntiphonInputSounds{ItemID: e.ItemID}
	lengths := map[string]int64{}
	for i, tag := range e.Tags[:min(len(e.Tags), maxTags)] {
		if i == 0 {
			event.Sound = tag.Name
		}
		lengths[tag.Name] += tag.Length.Milliseconds()
	}
	text, err := json.Marshal(lengths)
	if err != nil {
		l.Log.Error("the sounds of a turn cannot be written", "err", err)
		return nil
	}
	event.LengthsMS = text
	out.Send(event)
	return out
}
