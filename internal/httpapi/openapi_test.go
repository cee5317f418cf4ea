package httpapi

// The OpenAPI description agrees with the server.

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// description is the part of openapi.json that the tests read.
type description struct {
	OpenAPI    string
	Paths      map[string]map[string]struct{ Responses map[string]response }
	Components struct{ Responses map[string]response }
}

type response struct {
	Ref   string   `json:"$ref"`
	Codes []string `json:"x-antiphon-codes"`
}

func describe(t *testing.T) description {
	t.Helper()
	var d description
	gomega.NewWithT(t).Expect(json.Unmarshal(openAPIText, &d)).To(gomega.Succeed())
	return d
}

// TestOpenAPI checks that the description has exactly the routes of the server.
func TestOpenAPI(t *testing.T) {
	g := gomega.NewWithT(t)
	d := describe(t)
	g.Expect(d.OpenAPI).To(gomega.HavePrefix("3.1."))
	var there, said []string
	for _, r := range (&Handler{}).routes() {
		there = append(there, r.method+" "+r.path)
	}
	for path, operations := range d.Paths {
		for method := range operations {
			said = append(said, strings.ToUpper(method)+" "+path)
		}
	}
	g.Expect(said).To(gomega.ConsistOf(there))

	desk := open(t, nil)
	w := desk.ask(http.MethodGet, "/v1/antiphon/openapi.json", nil)
	g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
	g.Expect(w.Body.Bytes()).To(gomega.Equal(openAPIText))
}

// described checks that openapi.json describes the response to a request. Every request of these tests goes through it.
func described(t *testing.T, r *http.Request, status int, body []byte) {
	t.Helper()
	var told struct{ Error struct{ Code string } }
	_ = json.Unmarshal(body, &told) // not every response is JSON
	code := told.Error.Code
	if r.Method == http.MethodOptions || code == "unknown_url" || code == "method_not_allowed" {
		return
	}
	d := describe(t)
	for path, operations := range d.Paths {
		operation, has := operations[strings.ToLower(r.Method)]
		if !has || !matches(path, r.URL.Path) {
			continue
		}
		answer, has := operation.Responses[strconv.Itoa(status)]
		if ref, is := strings.CutPrefix(answer.Ref, "#/components/responses/"); is {
			answer, has = d.Components.Responses[ref]
		}
		switch {
		case !has && status >= 500 && code == "":
			return // the WebSocket package wrote the response to a recorder
		case !has:
			t.Errorf("openapi.json has no answer %d of %s %s", status, r.Method, path)
		case code != "" && !slices.Contains(answer.Codes, code):
			t.Errorf("openapi.json has no code %s in answer %d of %s %s", code, status, r.Method, path)
		}
		return
	}
	if status != http.StatusUnauthorized && status != http.StatusForbidden {
		t.Errorf("openapi.json has no %s %s, which answers %d", r.Method, r.URL.Path, status)
	}
}

// matches reports whether path is an instance of the template.
func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") })
}
