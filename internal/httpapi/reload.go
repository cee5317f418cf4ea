package httpapi

import (
	"errors"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/limits"
)

// What a running Handler can change: its keys, limits, rates, and what client secrets allow.

// rules are what the Handler goes by at one moment. They do not change: Reload replaces them.
type rules struct {
	keys    apikey.Keys
	secrets SecretRules
	Limits
	// share is the part of all calls of a server that one principal may have, as 1 / share; 0 if CallsPerPrincipal says how many.
	share int
	// addressShare is the same for a client address; 0 if CallsPerAddress says how many.
	addressShare int
}

// ErrKeylessReload is the error of a Reload that would change whether the server asks for keys.
var ErrKeylessReload = errors.New("httpapi: a running server cannot begin or cease to ask for keys: start it again")

// Rules are what a running Handler can change.
type Rules struct {
	Keys      apikey.Keys
	Limits    Limits
	Rates     Rates
	Secrets   SecretRules
	Operators apikey.Keys // of the console of calls; a Handler does not read them
}

// Reload replaces the rules. It holds for what begins from now on: calls that there are go on, also those of a key that is gone, and with the locks that they began with. The
// budgets of all principals begin anew if the rates change. A smaller Memory takes nothing from a conversation until the conversation grows.
func (h *Handler) Reload(to Rules) error {
	if (to.Keys == nil) != (h.rules.Load().keys == nil) {
		return ErrKeylessReload
	}
	h.setRules(to)
	h.budgets.Reload(to.Rates)
	limits := h.rules.Load()
	h.memory.Resize(limits.Memory, limits.MaxSessions)
	h.messages.Resize(limits.MessageMemory)
	return nil
}

// setRules stores the rules, with defaults for limits that are zero.
func (h *Handler) setRules(to Rules) {
	share, address := 0, 0
	if to.Limits.CallsPerAddress == 0 {
		address = limits.AddressShare
	}
	if to.Limits.CallsPerPrincipal == 0 {
		share = shareOfAll(to.Keys)
	}
	h.rules.Store(&rules{to.Keys, to.Secrets, to.Limits.WithDefaults(shareOfAll(to.Keys)), share, address})
}
