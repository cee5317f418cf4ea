// Package input listens to the user: audio and time go in, events of the turn machine come out.
//
// An Input owns everything between a client's audio and the turn machine: the input buffer, the voice activity detector,
// endpointing, the echo judgement and the judge of the open candidate. It cuts the audio into frames of 10 ms. The state of
// the machines decides how a frame is read, so the caller passes that state as a View for each frame, and takes the event of a
// frame before it asks for the next one:
//
//	in.Append(pcm, now)
//	for r, ok := in.Next(view()); ok; r, ok = in.Next(view()) {
//		// give r.Frame to the recogniser, step r.Event, tell the client of r.Failure
//	}
//
// An Input has no clock, no timers and no goroutines. It belongs to one goroutine. Positions are samples at format.InputRate
// since the session began.
package input
