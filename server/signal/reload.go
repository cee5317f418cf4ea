package signal

import (
	"cmp"
	"errors"

	"github.com/antiphon-rt/antiphon/server/signal/internal/budget"
)

// What a running Handler can change: its keys, limits and rates.

// rules are what the Handler goes by at one moment. They do not change: Reload replaces them.
type rules struct {
	keys Keys
	Limits
}

// ErrKeylessReload is the error of a Reload that would change whether the server asks for keys.
var ErrKeylessReload = errors.New("signal: a running server cannot begin or cease to ask for keys: start it again")

// Reload replaces the keys, limits and rates. It holds for what begins from now on: calls that there are go on, also those of a key
// that is gone. The budgets of all principals begin anew if the rates change. Memory and MessageMemory stay as they were.
func (h *Handler) Reload(keys Keys, limits Limits, rates Rates) error {
	if (keys == nil) != (h.rules.Load().keys == nil) {
		return ErrKeylessReload
	}
	h.setRules(keys, limits)
	h.budgets.Reload(budget.Rates(rates))
	return nil
}

// setRules stores the rules, with defaults for limits that are zero.
func (h *Handler) setRules(keys Keys, limits Limits) {
	r := &rules{keys, limits.withDefaults(keys)}
	h.rules.Store(r)
	h.secrets.limit(r.SecretsPerPrincipal)
}

// limit changes how many secrets one principal may have. A principal that has more keeps them.
func (v *secretStore) limit(perPrincipal int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.perPrincipal = cmp.Or(perPrincipal, maxSecrets)
}
