package telemetry

import (
	"maps"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// The metrics that are read at each scrape: calls, packets, components, queues.

// Source is what a server says of itself at a scrape.
type Source func() Snapshot

// Snapshot is the state of a server at one moment. Counters count since the start of the server.
type Snapshot struct {
	Calls      int
	TotalCalls uint64
	// HalfOpen are the calls whose client has not connected yet.
	HalfOpen int
	Draining bool
	// Stuck is how many connections over WebRTC did not end in time, and Relayed how many clients the TURN server relays now.
	Stuck   uint64
	Relayed int
	// Media is the sum of all calls over WebRTC.
	Media      rtc.Stats
	Components []pipeline.Component
	// FullestQueue is how many events wait for the session for which most wait. QueueSize is the size of such a queue.
	FullestQueue, QueueSize int
	// MostTurns is how many turns are open or wait for their text in the session that has most.
	MostTurns int
	// FreeMemory is what is left of the memory that conversations share, in bytes. FreeMessages is what is left of the memory for data that comes from clients or
	// waits for them (--message-memory).
	FreeMemory   int
	FreeMessages int64
	// Kept is the size of the events that are kept for clients that reconnect, in bytes.
	Kept int
	// Abandoned are the abandoned calls into each stage.
	Abandoned map[string]int
	// Recordings are the files that the server writes: --record and --trace.
	Recordings []Recording
	// Secrets is how many client secrets there are.
	Secrets int
	// Nodes is how many servers of the cluster there are, with this one, and Passed how many requests were passed on to others, by result; 0 and nil without a cluster.
	Nodes  int
	Passed map[string]uint64
	// Journal is nil if calls are not journalled.
	Journal *Journal
}

// Journal is the state of the journals of calls.
type Journal struct {
	// TakenOver is how many calls were taken over from another process.
	TakenOver uint64
	// Unjournalled is how many calls no other process could continue now, because the store fails.
	Unjournalled int
}

// Recording is the state of one file of events or transitions.
type Recording struct {
	// Name is "record" or "trace".
	Name string
	// Waiting is the size of the lines that wait for the disk, in bytes.
	Waiting int64
	// Dropped is how many lines were dropped since the start, because too many waited.
	Dropped uint64
}

// scraped is a prometheus.Collector of a Source.
type scraped struct{ source Source }

var (
	describe = func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	sessions      = describe("sessions", "Calls at this moment.")
	sessionsTotal = describe("sessions_total", "Calls since the start.")
	halfOpen      = describe("sessions_half_open", "Calls whose client has not connected yet.")
	draining      = describe("draining", "1 while the server lets its calls end and takes no new ones.")
	packets       = describe("packets_total", "RTP packets of calls over WebRTC, by direction.", "direction")
	lost          = describe("packets_lost_total", "RTP packets that never arrived, or too late, by direction; those that clients lost are what they report.", "direction")
	late          = describe("frames_late_total", "Frames of the agent's audio that were sent more than one frame after their time.")
	skipped       = describe("frames_skipped_total", "Frames of the agent's audio that were never sent, because the server was too late.")
	stuck         = describe("connections_stuck_total", "WebRTC connections that did not end in time. Their goroutines are left behind.")
	relayed       = describe("relayed_clients", "Clients that the server's own TURN server relays.")
	component     = describe("component_state", "1 for the state of each component of the pipeline.", "stage", "name", "state")
	queued        = describe("session_queue_events", "Events that wait for the session for which most wait.")
	queueSize     = describe("session_queue_size", "Events that may wait for a session.")
	freeMemory    = describe("conversation_memory_free_bytes", "What is left of the memory that conversations share.")
	freeMessages  = describe("message_memory_free_bytes", "What is left of the memory for data that comes from clients or waits for them.")
	turns         = describe("session_turns_waiting", "Turns that are open or wait for their text, in the session that has most.")
	kept          = describe("replay_bytes", "Size of the events that are kept for clients that reconnect.")
	abandoned     = describe("abandoned_calls", "Calls into a stage of the pipeline that hang and for which nobody waits.", "stage")
	unwritten     = describe("recording_waiting_bytes", "Size of the lines of a recording that wait for the disk.", "file")
	unrecorded    = describe("recording_lines_dropped_total", "Lines of a recording that were dropped, because the disk is too slow.", "file")
	nodes         = describe("cluster_nodes", "Servers of the cluster that publish their load, with this one.")
	passed        = describe("cluster_requests_total", "Requests that were passed on to another server, by result.", "result")
	takenOver     = describe("calls_taken_over_total", "Calls that another process has served before, and that go on here.")
	unjournalled  = describe("calls_unjournalled", "Calls that no other process could continue now, because the store fails.")
	secrets       = describe("client_secrets", "Client secrets that have not expired.")
)

func (s *scraped) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		sessions, sessionsTotal, halfOpen, draining, packets, lost, late, skipped, component, queued, queueSize, freeMemory, secrets,
		stuck, relayed, freeMessages, turns, kept, abandoned, unwritten, unrecorded, nodes, passed, takenOver, unjournalled,
	} {
		to <- d
	}
}

func (s *scraped) Collect(to chan<- prometheus.Metric) {
	now := s.source()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, v uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge(sessions, float64(now.Calls))
	count(sessionsTotal, now.TotalCalls)
	gauge(halfOpen, float64(now.HalfOpen))
	drains := 0.0
	if now.Draining {
		drains = 1
	}
	gauge(draining, drains)
	count(packets, now.Media.PacketsSent, "sent")
	count(packets, now.Media.PacketsReceived, "received")
	count(lost, now.Media.PacketsLost, "received")
	count(lost, now.Media.RemoteLost, "sent")
	count(late, now.Media.LateFrames)
	count(skipped, now.Media.SkippedFrames)
	count(stuck, now.Stuck)
	gauge(relayed, float64(now.Relayed))
	seen := map[[2]string]bool{}
	for _, c := range now.Components {
		if key := [2]string{c.Stage, c.Name}; !seen[key] { // a second one would be the same metric
			seen[key] = true
			gauge(component, 1, c.Stage, c.Name, c.State)
		}
	}
	gauge(queued, float64(now.FullestQueue))
	gauge(queueSize, float64(now.QueueSize))
	gauge(freeMemory, float64(now.FreeMemory))
	gauge(secrets, float64(now.Secrets))
	gauge(freeMessages, float64(now.FreeMessages))
	gauge(turns, float64(now.MostTurns))
	gauge(kept, float64(now.Kept))
	hung := map[string]int{pipeline.StageTranscriber: 0, pipeline.StageModel: 0, pipeline.StageSynthesizer: 0}
	maps.Copy(hung, now.Abandoned)
	for stage, n := range hung {
		gauge(abandoned, float64(n), stage)
	}
	if now.Nodes > 0 {
		gauge(nodes, float64(now.Nodes))
	}
	if now.Journal != nil {
		count(takenOver, now.Journal.TakenOver)
		gauge(unjournalled, float64(now.Journal.Unjournalled))
	}
	for result, n := range now.Passed {
		count(passed, n, result)
	}
	for _, r := range now.Recordings {
		gauge(unwritten, float64(r.Waiting), r.Name)
		count(unrecorded, r.Dropped, r.Name)
	}
}
