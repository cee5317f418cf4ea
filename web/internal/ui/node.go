// Package ui builds the elements of the Talk page. A tree of nodes is written as HTML, or shown in a browser: then only what differs from the
// tree that was shown before is changed in the document. A node does not change after it was shown, but it may be shown again.
package ui

import "strconv"

// Node is an element of the page, with its attributes and its children. The methods change the node and return it.
type Node struct {
	tag     string // empty for a list of nodes, and for given markup
	key     string // tells apart siblings; the id of an element that has one
	attrs   []attribute
	text    string // the text of an element without children
	markup  string // given markup in place of everything else
	kids    []*Node
	on      []listener
	element element //nolint:unused,nolintlint // in a browser: what shows the node in the document
}

// attribute is a name and a value. A flag is a property that is either on or off, such as disabled.
type attribute struct {
	name, value string
	flag        bool
}

// listener is what an event of one kind calls, with the value of the element.
type listener struct {
	kind string
	do   func(value string)
}

// New returns an element with this tag.
func New(tag string) *Node { return &Node{tag: tag} }

// Raw returns an element that is given as markup. The markup must be one element, and a constant of the program.
func Raw(markup string) *Node { return &Node{markup: markup} }

// If returns the node that f makes, or nothing.
func If(holds bool, f func() *Node) *Node {
	if !holds {
		return nil
	}
	return f()
}

// Each returns the n nodes that f makes, in one list.
func Each(n int, f func(i int) *Node) *Node {
	list := &Node{}
	for i := range n {
		list.kids = append(list.kids, f(i))
	}
	return list
}

// Body gives the node its children. Those that are nil are left out, and lists stand for their nodes.
func (n *Node) Body(kids ...*Node) *Node {
	for _, kid := range kids {
		switch {
		case kid == nil:
		case kid.tag == "" && kid.markup == "":
			n.Body(kid.kids...)
		default:
			n.kids = append(n.kids, kid)
		}
	}
	return n
}

// Attr sets an attribute. It is called once for a name.
func (n *Node) Attr(name, value string) *Node {
	n.attrs = append(n.attrs, attribute{name: name, value: value})
	return n
}

// flag sets a property to true.
func (n *Node) flag(name string) *Node {
	n.attrs = append(n.attrs, attribute{name: name, flag: true})
	return n
}

// ID sets the id, which is the node's key too.
func (n *Node) ID(id string) *Node { return n.Key(id).Attr("id", id) }

// Key ties the node to the element that showed the node of this key among the same siblings before.
func (n *Node) Key(key string) *Node {
	n.key = key
	return n
}

// Text sets the text of an element without children.
func (n *Node) Text(text string) *Node {
	n.text = text
	return n
}

// Class sets the names of the element's classes.
func (n *Node) Class(names string) *Node { return n.Attr("class", names) }

// Type sets the type of a button or a field.
func (n *Node) Type(name string) *Node { return n.Attr("type", name) }

// Role sets what the element is for a screen reader.
func (n *Node) Role(name string) *Node { return n.Attr("role", name) }

// Aria sets an attribute for screen readers, named without its prefix aria-.
func (n *Node) Aria(name, value string) *Node { return n.Attr("aria-"+name, value) }

// Data sets an attribute named without its prefix data-.
func (n *Node) Data(name, value string) *Node { return n.Attr("data-"+name, value) }

// DataFlag sets an attribute named without its prefix data- to "true" or "false".
func (n *Node) DataFlag(name string, on bool) *Node { return n.Data(name, strconv.FormatBool(on)) }

// For sets the id of the field that a label is for.
func (n *Node) For(id string) *Node { return n.Attr("for", id) }

// TabIndex sets the place in the order of the tab key: 0 for the usual place, -1 for none.
func (n *Node) TabIndex(at int) *Node { return n.Attr("tabindex", strconv.Itoa(at)) }

// Disabled disables a button or a field if off is set.
func (n *Node) Disabled(off bool) *Node {
	if !off {
		return n
	}
	return n.flag("disabled")
}

// Selected makes an option the chosen one if on is set.
func (n *Node) Selected(on bool) *Node {
	if !on {
		return n
	}
	return n.flag("selected")
}

// OnClick has a click call f.
func (n *Node) OnClick(f func()) *Node { return n.listen("click", f) }

// OnScroll has scrolling call f.
func (n *Node) OnScroll(f func()) *Node { return n.listen("scroll", f) }

// OnSubmit has the sending of a form call f in place of what the browser does.
func (n *Node) OnSubmit(f func()) *Node { return n.listen("submit", f) }

// OnChange has a change of a field call f with the field's value.
func (n *Node) OnChange(f func(value string)) *Node {
	n.on = append(n.on, listener{"change", f})
	return n
}

func (n *Node) listen(kind string, f func()) *Node {
	n.on = append(n.on, listener{kind, func(string) { f() }})
	return n
}
