package voice

// This file cuts a stream into frames.

// Framer cuts a stream that comes in pieces of any size into the frames of a Detector. The zero value is ready. Only one goroutine at a time
// may use it.
type Framer struct {
	frame [FrameSize]float32
	n     int
}

// Push takes samples from the begin of src and returns the rest. If they complete a frame, Push returns the frame, which is valid until the
// next call. The loop is
//
//	for len(src) > 0 {
//		var frame []float32
//		if frame, src = f.Push(src); frame != nil {
//			decision := detector.Frame(frame)
//		}
//	}
func (f *Framer) Push(src []float32) (frame, rest []float32) {
	n := copy(f.frame[f.n:], src)
	f.n += n
	if f.n < FrameSize {
		return nil, src[n:]
	}
	f.n = 0
	return f.frame[:], src[n:]
}
