package session

// What the model learns of the user: the time zone and the language.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestModelLearnsTheTimeZone(t *testing.T) {
	for hello, want := range map[string]string{
		`"time_zone":"Europe/Oslo"`:  "Europe/Oslo",
		`"time_zone":"Europe/Atlan"`: "", // there is no such place
		`"time_zone":"../../passwd"`: "",
		`"time_zone":"Local"`:        "",
		`"metrics":false`:            "",
	} {
		story(t, hello, func(t *testing.T) {
			p, log := remembered(plain())
			c := byWebSocket(t, p)
			c.send(`{"type":"antiphon.hello",` + hello + `}`)
			c.settle(`"audio":{"input":{"transcription":{"model":"m","language":"nb"}}}`)
			c.ask("hello")
			first(c, "response.done")
			g := gomega.NewWithT(t)
			g.Expect(log.request().Language).To(gomega.Equal("nb"))
			var got string
			if zone := log.request().TimeZone; zone != nil {
				got = zone.String()
			}
			g.Expect(got).To(gomega.Equal(want))
		})
	}
}

func TestTheTimeZoneOutlivesTheProcess(t *testing.T) {
	story(t, "after a kill", func(t *testing.T) {
		var log *requestLog
		l := newLongCall(t, time.Hour, 2*time.Hour, func(c *Config) { c.Pipeline, log = remembered(c.Pipeline) })
		l.begin()
		l.send(`{"type":"antiphon.hello","time_zone":"Europe/Oslo"}`)
		l.ask("hello")
		first(l.caller, "response.done")
		l.killed()
		l.ask("again")
		first(l.caller, "response.done")
		l.g.Expect(log.request().TimeZone).To(gomega.HaveField("String()", "Europe/Oslo"))
	})
}
