package world

// What the client and a side-band controller are told, event by event.

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// events are those that one client has got, over all its connections.
type events struct {
	mu    sync.Mutex
	count map[string]int // by name of the event, or by type and name of what it is about
	open  map[string]bool
}

// take notes an event. It complains of what comes twice, and of an end without a beginning.
func (e *events) take(text []byte, complain func(string)) {
	var got struct {
		Type     string `json:"type"`
		ID       string `json:"event_id"`
		Response struct {
			ID string `json:"id"`
		} `json:"response"`
		Item struct {
			ID string `json:"id"`
		} `json:"item"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		complain(err.Error())
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.count == nil {
		e.count, e.open = map[string]int{}, map[string]bool{}
	}
	once := []string{got.ID}
	switch got.Type {
	case "response.created", "conversation.item.added", "conversation.item.done":
		once = append(once, got.Type+" "+got.Response.ID+got.Item.ID)
		e.open[got.Response.ID] = true
	case "response.done":
		if !e.open[got.Response.ID] {
			complain("a response ends that has not begun, or twice: " + string(text))
		}
		delete(e.open, got.Response.ID)
	}
	for _, name := range once {
		if e.count[name]++; e.count[name] > 1 {
			complain("the client is told twice: " + name)
		}
	}
}

// rest complains of responses that have not ended.
func (e *events) rest(complain func(string, ...any)) {
	delete(e.open, "")
	if len(e.open) > 0 {
		complain("responses have begun and do not end: %v", e.open)
	}
}

// inbox is what has reached the client.
type inbox struct {
	arrived []arrival
	dropped map[time.Duration]bool // when the client dropped something of a connection that it had given up
}

// arrival is an event that has reached the client.
type arrival struct {
	at   time.Duration
	text []byte
}

// judge complains of events that the client has taken twice, and of responses that do not end.
func (b *inbox) judge(complain func(string, ...any)) {
	var taken events
	for _, e := range b.arrived {
		if !b.dropped[e.at] { // else the client asks for it again
			taken.take(e.text, func(what string) { complain("%s", what) })
		}
	}
	taken.rest(complain)
}

// controller is a side-band controller: it is told what happens, adds messages, asks for answers and cancels them.
type controller struct {
	c        *call
	sideband *link.Sideband
	got      events
}

var _ link.SidebandLink = (*controller)(nil)

// join lets a controller join the call of a server.
func (c *call) join(s *server) {
	k := &controller{c: c}
	k.sideband = link.NewSideband(true, k)
	if err := s.hub.Join(k.sideband); err != nil {
		c.alarm.add(err.Error())
		return
	}
	c.controller = k
}

// does sends an event of the controller.
func (k *controller) does(event string) {
	k.c.tell("the controller sends %s", event)
	k.c.server.session.Control(&k.sideband.Controller, []byte(event), true)
}

// acts does what the seed says.
func (k *controller) acts(chance *source, n int) {
	switch chance.number(5) {
	case 0:
		words := fmt.Sprintf("s%02d", n)
		k.c.said = append(k.c.said, said{text: words})
		k.does(fmt.Sprintf(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`, words))
	case 1:
		k.does(`{"type":"response.create"}`)
	case 2:
		k.does(`{"type":"response.cancel"}`)
	case 3:
		k.does(`{"type":"session.update","session":{"type":"realtime","instructions":"be brief"}}`)
	case 4:
		k.does(`{"type":"response.create","response":{"conversation":"none","output_modalities":["text"]}}`)
	}
}

// Send implements link.SidebandLink.
func (k *controller) Send(e link.Event, _ func()) error {
	k.got.take(e.Text, k.c.alarm.add)
	return nil
}

// End implements link.SidebandLink.
func (k *controller) End() { k.c.w.add(0, func() { k.c.server.hub.Leave(k.sideband) }) }

// Cut implements link.SidebandLink.
func (k *controller) Cut() {}

// ExplainClose implements link.SidebandLink.
func (k *controller) ExplainClose(conn.Reason) {}
