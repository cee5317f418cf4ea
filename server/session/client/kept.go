package client

// What the journal knows of the client.

import "github.com/antiphon-rt/antiphon/server/journal"

// Kept returns what another process must know of the client.
func (c *Client) Kept() journal.Client {
	return journal.Client{Extended: c.extended, Metrics: c.metrics, Sounds: c.sounds, Reports: c.reports, TimeZone: c.Settings.TimeZone()}
}

// Acting reports whether requests for runs have not ended yet. If their process ends now, the client sends them again.
func (c *Client) Acting() bool { return len(c.acts) > 0 }

// Restore notes what another process knew of the client: it has said that it can reconnect.
func (c *Client) Restore(k journal.Client, taken string) {
	c.extended, c.metrics, c.sounds, c.reports, c.taken = k.Extended, k.Metrics, k.Sounds, k.Reports, taken
	c.Settings.SetTimeZone(k.TimeZone)
	c.Reconnects.Store(true)
}
