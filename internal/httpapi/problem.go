package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
)

// Error responses, as the protocol writes them.

// problem is the error response to a refused request.
type problem = answer.Problem

func badField(code, param, message string) *problem { return answer.BadField(code, param, message) }

// internal returns the response to a request on which the server failed.
func internal(code string, err error) *problem {
	return answer.Failed(http.StatusInternalServerError, code, err.Error())
}

// unauthorized returns the response to every key and secret that the server does not know, whatever is wrong with it.
func unauthorized() *problem {
	return refused("invalid_api_key", "show a key of this server: Authorization: Bearer KEY")
}

// refused returns the response to a key or secret that the server does not accept.
func refused(code, message string) *problem {
	return (&problem{Status: http.StatusUnauthorized, Code: code, Message: message}).With("WWW-Authenticate", `Bearer realm="antiphon"`)
}

// keyWanted returns the response to a request with a client secret where an API key is wanted. why says what a client secret does.
func keyWanted(why string) *problem {
	return &problem{Status: http.StatusForbidden, Code: "client_secret_not_allowed", Message: "a client secret " + why + ": show an API key"}
}

// noCall returns the response for a call that does not exist, and for a call of somebody else.
func noCall() *problem {
	return &problem{Status: http.StatusNotFound, Code: "call_not_found", Message: "there is no such call, or it has ended"}
}

// rateLimited returns the response to a requester whose budget is used up; wait is how long to wait.
func rateLimited(wait time.Duration) *problem {
	return (&problem{
		Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded",
		Message: fmt.Sprintf("the rate limit is reached: try again in %.0f s", math.Ceil(wait.Seconds())),
	}).After(wait)
}
