package rig

// Lists the controls of a page as a screen reader finds them.

import (
	"encoding/json"

	"github.com/chromedp/cdproto/accessibility"
)

// controls returns the role and the name of every node that can be operated.
func controls(nodes []*accessibility.Node) []string {
	operable := map[string]bool{
		"button": true, "textbox": true, "combobox": true, "meter": true, "link": true, "checkbox": true, "switch": true, "listbox": true,
	}
	var found []string
	for _, n := range nodes {
		if role := valueOf(n.Role); !n.Ignored && operable[role] {
			found = append(found, role+" "+valueOf(n.Name))
		}
	}
	return found
}

func valueOf(v *accessibility.Value) string {
	var text string
	if v != nil {
		_ = json.Unmarshal(v.Value, &text) // a value that is no string gives an empty text
	}
	return text
}
