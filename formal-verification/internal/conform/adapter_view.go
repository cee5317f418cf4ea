package conform

// The adapter of view.fizz: compares its client and its server with the table of coord/view.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// viewMachine returns the adapter. The client is the model of coord/view. The server is a small one that sends the events from
// which a client learns the session; its state follows from the same table. The tests of coord/session compare this table with a
// whole session.
func viewMachine() viewClient { return viewClient{next: view.Next} }

// viewClient compares view.fizz with the model. In a test, next may be a table with a fault.
type viewClient struct {
	next func(view.State, view.Event) view.State
	// hear, drop and predicted are the model's where they are not set.
	hear      func(view.Model, view.Told, view.Seq) view.Model
	predicted func(view.Model) view.State
}

// viewWorld is both ends and the messages on their way between them. A list is a text with one line for each entry, so that
// viewWorld is comparable.
type viewWorld struct {
	server    view.State
	begun     bool
	cand      int // a candidate that the server judges; viewForeseen: its own
	up, down  string
	model     view.Model
	inputs    string // all so far
	scheduled string
}

const (
	viewForeseen = 9
	viewMost     = 2
)

// viewInputs has the inputs of each kind of client.
var viewInputs = map[string][]view.Input{
	"voice": {view.Candidate{}, view.Interrupt{}},
	"text":  {view.Write{}, view.Ask{}, view.Cancel{}, view.Clear{}},
	"hand":  {view.Commit{}, view.Ask{}},
}

// viewAhead has, by kind of client, how many events may be on their way when the server takes its next step.
var viewAhead = map[string]int{"text": 2}

// viewStep is one action: it returns the next world and the effects.
type viewStep func(viewWorld) (viewWorld, []said)

// Name is the spec's.
func (viewClient) Name() string { return "view" }

// Compare walks the spec's graph and the two ends together.
func (a viewClient) Compare(g *graph.Graph) (Figures, error) {
	type none struct{}
	var starts []Start[viewWorld, none]
	settings := view.Opened{Interrupts: true, Answers: true}
	for _, kind := range []string{"voice", "text", "hand"} {
		starts = append(starts, Start[viewWorld, none]{State: viewWorld{
			server: view.Next(view.Closed{}, settings), model: view.New().Hear(settings, 0), scheduled: kind,
		}})
	}
	return System[viewWorld, viewStep, said, none]{
		Spec: "view", Starts: starts,
		Step: func(w viewWorld, e viewStep) (viewWorld, []said, string) {
			next, out := e(w)
			return next, out, ""
		},
		Events: func(w viewWorld, _ none) []Labelled[viewStep] { return append(a.ofServer(w), a.ofClient(w)...) },
		Vars:   func(w viewWorld, _ none) map[string]string { return a.vars(w) },
	}.Compare(g)
}

// --- what is compared

func (a viewClient) vars(w viewWorld) map[string]string {
	server := viewRecord(w.server)
	server["begun"], server["cand"] = w.begun, w.cand
	predicted := view.Model.Predicted
	if a.predicted != nil {
		predicted = a.predicted
	}
	shown := predicted(w.model)
	p := viewRecord(shown)
	open, _ := shown.(view.Open)
	p["maybe"] = open.Interrupting
	pending := make([]string, 0, viewMost)
	for _, i := range lines(w.inputs) {
		if w.model.Awaits(viewNumber(i)) {
			pending = append(pending, i)
		}
	}
	return map[string]string{
		"s": JSON(server), "c": JSON(viewRecord(w.model.Confirmed)), "p": JSON(p), "pend": JSON(pending),
		"up": JSON(lines(w.up)), "down": JSON(lines(w.down)), "sent": JSON(len(lines(w.inputs))), "schedule": JSON(w.scheduled),
	}
}

func viewRecord(s view.State) map[string]any {
	_, over := s.(view.Over)
	o, _ := s.(view.Open)
	return map[string]any{
		"over": over, "speech": viewName(uint64(o.Speech)), "waiting": viewName(uint64(o.Waiting)), "live": viewName(uint64(o.Live)),
		"sound": viewName(uint64(o.Sound)),
	}
}

// viewName returns an identifier as the spec writes it.
func viewName(n uint64) uint64 {
	if n == uint64(view.ForeseenTurn) {
		return viewForeseen
	}
	return n
}

// viewKnown returns the part of a state that a client can know, as the spec writes it.
func viewKnown(s view.State) string {
	o, open := s.(view.Open)
	if !open {
		return "over"
	}
	return fmt.Sprint(o.Speech) + fmt.Sprint(o.Waiting) + fmt.Sprint(o.Live) + fmt.Sprint(o.Sound)
}

func lines(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, "\n")
}

func viewNumber(input string) view.Seq {
	n, _, _ := strings.Cut(input, " ")
	seq, err := strconv.Atoi(n)
	if err != nil {
		panic("conform: an input without a number: " + input)
	}
	return view.Seq(seq)
}

// --- the server

// viewSays is an event that the server sends, with the input that it answers.
type viewSays struct {
	told view.Told
	seq  view.Seq
}

// viewWords and viewTold are the words of the spec for the events, without their identifiers, and the events of the words.
var viewWords, viewTold = func() (map[view.Told]string, map[string]view.Told) {
	words := map[view.Told]string{view.Committed{ByClient: true}: "CommittedByClient", view.Transcribed{Empty: true}: "NoWords"}
	_, events, _ := view.Values()
	for _, e := range events {
		if told, is := e.(view.Told); is {
			words[told] = told.Name()
		}
	}
	told := map[string]view.Told{}
	for e, word := range words {
		told[word] = e
	}
	return words, told
}()

// text returns the event as the spec writes it.
func (e viewSays) text() string {
	id := uint64(0)
	bare := Alter(e.told, func(_ reflect.StructField, v reflect.Value) {
		if v.CanUint() {
			id = v.Uint()
			v.SetZero()
		}
	})
	return fmt.Sprintf("%s %d %d", viewWords[bare], id, e.seq)
}

// parseSays is the inverse of text.
func parseSays(text string) viewSays {
	words := strings.Fields(text)
	n, err := strconv.ParseUint(words[1], 10, 64)
	seq, bad := strconv.ParseUint(words[2], 10, 64)
	if err != nil || bad != nil {
		panic("conform: no event: " + text)
	}
	told := Alter(viewTold[words[0]], func(_ reflect.StructField, v reflect.Value) {
		if v.CanUint() {
			v.SetUint(n)
		}
	})
	return viewSays{told, view.Seq(seq)}
}

// say applies events to the server's state and sends them to the client.
func (a viewClient) say(w viewWorld, events ...viewSays) (viewWorld, []said) {
	var out []said
	down := lines(w.down)
	for i, e := range events {
		w.server = a.next(w.server, e.told)
		out = append(out, said{e.text()})
		known := "-"
		if i == len(events)-1 {
			known = viewKnown(w.server)
		}
		down = append(down, e.text()+" "+known)
	}
	w.down = strings.Join(down, "\n")
	if o, _ := w.server.(view.Open); o.Live == 0 {
		w.begun = false
	}
	return w, out
}

// fresh returns the smallest number that no turn or response has.
func (w viewWorld) fresh() uint64 {
	used := map[uint64]bool{}
	for _, s := range []view.State{w.server, w.model.Confirmed} {
		o, _ := s.(view.Open)
		used[uint64(o.Speech)], used[uint64(o.Waiting)], used[uint64(o.Live)], used[uint64(o.Sound)] = true, true, true, true
	}
	for _, m := range lines(w.down) {
		n, err := strconv.ParseUint(strings.Fields(m)[1], 10, 64)
		used[n] = err == nil
	}
	for n := uint64(1); ; n++ {
		if !used[n] {
			return n
		}
	}
}

func cutOffEvents(o view.Open) []viewSays {
	var out []viewSays
	if o.Sound != 0 {
		out = append(out, viewSays{told: view.Cleared{Resp: o.Sound}})
	}
	if o.Live != 0 {
		out = append(out, viewSays{told: view.Done{Resp: o.Live}})
	}
	return out
}

func confirmEvents(o view.Open, t machine.Turn) []viewSays {
	return append([]viewSays{{told: view.SpeechStarted{Turn: t}}}, cutOffEvents(o)...)
}

// ofServer returns the steps that the server can take.
func (a viewClient) ofServer(w viewWorld) []Labelled[viewStep] {
	o, open := w.server.(view.Open)
	if !open || len(lines(w.down)) > viewAhead[w.scheduled] {
		return nil
	}
	t, r := machine.Turn(w.fresh()), machine.Response(w.fresh())
	busy := o.Live != 0 || o.Sound != 0
	var out []Labelled[viewStep]
	add := func(label string, enabled bool, step viewStep) {
		if enabled {
			out = append(out, Labelled[viewStep]{label, step})
		}
	}
	says := func(events ...viewSays) viewStep {
		return func(w viewWorld) (viewWorld, []said) { return a.say(w, events...) }
	}
	told := func(e view.Told) viewStep { return says(viewSays{told: e}) }
	free := w.scheduled != "text" && o.Speech == 0 && o.Waiting == 0 && w.cand == 0
	add("Onset", free && !busy, told(view.SpeechStarted{Turn: t}))
	add("Onset", free && busy && w.scheduled == "voice", func(w viewWorld) (viewWorld, []said) {
		w.cand = viewForeseen
		return w, nil
	})
	add("Confirm", w.cand != 0, func(w viewWorld) (viewWorld, []said) {
		w.cand = 0
		return a.say(w, confirmEvents(o, t)...)
	})
	add("Reject", w.cand != 0, func(w viewWorld) (viewWorld, []said) {
		cand := w.cand
		if w.cand = 0; cand == viewForeseen {
			return w, nil
		}
		return a.say(w, viewSays{view.Rejected{}, view.Seq(cand)})
	})
	stops := append([]viewSays{{told: view.SpeechStopped{Turn: o.Speech}}}, cutOffEvents(o)...)
	add("Silence", o.Speech != 0, says(append(stops, viewSays{told: view.Committed{Turn: o.Speech}})...))
	add("Words", o.Waiting != 0, told(view.Created{Resp: r}))
	add("NoWords", o.Waiting != 0, told(view.Transcribed{Turn: o.Waiting, Empty: true}))
	add("Begin", o.Live != 0 && !w.begun && o.Sound == 0 && w.cand == 0 && o.Speech == 0, func(w viewWorld) (viewWorld, []said) {
		w.begun = true
		return a.say(w, viewSays{told: view.Started{Resp: o.Live}})
	})
	add("Finish", o.Live != 0, told(view.Done{Resp: o.Live}))
	add("Drain", o.Sound != 0 && w.cand == 0, told(view.Stopped{Resp: o.Sound}))
	add("Close", true, func(w viewWorld) (viewWorld, []said) {
		w.cand, w.up = 0, ""
		return a.say(w, viewSays{told: view.Ended{}})
	})
	add("RecvUp", w.up != "", a.receive)
	return out
}

// receive gives the client's next message to the server.
func (a viewClient) receive(w viewWorld) (viewWorld, []said) {
	up := lines(w.up)
	w.up = strings.Join(up[1:], "\n")
	seq := viewNumber(up[0])
	o, _ := w.server.(view.Open)
	t, r := machine.Turn(w.fresh()), machine.Response(w.fresh())
	refused := viewSays{view.Refused{}, seq}
	_, name, _ := strings.Cut(up[0], " ")
	switch name {
	case "Candidate":
		if (o.Live != 0 || o.Sound != 0) && o.Speech == 0 {
			w.cand = int(seq)
		}
	case "Commit":
		return a.commit(w, o, t)
	case "Ask":
		if o.Live != 0 || o.Waiting != 0 {
			return a.say(w, refused)
		}
		return a.say(w, viewSays{told: view.Created{Resp: r}})
	case "Cancel":
		if o.Live == 0 {
			return a.say(w, refused)
		}
		return a.say(w, viewSays{told: view.Done{Resp: o.Live}})
	case "Clear":
		if o.Sound != 0 {
			return a.say(w, viewSays{told: view.Cleared{Resp: o.Sound}})
		}
	}
	return w, nil
}

func (a viewClient) commit(w viewWorld, o view.Open, t machine.Turn) (viewWorld, []said) {
	var events []viewSays
	if w.cand != 0 {
		events = confirmEvents(o, t)
		o.Speech, o.Live, o.Sound, w.cand = t, 0, 0, 0
	}
	if o.Speech != 0 {
		t = o.Speech
		events = append(append(events, viewSays{told: view.SpeechStopped{Turn: t}}), cutOffEvents(o)...)
	}
	return a.say(w, append(events, viewSays{told: view.Committed{Turn: t, ByClient: true}})...)
}

// --- the client

// ofClient returns the steps that the client can take.
func (a viewClient) ofClient(w viewWorld) []Labelled[viewStep] {
	var out []Labelled[viewStep]
	_, here := w.model.Confirmed.(view.Open)
	_, there := w.server.(view.Open)
	sent := lines(w.inputs)
	if here && there && len(sent) < viewMost {
		for _, in := range viewInputs[w.scheduled] {
			waits := slices.ContainsFunc(sent, func(i string) bool {
				return strings.HasSuffix(i, " Candidate") && w.model.Awaits(viewNumber(i))
			})
			if in == view.Input(view.Interrupt{}) && !waits {
				continue
			}
			out = append(out, Labelled[viewStep]{`Do name="` + in.Name() + `"`, viewDoes(in)})
		}
	}
	if w.down != "" {
		out = append(out, Labelled[viewStep]{"Hear", a.hears})
	}
	if w.model.Pending() > 0 {
		out = append(out, Labelled[viewStep]{"Expire", viewExpires})
	}
	return out
}

// viewDoes returns the step of an input, with its message to the server if it has one.
func viewDoes(in view.Input) viewStep {
	return func(w viewWorld) (viewWorld, []said) {
		var seq view.Seq
		w.model, seq = w.model.With(in)
		text := fmt.Sprintf("%d %s", seq, in.Name())
		w.inputs = strings.Join(append(lines(w.inputs), text), "\n")
		if in != view.Input(view.Interrupt{}) && in != view.Input(view.Write{}) {
			w.up = strings.Join(append(lines(w.up), text), "\n")
		}
		return w, nil
	}
}

func (a viewClient) hears(w viewWorld) (viewWorld, []said) {
	down := lines(w.down)
	w.down = strings.Join(down[1:], "\n")
	e := parseSays(down[0])
	if a.hear != nil {
		w.model = a.hear(w.model, e.told, e.seq)
	} else {
		w.model = w.model.Hear(e.told, e.seq)
	}
	return w, nil
}

// viewExpires is the step in which the oldest deadline comes.
func viewExpires(w viewWorld) (viewWorld, []said) {
	for seq := view.Seq(1); seq <= viewMost; seq++ {
		if w.model.Awaits(seq) {
			w.model = w.model.Drop(seq)
			break
		}
	}
	return w, nil
}
