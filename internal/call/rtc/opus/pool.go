package opus

import "sync"

// The pool of encoders: a call has an encoder only while the agent speaks.

// Pool lends encoders. An encoder has 300 kB, and most calls are silent at any time. The garbage collector takes encoders that nobody has
// borrowed for some time. A Pool is safe for concurrent use. Make it with NewPool.
type Pool struct {
	complexity, bitrate int
	spare               sync.Pool
}

// NewPool returns a pool of encoders with NewEncoder's parameters.
func NewPool(complexity, bitrate int) *Pool {
	return &Pool{complexity: complexity, bitrate: bitrate}
}

// Take lends an encoder that has forgotten all earlier frames. The error is NewEncoder's.
func (p *Pool) Take() (Encoding, error) {
	if e, ok := p.spare.Get().(*Encoder); ok {
		e.Reset()
		return e, nil
	}
	return NewEncoder(p.complexity, p.bitrate)
}

// Give returns an encoder to the pool. The caller does not use it any more.
func (p *Pool) Give(e Encoding) { p.spare.Put(e) }
