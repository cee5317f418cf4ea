// Package rtc is the server's end of a WebRTC call: it answers an SDP offer, decodes the client's audio to PCM, carries events both
// ways on a data channel, and sends the agent's audio in real time. No other package of the server knows pion and Opus.
//
// All calls share an Engine: codecs, sockets, and pion's settings. Engine.Answer makes a Peer, which is one call, or one of several
// connections of a call whose client reconnects. A Peer is a link.Connection: it reports to a link.Handler and plays the agent's
// audio through its Output.
//
// # Audio
//
// All PCM is mono, 16 bit, at 24 kHz (Rate), the protocol's own rate. Opus encodes and decodes at that rate directly, so there is no
// resampler. A frame is 20 ms: FrameSize samples of PCM, 960 ticks of the 48 kHz RTP clock.
//
// # Goroutines and ownership
//
// A connected Peer owns these goroutines, and Close joins all of them:
//
//	watch     turns the transport's states into Lost, Restored and Failed (and Opened without a data channel)
//	pacer     sends one packet every 20 ms; calls Sent and Drained
//	listen    reads the client's RTP packets, orders and decodes them; calls Audio and Restored
//	events    writes the queue of outgoing events to the data channel
//	channel   reads the data channel; calls Opened and Message
//	feedback  two goroutines, which read RTCP: reports and retransmissions need that
//
// pion's own goroutines end with the peer connection, and Close waits for them, too. Before that, the client gets the events that
// wait, and both sides close the data channel. For a client that answers no more, this takes at most a second.
//
// These goroutines call the Handler directly. Each method is called by one goroutine at a time; different methods may run at the same
// time. During a call the Peer holds no lock that its methods need. A Handler that blocks delays only its own stream (audio, events,
// pacing) and never another peer. Close waits a limited time for a Handler method that does not return.
//
// # Limits
//
// Outgoing events wait in a queue of Config.MaxQueuedEvents and Config.MaxQueuedBytes; beyond that the call fails with
// link.ErrBackpressure. An incoming event has at most Config.MaxMessage bytes. An Output takes at most MaxUnsent of audio that is not
// sent yet, and keeps Keep of the audio that is sent. A gap in the client's audio is filled with at most two seconds of silence.
package rtc
