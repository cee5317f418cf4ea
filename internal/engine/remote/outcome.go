package remote

// The outcome: how the last call to a server ended, which is the state of its stage.

import (
	"context"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Outcome is how the last call to a server ended. The zero value says that there was none. Its methods may be called by several goroutines
// at a time.
type Outcome struct{ last atomic.Pointer[error] }

// Note keeps how a call ended, unless the caller ended it. It returns err.
func (o *Outcome) Note(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		o.last.Store(&err)
	}
	return err
}

// Component returns the component of a stage with the present state. The detail of a failure is its error.
func (o *Outcome) Component(stage, name, detail string) pipeline.Component {
	c := pipeline.Component{Stage: stage, Name: name, State: pipeline.StateLoading, Detail: detail}
	switch last := o.last.Load(); {
	case last == nil:
	case *last == nil:
		c.State = pipeline.StateReady
	default:
		c.State, c.Detail = pipeline.StateFailed, (*last).Error()
	}
	return c
}
