package voice

// This file tells the caller's speech from that of people in the background, by how loud it is.

// Talker decides whether speech is the caller's. It learns how loud the caller speaks from the first half second of speech on, and takes speech
// that is clearly quieter for that of somebody else: a television, or people at the next table. It is for the frames that a Detector takes for
// speech:
//
//	d := detector.Frame(mic)
//	if talker.Frame(detector, d.Speech) {
//		// the caller speaks
//	}
//
// All speech is the caller's until the level is known, so a caller who speaks quietly from the beginning is heard at once. A second person who
// is as loud as the caller counts as the caller. A caller who suddenly becomes much quieter is found late or not at all: docs/benchmarks.md has
// the figures. The level follows a caller who becomes quieter little by little. The zero value is a Talker for a new
// stream. It does not allocate. Only one goroutine at a time may use it.
type Talker struct {
	level  float32 // the caller's, in dBFS
	heard  int     // frames of speech that it was learned from, at most talkerFirst
	run    int     // frames in a row that are the caller's
	loud   int     // frames that were as loud as the caller, or nearly; a softer one takes one away; at most talkerNearly
	softer int     // frames since the caller was certain
}

const (
	// A frame is the caller's if it is at most talkerRange dB below the caller's level, or if talkerNearly frames were at most talkerLongRange
	// below it. Measured with 5 minutes of background talk 15 dB below the caller: a range of 7 gave no onset, 8 up to 7, 10 gave 95.
	talkerRange     = 7
	talkerLongRange = 8.5
	talkerNearly    = 6
	// The caller's level is a running quantile of the frames that are as loud as the caller: four of five are below it. So a cough of
	// 0.3 s lifts it by 6 dB at most, and the speech after it brings it back.
	talkerRise, talkerFall = 0.2, 0.05
	// talkerFirst is how many frames of speech the first level needs: 0.5 s. The level follows louder frames by talkerBegin of the difference.
	talkerFirst = 50
	talkerBegin = 0.3
	// talkerSure is how many frames in a row must be the caller's before the level is learned from them: the background is sometimes loud for a
	// moment.
	talkerSure = 8
	// talkerWord is for how many frames softer sound still belongs to the caller's words: 0.3 s.
	talkerWord = 30
	// talkerForget is how fast the level falls while the caller does not speak, in dB a frame: 0.1 dB a minute.
	talkerForget = 0.1 / 6000
)

// Frame takes the frame that d took last, and reports whether it is speech of the caller. speech says whether it is speech that is not the
// agent's own. A frame that is not speech is not the caller's.
func (t *Talker) Frame(d *Detector, speech bool) bool {
	if !speech {
		t.run, t.loud, t.softer = 0, 0, t.softer+1
		t.level -= talkerForget
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
		return false
	}
	t.run++
	if sure && t.run >= talkerSure {
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
}

func (t *Talker) learn(level float32) {
	if level > t.level {
		t.level += talkerRise
	} else {
		t.level -= talkerFall
	}
}
