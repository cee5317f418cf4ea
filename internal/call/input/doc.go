// Package input listens to the user. It has two types.
//
// An Input finds the turns: audio and time go in, events of the turn machine come out. It owns the input buffer, the voice activity detector,
// endpointing, noise reduction, the echo judgement and the judge of the open candidate. It cuts the audio into frames of 10 ms. The state of
// the machines decides how a frame is read, so the caller passes that state as a View for each frame, and takes the event of a
// frame before it asks for the next one:
//
//	in.Append(pcm, now)
//	for r, ok := in.Next(view()); ok; r, ok = in.Next(view()) {
//		// give r.Frame to the recogniser, step r.Event, tell the client of r.Failure
//	}
//
// An Input has no clock, no timers and no goroutines. Positions are samples at format.InputRate since the session began.
//
// A Listening is the user's half of a session: audio and the effects of the turn and transcription machines go in, actions for the actor come
// out. It owns an Input and the speech.Speech that has the turns transcribed. It gives each frame to the recogniser, makes an item of each turn
// that is committed, and starts the timers that end a wait for the user. The timers and the recognitions post Events, which the
// actor gives to Handle.
//
// Both types belong to the session's goroutine.
package input
