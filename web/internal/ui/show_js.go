package ui

// Nodes in the document of a browser.

import (
	"strings"
	"syscall/js"
)

// element shows a node. Its number is the node's among those with listeners, or 0.
type element struct {
	js.Value

	number int
}

// Screen shows one tree of nodes in a document. It is used on the browser's one thread.
type Screen struct {
	document, place js.Value
	shown           *Node
	listening       map[int]*Node
	last            int // the last number given
}

// numbered is the property of an element with the number of its node.
const numbered = "antiphonNode"

// NewScreen returns a screen for the document's element #page, in whose place it shows its first tree.
func NewScreen() *Screen {
	document := js.Global().Get("document")
	s := &Screen{document: document, place: document.Get("body"), listening: map[int]*Node{}}
	call := js.FuncOf(func(_ js.Value, args []js.Value) any {
		s.happened(args[0])
		return nil
	})
	for _, kind := range []string{"click", "change", "submit", "scroll"} {
		s.place.Call("addEventListener", kind, call, true) // true: scroll events do not rise from the element to the body
	}
	return s
}

// Show changes the document so that it shows the node.
func (s *Screen) Show(n *Node) {
	if s.shown == nil {
		s.make(n)
		s.named("page").Call("replaceWith", n.element.Value)
	} else {
		s.change(s.shown, n)
	}
	s.shown = n
}

// happened calls the listener of the innermost element that has one for an event.
func (s *Screen) happened(event js.Value) {
	kind := event.Get("type").String()
	for e := event.Get("target"); e.Truthy() && !e.Equal(s.place); e = e.Get("parentNode") {
		number := e.Get(numbered)
		if number.Type() != js.TypeNumber {
			continue
		}
		for _, l := range s.listening[number.Int()].on {
			if l.kind != kind {
				continue
			}
			if kind == "submit" {
				event.Call("preventDefault")
			}
			value := ""
			if kind == "change" {
				value = e.Get("value").String()
			}
			l.do(value)
			return
		}
	}
}

// make makes the elements of a node and its children.
func (s *Screen) make(n *Node) {
	if n.markup != "" {
		template := s.document.Call("createElement", "template")
		template.Set("innerHTML", n.markup)
		n.element.Value = template.Get("content").Get("firstElementChild")
		return
	}
	n.element.Value = s.document.Call("createElement", n.tag)
	for _, a := range n.attrs {
		n.set(a)
	}
	s.listen(n)
	if len(n.kids) == 0 && n.text != "" {
		n.element.Set("textContent", n.text)
	}
	for _, kid := range n.kids {
		s.make(kid)
		n.element.Call("append", kid.element.Value)
	}
}

// listen ties the node to the listeners of its element.
func (s *Screen) listen(n *Node) {
	if len(n.on) == 0 {
		delete(s.listening, n.element.number)
		return
	}
	if n.element.number == 0 {
		s.last++
		n.element.number = s.last
		n.element.Set(numbered, s.last)
	}
	s.listening[n.element.number] = n
}

func (n *Node) set(a attribute) {
	if a.flag {
		n.element.Set(a.name, true)
		return
	}
	n.element.Call("setAttribute", a.name, a.value)
}

func (n *Node) unset(a attribute) {
	if a.flag {
		n.element.Set(a.name, false)
		return
	}
	n.element.Call("removeAttribute", a.name)
}

// change has the element of a node show another one that is the same but for attributes, text and children.
func (s *Screen) change(old, n *Node) {
	if old == n {
		return
	}
	n.element = old.element
	if n.markup != "" {
		return
	}
	for _, a := range old.attrs {
		if at := find(n.attrs, a.name); at < 0 {
			n.unset(a)
		}
	}
	for _, a := range n.attrs {
		if at := find(old.attrs, a.name); at < 0 || old.attrs[at] != a {
			n.set(a)
		}
	}
	s.listen(n)
	if old.text != "" && len(n.kids) > 0 {
		n.element.Set("textContent", "")
	}
	s.children(n, old.kids)
	if len(n.kids) == 0 && n.text != old.text {
		n.element.Set("textContent", n.text)
	}
}

func find(attrs []attribute, name string) int {
	for i, a := range attrs {
		if a.name == name {
			return i
		}
	}
	return -1
}

// children shows the children of n in its element, which shows those of old. The order of children that stay does not change as a rule:
// those before a child that stays have left.
func (s *Screen) children(n *Node, old []*Node) {
	for _, kid := range n.kids {
		at := 0
		for at < len(old) && !same(old[at], kid) {
			at++
		}
		if at == len(old) {
			s.make(kid)
			next := js.Null()
			if len(old) > 0 {
				next = old[0].element.Value
			}
			n.element.Call("insertBefore", kid.element.Value, next)
			continue
		}
		s.remove(old[:at])
		s.change(old[at], kid)
		old = old[at+1:]
	}
	s.remove(old)
}

// remove removes the nodes from the document.
func (s *Screen) remove(nodes []*Node) {
	for _, n := range nodes {
		n.element.Call("remove")
		s.forget(n)
	}
}

// forget lets go of the listeners in a tree.
func (s *Screen) forget(n *Node) {
	if n.element.number > 0 {
		delete(s.listening, n.element.number)
	}
	for _, kid := range n.kids {
		s.forget(kid)
	}
}

// nearEnd is how far from the end, in pixels, a user may have scrolled and
// still be following.
const nearEnd = 80

func (s *Screen) named(id string) js.Value { return s.document.Call("getElementById", id) }

// AtEnd reports whether the end of a scrolled element is in sight.
func (s *Screen) AtEnd(id string) bool {
	e := s.named(id)
	if !e.Truthy() {
		return false
	}
	hidden := e.Get("scrollHeight").Float() - e.Get("clientHeight").Float()
	return hidden-e.Get("scrollTop").Float() <= nearEnd
}

// ToEnd brings the end of a scrolled element into sight.
func (s *Screen) ToEnd(id string) {
	if e := s.named(id); e.Truthy() {
		e.Set("scrollTop", e.Get("scrollHeight"))
	}
}

// TakeValue empties a field and returns what was in it, without the spaces around it.
func (s *Screen) TakeValue(id string) string {
	e := s.named(id)
	if !e.Truthy() {
		return ""
	}
	text := strings.TrimSpace(e.Get("value").String())
	e.Set("value", "")
	return text
}

// Focus moves the keyboard's focus to an element.
func (s *Screen) Focus(id string) {
	if e := s.named(id); e.Truthy() {
		e.Call("focus")
	}
}

// Copy puts text on the clipboard and reports whether the browser has one
// for this page: it has none on an insecure address.
func (s *Screen) Copy(text string) bool {
	clipboard := js.Global().Get("navigator").Get("clipboard")
	if !clipboard.Truthy() {
		return false
	}
	clipboard.Call("writeText", text)
	return true
}

// same reports whether the element that shows one node can show the other.
func same(a, b *Node) bool { return a.tag == b.tag && a.key == b.key && a.markup == b.markup }
