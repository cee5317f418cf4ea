package web

// The interface between the page and the call.

// Driver holds the call and tells the page what to show. The page calls it from
// one goroutine. Its methods return at once and report by a new snapshot.
type Driver interface {
	// Start begins the delivery of snapshots, the first one at once. show may be
	// called from any goroutine; later snapshots replace earlier ones.
	Start(show func(Snapshot))
	// Talk makes a call with the microphone.
	Talk()
	// End ends the call.
	End()
	// Say sends a written message. Where there is no call it makes one without a
	// microphone first.
	Say(text string)
	// Interrupt stops the present answer.
	Interrupt()
	// Mute mutes or unmutes the microphone.
	Mute(muted bool)
	// Use takes the user's settings, in a call at once.
	Use(now Settings)
	// Hold opens the microphone while the user holds the button of push-to-talk.
	Hold(down bool)
	// UseMicrophone and UseSpeaker choose a device by the browser's id; "" is the
	// browser's default.
	UseMicrophone(id string)
	UseSpeaker(id string)
	// UseKey sets the server's key and makes the call again.
	UseKey(key string)
	// ApproveRun approves or declines what a run asks, ReplyRun answers another question of it, and CancelRun ends it. question is the id of the pending
	// question.
	ApproveRun(run, question string, approve bool)
	ReplyRun(run, question, reply string)
	CancelRun(run string)
	// Play starts sound that the browser has blocked. It is called from a click.
	Play()
	// RetryMicrophone opens the microphone again in a call that has none.
	RetryMicrophone()
	// Dismiss removes the problem from the page.
	Dismiss()
	// Levels returns the present loudness of the microphone and of the agent, each
	// from 0 to 1. It is called for every animation frame and must be cheap.
	Levels() (mic, agent float64)
}
