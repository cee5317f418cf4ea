// Package rtc is the server's end of a WebRTC call: it answers an offer, takes the caller's
// voice in as PCM, carries events both ways on a data channel, and paces the agent's voice out.
// It is the only package of the server that knows pion and Opus.
//
// An Engine is shared by all calls: codecs, sockets, certificates' settings. Engine.Answer makes a
// Peer, which is one call. A Peer reports through the Handler that it was given, and speaks
// through its Output.
//
// # Audio
//
// All PCM is mono, 16 bit, at 24 kHz (Rate), the protocol's own rate. Opus is coded at that rate
// directly: the codec resamples inside the transform, so no resampler stands between. A frame is
// 20 ms: FrameSize samples of PCM, 960 ticks of the 48 kHz RTP clock.
//
// # Goroutines and ownership
//
// A connected Peer owns these goroutines, and Close joins all of them:
//
//	watch     turns the transport's changes into Lost, Restored and Failed (and Opened without a data channel)
//	pacer     sends one packet every 20 ms; calls Sent and Drained
//	listen    reads the caller's RTP, orders and decodes it; calls Audio
//	events    writes the queue of outgoing events to the data channel
//	channel   reads the data channel; calls Opened and Message
//	feedback  two of them, which read RTCP so that reports and retransmission work
//
// pion's own goroutines end with the peer connection, which Close waits for too. Before that, the client gets the events that
// wait, and closes the data channel with us: at most a second for one that answers no more.
//
// Each Handler method is called from one of these goroutines, one call at a time a method, and
// different methods may run at the same time. No lock is held during a call. A Handler that
// blocks holds up only its own stream (audio, events, pacing) but never another peer; it must
// return for Close to return.
//
// # Limits
//
// Outgoing events are queued up to Config.MaxQueuedEvents and Config.MaxQueuedBytes, then the
// call fails with call.ErrBackpressure. An incoming event has at most Config.MaxMessage bytes.
// A Output takes at most MaxUnsent of audio that is not sent yet and keeps Keep of what is.
// A gap in the caller's audio is filled with at most two seconds of silence.
package rtc
