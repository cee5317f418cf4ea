package session

// Tools that the server runs: inside of one response, announced when they take long, and true after an interruption.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// stepping is a model whose n-th call, from 1 on, does what step returns. It remembers the requests.
type stepping struct {
	pipeline.Model
	step func(n int) []pipeline.ModelEvent

	mu    sync.Mutex
	asked []pipeline.Request
}

// Generate implements pipeline.Model.
func (m *stepping) Generate(_ context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	n := len(m.asked)
	m.mu.Unlock()
	for _, e := range m.step(n) {
		if err := emit(e); err != nil {
			return pipeline.Usage{}, err
		}
	}
	return pipeline.Usage{InputTokens: 100, OutputTokens: 10}, nil
}

// read returns the messages of the n-th request, from 1 on, in one line.
func (m *stepping) read(n int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, msg := range m.asked[n-1].Messages {
		switch {
		case msg.Call != nil:
			out = append(out, "call "+msg.Call.Name+msg.Call.Arguments)
		case msg.Result != nil:
			out = append(out, "result "+msg.Result.Output)
		default:
			out = append(out, msg.Role+": "+msg.Text)
		}
	}
	return strings.Join(out, " | ")
}

func (m *stepping) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// takes returns a tool that takes so long, and returns its arguments.
func takes(name string, d time.Duration) pipeline.ServerTool {
	return pipeline.ServerTool{Tool: pipeline.Tool{Name: name}, Run: func(ctx context.Context, arguments string) (string, error) {
		over := time.NewTimer(d)
		defer over.Stop()
		select {
		case <-over.C:
			return name + arguments, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}}
}

// callsTool is a call of a tool as a model emits it.
func callsTool(index int, name string) pipeline.ModelEvent {
	return pipeline.ToolCallDone{Index: index, Name: name, Arguments: fmt.Sprintf(`{"n":%d}`, index)}
}

func say(text string) pipeline.ModelEvent { return pipeline.TextDelta{Text: text} }

// callWithTools places a call of a session whose server has these tools, over WebRTC or over a WebSocket.
func callWithTools(t *testing.T, webRTC bool, tools pipeline.ServerTools, step func(n int) []pipeline.ModelEvent) (*caller, *stepping) {
	t.Helper()
	p := plain()
	m := &stepping{Model: p.Model, step: step}
	p.Model = m
	c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession(), Options: Options{Tools: tools}})
	if webRTC {
		c.pacer = newPacer(c.s, nil)
	}
	return c.start(), m
}

// outline returns the items of a response in one line.
func outline(r wire.Response) string {
	var out []string
	for _, it := range r.Output {
		switch it.Type {
		case wire.ItemMCPCall:
			out = append(out, it.Name+"="+it.Output+string(it.Error))
		case wire.ItemFunctionCall:
			out = append(out, "client's "+it.Name)
		default:
			for _, p := range it.Content {
				out = append(out, p.Text+deref(p.Transcript))
			}
		}
	}
	return r.Status + ": " + strings.Join(out, " | ")
}

// TestServerTools: the server runs its tools inside of one response.
func TestServerTools(t *testing.T) {
	for _, webRTC := range []bool{true, false} {
		name := map[bool]string{true: "WebRTC", false: "WebSocket"}[webRTC]
		story(t, name+": a call, its result and the answer are one response", func(t *testing.T) {
			c, m := callWithTools(t, webRTC, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", time.Second)}}, func(n int) []pipeline.ModelEvent {
				if n == 1 {
					return []pipeline.ModelEvent{say("Let me look. "), callsTool(0, "wind")}
				}
				return []pipeline.ModelEvent{say("It blows.")}
			})
			c.ask("how is the wind")
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(outline(done)).To(gomega.Equal(`completed: Let me look.  | wind=wind{"n":0} | It blows.`))
			c.g.Expect(c.count("response.created")).To(gomega.Equal(1))
			c.g.Expect(done.Usage.InputTokens).To(gomega.Equal(200), "both steps count")
			c.g.Expect(m.read(2)).To(gomega.Equal(`user: how is the wind | assistant: Let me look.  | call wind{"n":0} | result wind{"n":0}`))
			c.g.Expect(c.Names()).To(gomega.ContainElements(
				"response.mcp_call_arguments.done", "response.mcp_call.in_progress", "response.mcp_call.completed"))
			c.g.Expect(c.Names()).NotTo(gomega.ContainElement("response.function_call_arguments.done"))
			c.answer()
			c.g.Expect(m.read(3)).To(gomega.HaveSuffix(`call wind{"n":0} | result wind{"n":0} | assistant: It blows.`))
		})
		story(t, name+": a tool of the client ends the response when the server's tools have ended", func(t *testing.T) {
			c, m := callWithTools(t, webRTC, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", time.Second)}}, func(n int) []pipeline.ModelEvent {
				if n == 1 {
					return []pipeline.ModelEvent{callsTool(0, "clock"), callsTool(1, "wind")}
				}
				return []pipeline.ModelEvent{say("All is known.")}
			})
			c.settle(twoTools)
			c.ask("time and wind")
			done := next[*wire.ResponseDone](c, "response.done").Response
			c.g.Expect(outline(done)).To(gomega.Equal(`completed: client's clock | wind=wind{"n":1}`))
			c.g.Expect(m.calls()).To(gomega.Equal(1), "the model waits for the client")
			c.item(`{"type":"function_call_output","call_id":"` + done.Output[0].CallID + `","output":"noon"}`)
			c.answer()
			c.g.Expect(m.read(2)).To(gomega.Equal(
				`user: time and wind | call clock{"n":0} | call wind{"n":1} | result wind{"n":1} | result noon`))
		})
	}
	story(t, "a tool of the client takes the place of the server's of the same name", func(t *testing.T) {
		c, _ := callWithTools(t, false, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("clock", 0)}}, func(int) []pipeline.ModelEvent {
			return []pipeline.ModelEvent{callsTool(0, "clock")}
		})
		c.settle(twoTools)
		c.ask("what time")
		c.g.Expect(outline(next[*wire.ResponseDone](c, "response.done").Response)).To(gomega.Equal("completed: client's clock"))
	})
}

// TestServerToolsHaveALimit: a model that calls tools without an end has to answer without tools.
func TestServerToolsHaveALimit(t *testing.T) {
	story(t, "ten steps, and then an answer without tools", func(t *testing.T) {
		c, m := callWithTools(t, true, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", time.Millisecond)}}, func(n int) []pipeline.ModelEvent {
			if n > 10 {
				return []pipeline.ModelEvent{say("Enough."), callsTool(0, "wind")}
			}
			return []pipeline.ModelEvent{callsTool(0, "wind")}
		})
		c.ask("again and again")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(done.Status).To(gomega.Equal("completed"))
		c.g.Expect(m.calls()).To(gomega.Equal(11))
		c.g.Expect(strings.Count(m.read(11), "result wind")).To(gomega.Equal(10))
		c.g.Expect(m.asked[9].Tools).To(gomega.HaveLen(1))
		c.g.Expect(m.asked[10].Tools).To(gomega.BeEmpty())
		c.g.Expect(c.count("response.created")).To(gomega.Equal(1))
		c.g.Expect(c.count("response.mcp_call.completed")).To(gomega.Equal(10))
	})
	story(t, "a response with all the calls that it may have still ends with an answer", func(t *testing.T) {
		c, m := callWithTools(t, true, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", time.Millisecond)}}, func(n int) (out []pipeline.ModelEvent) {
			if n > 7 {
				return []pipeline.ModelEvent{say("Enough.")}
			}
			for i := range 10 {
				out = append(out, callsTool(i, "wind"))
			}
			return out
		})
		c.ask("again and again")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(outline(done)).To(gomega.HaveSuffix(`| wind=wind{"n":3} | Enough.`))
		c.g.Expect(c.count("response.mcp_call.completed")).To(gomega.Equal(64))
		c.g.Expect(m.asked[6].Tools).To(gomega.HaveLen(1))
		c.g.Expect(m.asked[7].Tools).To(gomega.BeEmpty())
	})
}

// TestServerToolsThatAreNotRun: calls that the server may not or cannot run.
func TestServerToolsThatAreNotRun(t *testing.T) {
	story(t, "a call of the server's tool where none is offered does not reach the client", func(t *testing.T) {
		c, m := callWithTools(t, false, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", time.Millisecond)}}, func(int) []pipeline.ModelEvent {
			return []pipeline.ModelEvent{say("I look. "), pipeline.ToolCallDelta{Name: "wind", Arguments: `{"n"`}, callsTool(0, "wind")}
		})
		c.item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"how is the wind"}]}`)
		c.send(`{"type":"response.create","response":{"tool_choice":"none"}}`)
		c.g.Expect(outline(next[*wire.ResponseDone](c, "response.done").Response)).To(gomega.Equal("completed: I look. "))
		c.ask("again")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(outline(done)).To(gomega.HaveSuffix(`wind=wind{"n":0} | I look. `), "after the last step")
		c.g.Expect(outline(done)).NotTo(gomega.ContainSubstring("client's"))
		c.g.Expect(m.calls()).To(gomega.Equal(12))
	})
	story(t, "a call whose arguments the model does not end is incomplete, and no later request has it", func(t *testing.T) {
		c, m := callWithTools(t, false, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", time.Millisecond)}}, func(int) []pipeline.ModelEvent {
			return []pipeline.ModelEvent{
				pipeline.ToolCallDelta{Index: 0, Name: "wind", Arguments: `{"n"`}, pipeline.ToolCallDelta{Index: 1, Name: "clock", Arguments: `{"n"`}, say("Fine."),
			}
		})
		c.settle(twoTools)
		c.ask("how is the wind")
		done := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(outline(done)).To(gomega.Equal("completed: wind= | client's clock | Fine."))
		c.g.Expect([]string{done.Output[0].Status, done.Output[1].Status, done.Output[2].Status}).To(gomega.Equal([]string{"incomplete", "incomplete", "completed"}))
		c.answer()
		c.g.Expect(m.read(2)).To(gomega.Equal(`user: how is the wind | assistant: Fine.`))
	})
}

// TestServerToolsThatEndBadly: a tool fails, or what follows it is not wanted any more.
func TestServerToolsThatEndBadly(t *testing.T) {
	story(t, "a message after the client has cleared the output is truncated", func(t *testing.T) {
		c, m := callWithTools(t, true, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", 5*time.Second)}}, func(n int) []pipeline.ModelEvent {
			if n == 1 {
				return []pipeline.ModelEvent{say("Let me look for a long time. "), callsTool(0, "wind")}
			}
			return []pipeline.ModelEvent{say("It blows.")}
		})
		c.ask("how is the wind")
		first(c, "output_audio_buffer.started")
		c.send(`{"type":"output_audio_buffer.clear"}`)
		last := next[*wire.ResponseDone](c, "response.done").Response.Output[2]
		c.g.Expect(last.Status).To(gomega.Equal("incomplete"))
		var cut []string
		for _, e := range c.All() {
			if e, is := e.(*wire.ConversationItemTruncated); is {
				cut = append(cut, e.ItemID)
			}
		}
		c.g.Expect(cut).To(gomega.ContainElement(last.ID))
		c.answer()
		c.g.Expect(m.read(3)).NotTo(gomega.ContainSubstring("blows"))
	})

	story(t, "a tool that fails or panics is a result, and takes no session down", func(t *testing.T) {
		bad := []pipeline.ServerTool{
			{Tool: pipeline.Tool{Name: "fails"}, Run: func(context.Context, string) (string, error) { return "", errors.New("no such town") }},
			{Tool: pipeline.Tool{Name: "panics"}, Run: func(context.Context, string) (string, error) { panic("at work") }},
		}
		c, m := callWithTools(t, true, pipeline.ServerTools{Tools: append(bad, takes("hangs", time.Hour))}, func(n int) []pipeline.ModelEvent {
			if n == 1 {
				return []pipeline.ModelEvent{callsTool(0, "fails"), callsTool(1, "panics"), callsTool(2, "hangs")}
			}
			return []pipeline.ModelEvent{say("I could not.")}
		})
		c.ask("try it")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		c.g.Expect(c.count("response.mcp_call.failed")).To(gomega.Equal(3))
		c.g.Expect(m.read(2)).To(gomega.And(gomega.ContainSubstring("The tool has failed: no such town"),
			gomega.ContainSubstring("panicked"), gomega.ContainSubstring("the tool took too long: more than 30s")))
	})

	story(t, "the session ends while a tool runs", func(t *testing.T) {
		c, _ := callWithTools(t, true, pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", 20*time.Second)}}, func(int) []pipeline.ModelEvent {
			return []pipeline.ModelEvent{callsTool(0, "wind")}
		})
		c.ask("how is the wind")
		first(c, "response.mcp_call.in_progress")
		c.s.Close(0)
		<-c.s.Done()
	})
}

// TestLongTools: the agent announces a tool that takes longer than 1.5 s, once for a response.
func TestLongTools(t *testing.T) {
	const moment = "One moment, please."
	for _, webRTC := range []bool{true, false} {
		name := map[bool]string{true: "WebRTC", false: "WebSocket"}[webRTC]
		story(t, name+": two long tools are announced once", func(t *testing.T) {
			set := pipeline.ServerTools{Announcement: moment, Tools: []pipeline.ServerTool{takes("wind", 3*time.Second)}}
			c, m := callWithTools(t, webRTC, set, func(n int) []pipeline.ModelEvent {
				if n <= 2 {
					return []pipeline.ModelEvent{callsTool(n, "wind")}
				}
				return []pipeline.ModelEvent{say("It blows.")}
			})
			c.ask("how is the wind")
			begun := time.Now()
			c.g.Expect(next[*wire.ResponseOutputAudioTranscriptDelta](c, "response.output_audio_transcript.delta").Delta).To(gomega.Equal(moment))
			c.g.Expect(time.Since(begun)).To(gomega.Equal(1500 * time.Millisecond))
			c.g.Expect(next[*wire.ResponseOutputAudioTranscriptDone](c, "response.output_audio_transcript.done").Transcript).To(gomega.Equal(moment))
			c.g.Expect(outline(next[*wire.ResponseDone](c, "response.done").Response)).To(gomega.Equal(
				`completed: wind=wind{"n":1} | One moment, please. | wind=wind{"n":2} | It blows.`))
			c.g.Expect(m.read(3)).To(gomega.Equal(`user: how is the wind | call wind{"n":1} | result wind{"n":1} | call wind{"n":2} | result wind{"n":2}`))
			c.g.Expect(c.count("response.created")).To(gomega.Equal(1))
		})
	}
	for what, scene := range map[string]struct {
		set   pipeline.ServerTools
		first []pipeline.ModelEvent
	}{
		"a short tool": {pipeline.ServerTools{Announcement: moment, Tools: []pipeline.ServerTool{takes("wind", 1400*time.Millisecond)}}, nil},
		"a tool before which the model has said something": {
			pipeline.ServerTools{Announcement: moment, Tools: []pipeline.ServerTool{takes("wind", 5*time.Second)}}, []pipeline.ModelEvent{say("I look.")},
		},
		"a server without an announcement": {pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", 5*time.Second)}}, nil},
	} {
		story(t, "nothing is announced: "+what, func(t *testing.T) {
			c, _ := callWithTools(t, true, scene.set, func(n int) []pipeline.ModelEvent {
				if n == 1 {
					return append(scene.first, callsTool(0, "wind"))
				}
				return []pipeline.ModelEvent{say("It blows.")}
			})
			c.ask("how is the wind")
			c.g.Expect(outline(next[*wire.ResponseDone](c, "response.done").Response)).NotTo(gomega.ContainSubstring(moment))
		})
	}
}

// TestInterruptedTool: a tool that runs while the user interrupts goes on, and its true outcome is in the conversation.
func TestInterruptedTool(t *testing.T) {
	story(t, "it ends after the response", func(t *testing.T) {
		set := pipeline.ServerTools{Announcement: strings.Repeat("One moment, please, while I look at the wind. ", 3), Tools: []pipeline.ServerTool{takes("wind", 8*time.Second)}}
		c, m := callWithTools(t, true, set, func(n int) []pipeline.ModelEvent {
			if n == 1 {
				return []pipeline.ModelEvent{callsTool(0, "wind")}
			}
			return []pipeline.ModelEvent{say("Yes.")}
		})
		c.ask("how is the wind")
		first(c, "output_audio_buffer.started")
		c.quiet(500)
		c.speak(scripted.Tones("stop that and listen to me")[:24*1500])
		c.quiet(1200)
		cut := next[*wire.ResponseDone](c, "response.done").Response
		c.g.Expect(cut.Status).To(gomega.Equal("cancelled"))
		c.g.Expect(cut.Output[0].Output).To(gomega.BeEmpty(), "the tool still runs")
		first(c, "response.done")
		c.g.Expect(m.read(2)).To(gomega.ContainSubstring(`call wind{"n":0} | result The tool is still running`))
		for {
			it := next[*wire.ConversationItemDone](c, "conversation.item.done").Item
			if it.Type == wire.ItemMCPCall {
				c.g.Expect(it.Output).To(gomega.Equal(`wind{"n":0}`))
				break
			}
		}
		c.answer()
		c.g.Expect(m.read(3)).To(gomega.ContainSubstring(`call wind{"n":0} | result wind{"n":0}`))
		c.g.Expect(c.count("response.mcp_call.completed")).To(gomega.BeZero(), "nothing of a response follows response.done")
	})
}
