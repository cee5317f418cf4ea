package playback

// Which words of the agent are in which part of its sound, as an Antiphon server says it.

import "time"

const (
	maxSaid   = 32   // items of which the sound is known at a time
	maxPieces = 1024 // pieces of one item
	keptRuns  = 8
	rewound   = 20 // a response that goes back goes back by more than this, in ms
	// perCharacter is how long a character is spoken, in ms, until a piece of its item has been measured: unhurried English.
	perCharacter = 65
)

// Piece is a piece of an item's text and of its sound: the characters from First on, and the milliseconds From to To of the item's sound.
// To is 0 while the piece is being made.
type Piece struct{ First, Characters, From, To int }

// Run is a stretch of sound without a gap: from an RTP timestamp on, the response plays from MS of its sound, or stands still if Held.
type Run struct {
	Response  string
	MS        int
	Timestamp uint32
	Held      bool
	Came      time.Duration // when the client learned of it
}

// Said is how much of an item the user has heard: so many characters have begun.
type Said struct {
	Item       string
	Characters int
	at         int // milliseconds of the item's sound
}

// saidItem is an item whose pieces are known.
type saidItem struct {
	id, response string
	start        int // where its sound begins in that of the response, in ms
	pieces       []Piece
}

// Spoken knows the pieces of the items that are being said. Its zero value knows none.
type Spoken struct {
	items []*saidItem
	runs  []Run // the newest last
}

func (s *Spoken) find(id string) *saidItem {
	for _, i := range s.items {
		if i.id == id {
			return i
		}
	}
	return nil
}

// Piece notes a piece of an item. A piece comes again when it is made. One without characters only names the item.
func (s *Spoken) Piece(response, item string, start int, p Piece) {
	i := s.find(item)
	if i == nil {
		i = &saidItem{id: item, response: response}
		if s.items = append(s.items, i); len(s.items) > maxSaid {
			s.items = s.items[1:]
		}
	}
	i.start = start
	last := len(i.pieces) - 1
	switch {
	case p.Characters <= 0 || p.From < 0 || p.To != 0 && p.To < p.From:
	case last >= 0 && p.First == i.pieces[last].First:
		i.pieces[last] = p
	case len(i.pieces) < maxPieces && (last < 0 || p.First > i.pieces[last].First && p.From >= i.pieces[last].From):
		i.pieces = append(i.pieces, p)
	}
}

// Playing notes which packets have which sound. It reports whether the response has gone back.
func (s *Spoken) Playing(r Run) (back bool) {
	if n := len(s.runs); n > 0 && s.runs[n-1].Response == r.Response && !s.runs[n-1].Held {
		last := s.runs[n-1]
		back = r.MS+rewound < last.MS+int(int32(r.Timestamp-last.Timestamp))/rtpPerMS
	}
	if s.runs = append(s.runs, r); len(s.runs) > keptRuns {
		s.runs = s.runs[1:]
	}
	return back
}

// NewTrack forgets which packets have which sound: another connection counts them anew.
func (s *Spoken) NewTrack() { s.runs = nil }

// Sounds reports whether a piece of the response has sound.
func (s *Spoken) Sounds(response string) bool {
	for _, i := range s.items {
		if i.response == response && len(i.pieces) > 0 {
			return true
		}
	}
	return false
}

// Forget forgets the items of a response, and returns their ids.
func (s *Spoken) Forget(response string) (ids []string) {
	kept := s.items[:0]
	for _, i := range s.items {
		if i.response == response {
			ids = append(ids, i.id)
		} else {
			kept = append(kept, i)
		}
	}
	clear(s.items[len(kept):])
	s.items = kept
	return ids
}

// Heard returns how much the user has heard of the items of the response that plays, when they hear this position. begins is when the next
// run of sound begins that is known; -1 for none. moves reports whether the sound moves. Where the position is not known, the clock stands for it.
func (s *Spoken) Heard(at Position, known bool, now time.Duration) (said []Said, begins time.Duration, moves bool) {
	begins = -1
	if known && at.ItemID != "" {
		if i := s.find(at.ItemID); i != nil {
			said = s.upTo(i.response, i.start+at.MS)
		}
		return said, begins, true
	}
	for n := len(s.runs) - 1; n >= 0; n-- {
		r := &s.runs[n]
		ms := int((now - r.Came) / time.Millisecond)
		if known {
			ms = int(int32(at.Timestamp-r.Timestamp)) / rtpPerMS
		}
		if ms < 0 {
			begins = time.Duration(-ms) * time.Millisecond
			continue
		}
		if r.Held {
			ms = 0
		}
		return s.upTo(r.Response, r.MS+ms), begins, !r.Held
	}
	return nil, begins, false
}

func (s *Spoken) upTo(response string, ms int) (said []Said) {
	for _, i := range s.items {
		if i.response == response {
			said = append(said, Said{i.id, i.characters(ms - i.start), ms - i.start})
		}
	}
	return said
}

// characters returns how many characters have begun at this time of the item's sound.
func (i *saidItem) characters(at int) int {
	for n := len(i.pieces) - 1; n >= 0; n-- {
		if p := i.pieces[n]; p.From <= at {
			return p.First + min((at-p.From)*p.Characters/i.length(p)+1, p.Characters)
		}
	}
	return 0
}

// length returns how long a piece is spoken, in ms. While it is being made, that is estimated by the rate of the pieces before.
func (i *saidItem) length(p Piece) int {
	if p.To != 0 {
		return max(p.To-p.From, 1)
	}
	ms, characters := 0, 0
	for _, q := range i.pieces {
		if q.To != 0 {
			ms, characters = ms+q.To-q.From, characters+q.Characters
		}
	}
	if characters == 0 {
		ms, characters = perCharacter, 1
	}
	return max(p.Characters*ms/characters, 1)
}

// Until returns how long it takes from d on until the user hears the given character; -1 if its sound is not known yet.
func (s *Spoken) Until(d Said, character int) time.Duration {
	i := s.find(d.Item)
	if i == nil {
		return -1
	}
	for _, p := range i.pieces {
		if character < p.First+p.Characters {
			begins := p.From + (max(character-p.First, 0)*i.length(p)+p.Characters-1)/p.Characters
			return time.Duration(max(begins-d.at, 0)) * time.Millisecond
		}
	}
	return -1
}
