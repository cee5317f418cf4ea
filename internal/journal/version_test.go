package journal

// Entries of other versions.

import (
	"encoding/binary"
	"testing"

	"github.com/onsi/gomega"
)

// written returns an entry as a version writes it: by hand, because this program writes its own version alone.
func written(v byte, text string) []byte {
	b := []byte{v<<4 | flagFirst | flagLast | flagWhole}
	b = binary.BigEndian.AppendUint32(b, 3)
	b = binary.BigEndian.AppendUint64(b, 0)
	b = binary.BigEndian.AppendUint64(b, 7)
	return append(append(b, 1, 'n'), text...)
}

// TestJournalsOfTheVersionBefore: a call of the version before goes on, and one of a later version is refused. Fields that are missing or unknown change nothing.
func TestJournalsOfTheVersionBefore(t *testing.T) {
	const before = `[{"State":{"Epoch":3,"Call":{"ID":"ws_1","Principal":"desk"},"Taken":"event_9","Last":2,"Open":{"Answering":true},"Of later":{"more":1},
		"Items":[{"Num":2,"Item":{"ID":"item_1","Type":"message","Role":"user"}}],"Events":[{"ID":"event_1","Type":"session.created","Number":1}]}}]`
	for v := byte(0); v <= version; v++ {
		g := gomega.NewWithT(t)
		e, err := readEntry(written(v, before))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(e.epoch).To(gomega.BeEquivalentTo(3))
		g.Expect(e.node).To(gomega.Equal("n"))
		var r reader
		g.Expect(r.take(e)).To(gomega.Succeed())
		g.Expect(r.state.Call.Principal).To(gomega.Equal("desk"))
		g.Expect(r.state.Items[0].Item.ID).To(gomega.Equal("item_1"))
		g.Expect(r.state.Open.Answering).To(gomega.BeTrue())
		g.Expect(r.state.Answer).To(gomega.Equal(Answer{}))
	}
	g := gomega.NewWithT(t)
	_, err := readEntry(written(version+1, before))
	g.Expect(err).To(gomega.MatchError(ErrDamaged))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("it has version 2")))
	own := entry{flags: flagFirst, epoch: 1}
	g.Expect(own.bytes()[0]).To(gomega.Equal(version<<4 | flagFirst))
	e, err := readEntry(own.bytes())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(e.flags).To(gomega.Equal(flagFirst))
}
