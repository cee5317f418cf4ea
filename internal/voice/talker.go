package voice

// This file tells the user's speech from that of people in the background, by how loud it is.

// Talker decides whether speech is the user's. It learns how loud the user speaks from the first half second of speech on, and takes speech
// that is clearly quieter for that of somebody else: a television, or people at the next table. It is for the frames that a Detector takes for
// speech:
//
//	d := detector.Frame(mic)
//	if talker.Frame(detector, d.Speech, agentIsPlaying) {
//		// the user speaks
//	}
//
// All speech is the user's until the level is known, so a user who speaks quietly from the beginning is heard at once. A second person who
// is as loud as the user counts as the user.
//
// A user who becomes quieter is known again in three ways. The level follows a user who becomes quieter little by little. Speech that stays less
// than 12 dB below the user is the user's after some tenths of a second. Speech that is quieter still is the user's after two
// sentences that stand alone: nobody spoke while the agent did, and there is silence after each of them. A television does not wait for the agent.
// docs/benchmarks.md has the figures.
//
// The zero value is a Talker for a new stream. It does not allocate. Only one goroutine at a time may use it.
type Talker struct {
	level  float32 // the user's, in dBFS
	top    float32 // how loud the user was of late, in dBFS; at least level. It sinks only while the user speaks, and slowly.
	heard  int     // frames of speech that level was learned from, at most talkerFirst
	run    int     // frames in a row that are the user's
	loud   int     // frames that were as loud as the user, or nearly; a softer one takes one away; at most talkerNearly
	softer int     // frames since the user was certain
	other  phrase  // what somebody else says
}

// phrase is speech that is too quiet for the user's, with gaps shorter than phraseGap.
type phrase struct {
	level  float32 // in dBFS, as Talker.level
	speech int     // frames of speech; 0: nobody but the user has spoken since the last phrase
	length int     // frames of speech and gaps
	gap    int     // frames since the last speech of anybody
	played int     // frames of gap in which the agent played
	before int     // frames without speech before the phrase, and phrasePlayed for each in which the agent played
	alone  int     // how many phrases in a row stood alone
	last   float32 // the level of the newest of them
}

const (
	// A frame is the user's if it is at most talkerRange dB below the user's level, or if talkerNearly frames were at most talkerLongRange
	// below it. Measured with 5 minutes of background talk 15 dB below the user: a range of 7 gave no onset, 8 up to 7, 10 gave 95.
	talkerRange     = 7
	talkerLongRange = 8.5
	talkerNearly    = 6
	// The user's level is a running quantile of the frames that are as loud as the user: four of five are below it. So a cough of
	// 0.3 s lifts it by 6 dB at most, and the speech after it brings it back.
	talkerRise, talkerFall = 0.2, 0.05
	// talkerFirst is how many frames of speech the first level needs: 0.5 s. The level follows louder frames by talkerBegin of the difference.
	talkerFirst = 50
	talkerBegin = 0.3
	// talkerSure is how many frames in a row must be the user's before the level is learned from them: the background is sometimes loud for a
	// moment.
	talkerSure = 8
	// talkerWord is for how many frames softer sound still belongs to the user's words: 0.3 s.
	talkerWord = 30
	// talkerForget is how fast the level falls while the user does not speak, in dB a frame: 0.1 dB a minute.
	talkerForget = 0.1 / 6000
	// talkerSink is how fast top follows the level down, in dB a frame of the user's speech: 0.5 dB a second. So one soft sentence of the user
	// does not bring the background into phraseRange.
	talkerSink = 0.005
)

const (
	// A phrase is the user's if its level is at most phraseRange dB below the user's. The levels of whole phrases vary less than those of frames:
	// those of background talk 15 dB below the user stay under it, and a user 10 dB quieter comes over it within 0.9 s, nearly always.
	// 12.5 dB took background talk at 15 dB for the user.
	phraseRange = 12
	// phraseBegin is the highest level that a phrase begins with, in dB below the user's: a loud first frame alone decides nothing.
	phraseBegin = 14
	// The level of a phrase is the same quantile as that of the user, and follows twice as fast.
	phraseRise, phraseFall = 0.4, 0.1
	// phraseGap is the silence in frames that stands before and after a phrase that stands alone: 2.5 s. Before the first one it is phraseQuiet: 8 s. A frame
	// in which the agent plays adds phrasePlayed to it, so 2.7 s of the agent are enough.
	phraseGap    = 250
	phraseQuiet  = 800
	phrasePlayed = 2
	// A phrase that stands alone has at least phraseLeast frames of speech, and lasts for phraseMost frames at most: a sentence.
	phraseLeast, phraseMost = 30, 1000
	// phraseAlone phrases in a row that stand alone, and differ by at most phraseSteady dB, are the user's if they are at most phraseFaint dB
	// below the user.
	phraseAlone  = 2
	phraseSteady = 6
	phraseFaint  = 25
)

// Frame takes the frame that d took last, and reports whether it is speech of the user. speech says whether it is speech that is not the
// agent's own, and agent whether the agent is playing. A frame that is not speech is not the user's.
func (t *Talker) Frame(d *Detector, speech, agent bool) bool {
	if !speech {
		t.silence(agent)
		return false
	}
	level := d.speechLevel()
	if t.heard < talkerFirst {
		t.begin(level)
		return true
	}
	t.softer++
	if level >= t.level-talkerLongRange {
		t.loud = min(t.loud+1, talkerNearly)
	} else {
		t.loud = max(t.loud-1, 0)
	}
	sure := level >= t.level-talkerRange
	if sure || t.loud == talkerNearly {
		t.softer = 0
	}
	if t.softer > talkerWord {
		t.run = 0
		t.level -= talkerForget
		return t.hear(level, agent)
	}
	t.run++
	t.other.speech, t.other.gap, t.other.played = 0, 0, 0
	if sure && t.run >= talkerSure {
		t.other.alone = 0
		t.learn(level)
	}
	return true
}

// Reset begins a new stream, for example after a change of the microphone.
func (t *Talker) Reset() { *t = Talker{} }

// begin learns from the first speech.
func (t *Talker) begin(level float32) {
	if t.heard == 0 {
		t.level = level
	}
	t.heard++
	t.softer = 0
	t.level += talkerBegin * max(level-t.level, 0)
	t.learn(level)
	t.top, t.other.gap, t.other.played = t.level, 0, 0
}

func (t *Talker) learn(level float32) {
	if level > t.level {
		t.level += talkerRise
	} else {
		t.level -= talkerFall
	}
	t.top = max(t.level, t.top-talkerSink)
}

// hear takes a frame of speech that is too quiet for the user's. It reports whether the frame is the user's after all: then the level is that of
// the phrase.
func (t *Talker) hear(level float32, agent bool) bool {
	p := &t.other
	if p.speech == 0 {
		p.level = min(level, t.top-phraseBegin)
		p.before, p.length = p.gap+phrasePlayed*p.played, 0
	}
	p.speech++
	p.length++
	p.gap, p.played = 0, 0
	if agent { // a user waits for the agent's end, or is loud enough to interrupt it
		p.before = 0
	}
	if level > p.level {
		p.level += phraseRise
	} else {
		p.level -= phraseFall
	}
	if p.level < t.top-phraseRange {
		return false
	}
	t.level, t.softer = p.level, 0
	p.speech, p.alone = 0, 0
	return true
}

// silence takes a frame without speech.
func (t *Talker) silence(agent bool) {
	t.run, t.loud, t.softer = 0, 0, t.softer+1
	t.level -= talkerForget
	p := &t.other
	p.length++
	p.gap = min(p.gap+1, phraseQuiet)
	if agent {
		p.played = min(p.played+1, phraseQuiet)
	}
	if p.gap >= phraseGap && p.speech > 0 {
		t.count(p)
		p.speech = 0
	}
}

// count takes a phrase that is over. After phraseAlone phrases that stand alone, their level is the user's.
func (t *Talker) count(p *phrase) {
	quiet := phraseGap
	if p.alone == 0 {
		quiet = phraseQuiet
	}
	switch {
	case p.before < quiet || p.length > phraseGap+phraseMost || p.level < t.top-phraseFaint || p.alone > 0 && absolute(p.level-p.last) > phraseSteady:
		p.alone = 0
	case p.speech >= phraseLeast: // else it is too short to say anything
		p.alone, p.last = p.alone+1, p.level
	}
	if p.alone == phraseAlone {
		t.level, t.top = p.level, p.level
		p.alone = 0
	}
}
