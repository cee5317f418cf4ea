package client

// What the journal knows of the client.

import "github.com/antiphon-rt/antiphon/internal/journal"

// Kept returns what another process must know of the client.
func (c *Client) Kept() journal.Client {
	return journal.Client{Extended: c.extended, Metrics: c.metrics, Sounds: c.sounds, Reports: c.reports, TimeZone: c.Settings.TimeZone()}
}

// Acting reports whether requests for runs have not ended yet. If their process ends now, the client sends them again.
func (c *Client) Acting() bool { return len(c.acts) > 0 }

// SentSince returns the events with an event_id that the client has sent and that the journal does not know yet. It knows them from then on.
func (c *Client) SentSince() []journal.Sent { return c.sent.unrecorded() }

// Restore notes what another process knew of the client: it has said that it can reconnect.
func (c *Client) Restore(k journal.Client, taken string, sent []journal.Sent) {
	c.extended, c.metrics, c.sounds, c.reports, c.taken = k.Extended, k.Metrics, k.Sounds, k.Reports, taken
	c.Settings.SetTimeZone(k.TimeZone)
	c.Reconnects.Store(true)
	c.sent.restore(sent)
}
