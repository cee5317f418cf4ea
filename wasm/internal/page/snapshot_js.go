package page

// Snapshots, metrics and inspections as JSON for the script.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// writer turns snapshots into JSON texts. A text has only the new entries of the transcript.
type writer struct {
	transcript []sdk.Entry // the entries that the script has
	trimmed    int
	devices    sdk.Devices
	runs       []sdk.Run // the runs that the script has
	begun      bool
	buf        []byte
}

// snapshot returns the text. The next call overwrites it.
func (w *writer) snapshot(s sdk.Snapshot) []byte {
	o := begin(wire.NewWriter(w.buf[:0]))
	o.text("state", stateName(s.State)).text("confirmed", stateName(s.Confirmed)).flag("predicted", s.Predicted)
	o.flag("interrupting", s.Interrupting).text("progress", s.Progress).text("machines", s.Machines.String())
	o.text("sessionId", s.SessionID).text("model", s.Model)
	o.flag("muted", s.Muted).flag("asking", s.MicAsked).flag("textOnly", s.TextOnly).flag("soundBlocked", s.SoundBlocked)
	o.Key("volume").Float(float64(s.Volume))
	o.text("microphone", s.Microphone).text("speaker", s.Speaker)
	o.err("microphoneError", s.MicErr).err("error", s.Err)
	writeMetrics(o.nested("metrics"), s)
	w.addTranscript(o, s)
	if !w.begun || !slices.Equal(w.devices.Microphones, s.Devices.Microphones) || !slices.Equal(w.devices.Speakers, s.Devices.Speakers) {
		w.devices = s.Devices
		o.nested("devices").devices("microphones", s.Devices.Microphones).devices("speakers", s.Devices.Speakers).end()
	}
	if !w.begun || !sameRuns(w.runs, s.Runs) {
		w.runs = s.Runs
		o.list("runs", len(s.Runs), func(w *wire.Writer, i int) { writeRun(w, &s.Runs[i]) })
	}
	w.begun = true
	o.end()
	w.buf = o.Bytes()
	return w.buf
}

// addTranscript adds the entries from the first one that is new.
func (w *writer) addTranscript(o object, s sdk.Snapshot) {
	gone := s.Trimmed - w.trimmed
	from := 0
	for gone >= 0 && from < len(s.Transcript) && from+gone < len(w.transcript) && s.Transcript[from] == w.transcript[from+gone] {
		from++
	}
	if w.begun && gone == 0 && from == len(s.Transcript) && from == len(w.transcript) {
		return
	}
	o.number("gone", max(gone, 0)).number("from", from)
	o.list("entries", len(s.Transcript)-from, func(w *wire.Writer, i int) { writeEntry(w, s.Transcript[from+i]) })
	w.transcript, w.trimmed = s.Transcript, s.Trimmed
}

func writeEntry(w *wire.Writer, e sdk.Entry) {
	o := begin(w).text("id", e.ItemID).text("role", e.Role.String()).text("text", e.Text).number("heard", units(e.Text[:e.Heard])).flag("spoken", e.Spoken)
	o.flag("live", e.Live).flag("interrupted", e.Interrupted).number("heardMs", e.HeardMS).flag("failed", e.Failed).text("note", e.Note)
	if e.ToolCall == nil {
		o.null("call").end()
		return
	}
	c := o.nested("call").text("id", e.ToolCall.ID).text("name", e.ToolCall.Name).text("arguments", e.ToolCall.Arguments)
	c.text("output", e.ToolCall.Output).flag("done", e.ToolCall.Done).flag("failed", e.ToolCall.Failed).end()
	o.end()
}

// units returns the length of a text as JavaScript counts it: in units of UTF-16.
func units(text string) (n int) {
	for _, r := range text {
		if n++; r >= 0x10000 {
			n++
		}
	}
	return n
}

// sameRuns reports whether two lists of runs are one: the session makes a new list for each change.
func sameRuns(a, b []sdk.Run) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func writeRun(w *wire.Writer, r *sdk.Run) {
	o := begin(w).text("id", r.ID).text("tool", r.Tool).text("status", r.Status).text("progress", r.Progress)
	if q := r.Question; q != nil {
		n := o.nested("question").text("id", q.ID).flag("approval", q.Approval).text("prompt", q.Prompt).flag("answered", q.Answered)
		n.list("choices", len(q.Choices), func(w *wire.Writer, i int) { w.Text(q.Choices[i]) }).end()
	} else {
		o.null("question")
	}
	if e := r.Result; e != nil {
		o.nested("result").text("output", e.Output).text("code", e.Code).text("message", e.Message).end()
	} else {
		o.null("result")
	}
	o.list("timeline", len(r.Timeline), func(w *wire.Writer, i int) {
		begin(w).text("at", r.Timeline[i].At).text("kind", r.Timeline[i].Kind).text("text", r.Timeline[i].Text).end()
	})
	o.end()
}

func (o object) devices(name string, list []sdk.Device) object {
	return o.list(name, len(list), func(w *wire.Writer, i int) {
		begin(w).text("id", list[i].ID).text("label", list[i].Label).end()
	})
}

// writeMetrics writes the members of o and ends it.
func writeMetrics(o object, s sdk.Snapshot) {
	i := s.Interruptions
	n := o.nested("interruptions").number("candidates", i.Candidates).number("confirmed", i.Confirmed).number("ahead", i.Ahead)
	n.number("rejected", i.Rejected).number("expired", i.Expired).number("leadMs", i.LeadMS).number("lastLeadMs", i.LastLeadMS)
	n.number("mispredictedMs", i.MispredictedMS).number("rollbackMs", i.RollbackMS)
	n.number("repeatedMs", i.RepeatedMS).number("lostMs", i.LostMS).end()
	t := s.LastTurn
	if t == nil {
		o.null("turn").end()
		return
	}
	n = o.nested("turn").text("itemId", t.ItemID).text("responseId", t.ResponseID)
	n.ms("firstText", t.FirstText).ms("firstSound", t.FirstSound).ms("playbackEnd", t.PlaybackEnd)
	if t.Server == nil {
		n.null("server")
	} else {
		writeServerTurn(n.nested("server"), t.Server)
	}
	n.end()
	o.end()
}

// writeServerTurn writes the members of o and ends it.
func writeServerTurn(o object, t *sdk.ServerTurnMetrics) {
	o.ms("speechStopped", t.SpeechStopped).ms("commit", t.Commit).ms("transcript", t.Transcript)
	o.ms("firstToken", t.FirstToken).ms("firstAudio", t.FirstAudio).ms("firstPacket", t.FirstPacket).ms("playbackEnd", t.PlaybackEnd).end()
}

// inspection returns the JSON text of the inspector's view.
func inspection(i sdk.Inspection) []byte {
	o := begin(new(wire.Writer)).text("predicted", i.Predicted).text("confirmed", i.Confirmed)
	o.list("machines", len(i.Machines), func(w *wire.Writer, n int) {
		begin(w).text("name", i.Machines[n].Name).text("state", i.Machines[n].State).end()
	})
	o.list("last", len(i.Last), func(w *wire.Writer, n int) {
		t := &i.Last[n]
		o := begin(w).ms("at", t.At).text("lane", t.Lane).text("machine", t.Machine).text("from", t.From)
		o.text("event", t.Event).text("action", t.Action).text("to", t.To).end()
	})
	o.end()
	return o.Bytes()
}

// stateName returns a state's name in the script.
func stateName(s sdk.State) string {
	switch s {
	case sdk.UserSpeaking:
		return "user-speaking"
	case sdk.AgentSpeaking:
		return "agent-speaking"
	case sdk.Disconnected, sdk.Connecting, sdk.Listening, sdk.Thinking, sdk.Reconnecting, sdk.Failed:
	}
	return s.String()
}
