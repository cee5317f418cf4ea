package signal

import (
	"net/http"
	"net/http/httptest"

	"github.com/onsi/gomega"
)

// answered is the answer to an offer.
type answered struct {
	d *desk
	*httptest.ResponseRecorder
}

// begun checks that the call has begun, and gives its address.
func (a answered) begun() (location string) {
	a.d.t.Helper()
	a.d.g.Expect(a.Code).To(gomega.Equal(http.StatusCreated), a.Body.String())
	return a.Header().Get("Location")
}

func (a answered) refused(status int, code string) {
	a.d.t.Helper()
	a.d.refused(a.ResponseRecorder, status, code, "")
}
