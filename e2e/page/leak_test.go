package page_test

// What calls of a page leave behind: nothing.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// used counts the functions, handles and memory that the page's calls hold.
type used struct{ Functions, Handles, Memory int }

// A page opens and closes two hundred calls: everything that they held is freed.
func TestTwoHundredCallsLeaveNothing(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	calls := func(n int) {
		v.does(`for (let i = 0; i < %d; i++) {
			const call = Antiphon.connect({ url: %q });
			await call.ready;
			await call.close();
		}`, n, a.server.URL)
	}
	look := func() (used, float64) {
		heap, err := v.Heap()
		a.g.Expect(err).NotTo(gomega.HaveOccurred())
		return told[used](v, `Antiphon.usage()`), heap
	}
	for range 6 {
		calls(10) // until the program's memory no longer grows between two garbage collections
	}
	before, heapBefore := look()
	for range 20 {
		calls(10)
	}
	after, heapAfter := look()
	t.Logf("before: %+v, %.0f bytes of heap; after 200 calls more: %+v, %.0f bytes", before, heapBefore, after, heapAfter)
	a.g.Expect(after.Functions).To(gomega.BeZero())
	a.g.Expect(after.Handles-before.Handles).To(gomega.BeNumerically("<", 5000), "handles wait for a collection, but do not grow from call to call")
	a.g.Expect(after.Memory).To(gomega.BeNumerically("<=", before.Memory+4<<20))
	a.g.Expect(heapAfter-heapBefore).To(gomega.BeNumerically("<", 200*5000), "less than 5 kB a call")
	a.g.Eventually(a.server.Calls).Should(gomega.BeZero())
}

// A page gives up a call at once. Whatever the call waits for, it ends at the server too.
func TestACallIsGivenUpAtOnce(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	v.does(`await Antiphon.preload();
		for (let wait = 0; wait < 200; wait += 10) {
			const call = begin();
			await new Promise((done) => setTimeout(done, wait));
			await call.close();
			if (call.state !== "disconnected") throw new Error(call.state);
		}`)
	a.g.Eventually(a.server.Calls).WithTimeout(10 * time.Second).Should(gomega.BeZero())
	v.becomes(`Antiphon.usage().functions === 0`)
}
