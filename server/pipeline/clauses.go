package pipeline

// Clauses cuts a stream of text into pieces to speak.
type Clauses struct{ buf []byte }

// NewClauses starts a new text.
func NewClauses() *Clauses { return &Clauses{} }

// Push takes the next piece of text and returns the clauses that are complete with it.
func (c *Clauses) Push(delta string) []string { c.buf = append(c.buf, delta...); return nil }

// Flush returns the rest and starts a new text.
func (c *Clauses) Flush() []string {
	s := string(c.buf)
	c.buf = nil
	if s == "" {
		return nil
	}
	return []string{s}
}
