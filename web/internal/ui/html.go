package ui

// Nodes as HTML.

import "strings"

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

// HTML returns the markup of the node.
func HTML(n *Node) string {
	var b strings.Builder
	write(&b, n)
	return b.String()
}

func write(b *strings.Builder, n *Node) {
	if n.markup != "" {
		b.WriteString(n.markup)
		return
	}
	b.WriteString("<" + n.tag)
	for _, a := range n.attrs {
		b.WriteString(" " + a.name)
		if !a.flag {
			b.WriteString(`="` + escaper.Replace(a.value) + `"`)
		}
	}
	b.WriteString(">")
	if n.tag == "input" {
		return
	}
	if len(n.kids) == 0 {
		b.WriteString(escaper.Replace(n.text))
	}
	for _, kid := range n.kids {
		write(b, kid)
	}
	b.WriteString("</" + n.tag + ">")
}
