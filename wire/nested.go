package wire

// This file has the functions that know the types of nested objects. A new type that may be nil, or that comes in lists, needs a case here.

// action is what follow does with a pointer field.
type action uint8

const (
	look   action = iota
	create        // makes it point to a new value with its defaults
	drop          // makes it nil
)

// follow returns the pointer in the pointer field that p points to, nil if the field is nil. optional is false if p points to no pointer
// field.
func follow(p any, do action) (value any, optional bool) {
	switch p := p.(type) {
	case **string:
		return step(p, do), true
	case **int:
		return step(p, do), true
	case **bool:
		return step(p, do), true
	case **MaxTokens:
		return step(p, do), true
	case **Transcription:
		return step(p, do), true
	case **NoiseReduction:
		return step(p, do), true
	case **TurnDetection:
		value = step(p, do)
		if do == create {
			**p = defaultTurnDetection()
		}
		return value, true
	case **StatusDetails:
		return step(p, do), true
	case **StatusError:
		return step(p, do), true
	case **ResponseAudio:
		return step(p, do), true
	case **Usage:
		return step(p, do), true
	}
	return nil, false
}

func step[T any](p **T, do action) any {
	switch do {
	case look:
	case create:
		*p = new(T)
	case drop:
		*p = nil
	}
	if *p == nil {
		return nil
	}
	return *p
}

// Results of length that are no lengths.
const (
	nilList = -1
	noList  = -2
)

// length returns the length of the list that p points to, nilList for nil, and noList if p points to no list.
func length(p any) int {
	switch p := p.(type) {
	case *[]string:
		return size(*p)
	case *[]Item:
		return size(*p)
	case *[]Content:
		return size(*p)
	case *[]Tool:
		return size(*p)
	case *[]RateLimit:
		return size(*p)
	}
	return noList
}

func size[T any](list []T) int {
	if list == nil {
		return nilList
	}
	return len(list)
}

// element returns a pointer to element i of the list that p points to. If i is the length of the list, the list grows by one element. With
// i = -1 the list becomes empty.
func element(p any, i int) any {
	switch p := p.(type) {
	case *[]string:
		return at(p, i)
	case *[]Item:
		return at(p, i)
	case *[]Content:
		return at(p, i)
	case *[]Tool:
		return at(p, i)
	case *[]RateLimit:
		return at(p, i)
	}
	return nil
}

func at[T any](list *[]T, i int) any {
	if i < 0 {
		*list = []T{}
		return nil
	}
	if i == len(*list) {
		var one T
		*list = append(*list, one)
	}
	return &(*list)[i]
}

// empty sets the field that p points to to its zero value.
func empty(p any) {
	switch p := p.(type) {
	case *string:
		*p = ""
	case *voice:
		*p = ""
	case *int:
		*p = 0
	case *int64:
		*p = 0
	case *float64:
		*p = 0
	case *bool:
		*p = false
	case *MaxTokens:
		*p = MaxTokens{}
	case *[]byte:
		*p = nil
	case *Raw:
		*p = nil
	case *rawObject:
		*p = nil
	case *[]string:
		*p = nil
	case *[]Item:
		*p = nil
	case *[]Content:
		*p = nil
	case *[]Tool:
		*p = nil
	case *[]RateLimit:
		*p = nil
	case fielder:
		p.fields(&codec{mode: emptying})
	default:
		follow(p, drop)
	}
}
