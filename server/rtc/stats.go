package rtc

import "time"

// Stats is a snapshot of one call's figures since it began. Counts only grow.
type Stats struct {
	// Outgoing audio. Late frames went out more than one frame after their time; skipped ones never
	// did, because the pacer was held up for longer than it catches up. AudioDropped are samples that a
	// Speaker refused above MaxUnsent.
	PacketsSent, BytesSent    uint64
	LateFrames, SkippedFrames uint64
	AudioDropped              uint64

	// Incoming audio, after ordering. Lost packets never came or came too late; Concealed are the
	// samples that were made up for them and Filled those of silence in pauses of the stream. Garbled
	// packets could not be decoded.
	PacketsReceived, BytesReceived uint64
	PacketsLost, PacketsGarbled    uint64
	SamplesConcealed               uint64
	SamplesFilled                  uint64
	// Jitter of the arrival times as RFC 3550 section 6.4.1 defines it.
	Jitter time.Duration

	// What the client reports about our audio (RTCP receiver reports).
	RemoteLost   uint64
	RemoteJitter time.Duration

	// Events of the data channel.
	EventsSent, EventsReceived uint64
	EventsDropped              uint64 // an offer without a data channel: nobody to send them to
}
