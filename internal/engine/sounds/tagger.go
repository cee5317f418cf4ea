package sounds

// The reference back end: it names the sound of each second by rules.

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The rules. The numbers lie between what was measured for the sounds of docs/benchmarks.md, "Sounds and voices".
const (
	second   = 100 // frames that are named together
	least    = 5   // frames with sound that a second without a click must have, or it is silence
	brief    = 10  // frames of the longest stretch of sound, that is a click
	onlyTone = 0.8 // tonal, from which on it is a tone
	flatDB   = -13 // flatness above which it is noise
	heldDown = 0.6 // held, from which on it is not noise
	musical  = 1.1 // same and held together, above which it is music
)

// Reference is the Tagger of this package. The zero value is ready for use.
type Reference struct{}

// Tag implements Tagger. It takes about 1 ms for each second of audio.
func (Reference) Tag(ctx context.Context, pcm []float32) ([]Tag, error) {
	a := newAnalyser()
	var all []frame
	for at := 0; at+window <= len(pcm); at += second * hop {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all = append(all, a.frames(pcm[at:min(len(pcm), at+second*hop+window-hop)])...)
	}
	loudest := math.Inf(-1)
	for i := range all {
		loudest = math.Max(loudest, all[i].level)
	}
	var tags []Tag
	for at := 0; at < len(all); at += second {
		end := min(len(all), at+second)
		f := describe(all[at:end], loudest)
		whole := apart(all, at, loudest) && apart(all, end, loudest)
		if f.click = whole && f.longest <= brief; f.active == 0 || f.active < least && !f.click {
			continue
		}
		name, length := f.tag(), time.Duration(f.active)*frameLength
		if i := slices.IndexFunc(tags, func(t Tag) bool { return t.Name == name }); i >= 0 {
			tags[i].Length += length
		} else {
			tags = append(tags, Tag{name, length})
		}
	}
	slices.SortStableFunc(tags, func(a, b Tag) int { return int(b.Length - a.Length) })
	return tags, nil
}

// frameLength is the time from one frame to the next.
const frameLength = time.Second * hop / voice.FrameRate

// apart reports whether no sound goes on from the frame before i to frame i.
func apart(all []frame, i int, loudest float64) bool {
	return i == 0 || i == len(all) || !sounds(&all[i-1], loudest) || !sounds(&all[i], loudest)
}

func (f features) tag() string {
	switch {
	case f.click:
		return Click
	case f.tonal >= onlyTone:
		return Tone
	case f.flat > flatDB && f.held < heldDown:
		return Noise
	case f.same+f.held > musical:
		return Music
	}
	return Speech
}
