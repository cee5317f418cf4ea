// Package listening listens to the user. It has three types.
//
// An Input finds the turns: audio and time go in, events of the turn machine come out. It owns the input buffer, the voice activity detector, endpointing, noise reduction,
// the echo judgement and the judge of the open candidate. It cuts the audio into frames of 10 ms. The state of the machines decides how a frame is read, so the caller passes
// that state as a View for each frame, and takes the event of a frame before it asks for the next one. An Input has no clock, no timers and no goroutines. Positions are
// samples at room.InputRate since the session began.
//
// A Listening is the user's half of a session: audio and the effects of the turn and transcription machines go in, actions for the actor come out. It owns an Input and the
// Recognitions. It gives each frame to the recogniser, makes an item of each turn that is committed, and starts the timers that end a wait for the user. The timers and the
// recognitions post Events, which the actor gives to Handle. What it must know of other rooms comes with the call as Facts. What it wants of them is an action:
// room.Committed, room.Said.
//
// A Recognitions has each turn of the user with its recognition, captions and transcript, and the recordings that a client puts into the conversation. The recogniser runs on
// goroutines, one for each recognition. They post RecognitionEvents.
//
// The voice gate (voice_gate.go) decides whose turns reach the model. The recheck (gate.go) has an utterance recognised again as a whole at its end.
//
// Everything belongs to the session's goroutine.
package listening
