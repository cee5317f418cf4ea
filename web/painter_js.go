package web

// Draws the notes of a score on a canvas.

import (
	"math"
	"syscall/js"
	"time"
)

// painter draws a score on a canvas.
type painter struct {
	canvas, context js.Value
	scheme          js.Value // the media query for dark colours
	recolour        js.Func
	you, agent      string
	blank           bool
}

const (
	noteSize  = 9.0
	staffStep = 9.0 // between a line and the space beside it
)

func newPainter(canvas js.Value) *painter {
	p := &painter{
		canvas:  canvas,
		context: canvas.Call("getContext", "2d"),
		scheme:  js.Global().Call("matchMedia", "(prefers-color-scheme: dark)"),
		blank:   true,
	}
	p.recolour = js.FuncOf(func(js.Value, []js.Value) any {
		p.readColours()
		return nil
	})
	p.scheme.Call("addEventListener", "change", p.recolour)
	p.readColours()
	return p
}

// readColours reads the colours of user and agent from the style sheet.
func (p *painter) readColours() {
	style := js.Global().Call("getComputedStyle", p.canvas)
	p.you = style.Call("getPropertyValue", "--you").String()
	p.agent = style.Call("getPropertyValue", "--agent").String()
}

// paint draws the notes at their present positions.
func (p *painter) paint(s *score, now time.Duration) {
	if s.quiet() && p.blank {
		return
	}
	width, height := p.clear()
	p.blank = s.quiet()
	middle, away := width/2, p.clearance()
	colour := ""
	s.each(now, func(n note, moved float64) {
		x := middle + away + moved
		if n.kind == noteYou {
			x = middle - away - moved - noteSize
		}
		fade := 1 - (moved+away)/middle
		if fade <= 0 {
			return
		}
		if c := p.colourOf(n.kind); c != colour {
			colour = c
			p.context.Set("fillStyle", c)
		}
		p.context.Set("globalAlpha", math.Min(1, fade*2.2))
		p.draw(n, x, height/2)
	})
	p.context.Set("globalAlpha", 1)
}

// draw paints one note, or a double bar, with the staff's middle at y.
func (p *painter) draw(n note, x, y float64) {
	if n.kind == noteCut {
		half := 3.3 * staffStep
		p.context.Call("fillRect", x, y-half, 1.5, 2*half)
		p.context.Call("fillRect", x+4.5, y-half, 3, 2*half)
		return
	}
	y -= (float64(n.pitch) - float64(notePitches-1)/2) * staffStep
	p.context.Call("fillRect", x, y-noteSize/2, noteSize, noteSize)
}

func (p *painter) colourOf(k noteKind) string {
	if k == noteYou {
		return p.you
	}
	return p.agent
}

// clear empties the canvas, fitting it to its place and the screen's density,
// and returns its size in CSS pixels.
func (p *painter) clear() (width, height float64) {
	width = p.canvas.Get("clientWidth").Float()
	height = p.canvas.Get("clientHeight").Float()
	ratio := math.Min(js.Global().Get("devicePixelRatio").Float(), 3)
	w, h := math.Round(width*ratio), math.Round(height*ratio)
	if p.canvas.Get("width").Float() != w || p.canvas.Get("height").Float() != h {
		p.canvas.Set("width", w)
		p.canvas.Set("height", h)
	}
	p.context.Call("setTransform", ratio, 0, 0, ratio, 0, 0)
	p.context.Call("clearRect", 0, 0, width, height)
	return width, height
}

// clearance returns the distance from the middle at which the notes begin:
// outside the button and its rings.
func (p *painter) clearance() float64 {
	button := p.canvas.Get("parentElement").Call("querySelector", "#talk")
	return button.Get("offsetWidth").Float()/2 + 22
}
