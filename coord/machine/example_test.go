package machine_test

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// A machine is its sealed State and Event types, and transitions between concrete
// members of them.

type lamp interface {
	Name() string
	lamp()
}

type (
	dark   struct{}
	bright struct{ Level int }
)

func (dark) lamp()          {}
func (bright) lamp()        {}
func (dark) Name() string   { return "Dark" }
func (bright) Name() string { return "Bright" }

type switched interface {
	Name() string
	switched()
}

type press struct{ Level int }

func (press) switched()    {}
func (press) Name() string { return "Press" }

type glow struct{ Level int }

// lampOn is the machine's own On. Its constraints are what keeps foreign types out:
// with them, a transition that starts from another machine's state does not compile.
//
//	lampOn("Open", func(closed, press) (bright, []glow) { … })
//	// closed does not satisfy lamp (missing method lamp)
//
// And its place in the table comes from its type, so it cannot be filed under the
// wrong state or event.
func lampOn[From lamp, Ev switched, To lamp](
	action string, f func(From, Ev) (To, []glow),
) machine.Row[lamp, switched, glow] {
	return machine.On[lamp, switched](action, f)
}

func light(_ dark, e press) (bright, []glow) { return bright(e), []glow{glow(e)} }

func quench(bright, press) (dark, []glow) { return dark{}, nil }

func ExampleOn() {
	table := machine.Table[lamp, switched, glow]{
		lampOn("Light", light),
		lampOn("Quench", quench),
	}
	fmt.Println("missing:", table.Check([]lamp{dark{}, bright{}}, []switched{press{}}))

	next, effects, row := table.Next(dark{}, press{Level: 3})
	fmt.Printf("%s: %s %v, effects %v\n", table[row].Action, next.Name(), next, effects)
	fmt.Print(table.Mermaid(dark{}))
	// Output:
	// missing: []
	// Light: Bright {3}, effects [{3}]
	// stateDiagram-v2
	//     [*] --> Dark
	//     Dark --> Bright: Press / Light
	//     Bright --> Dark: Press / Quench
}
