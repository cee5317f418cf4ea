// Package once lets a client send one request several times with the same header Idempotency-Key. The service behind it processes the request once,
// and every try gets the same response. It follows the IETF draft "The Idempotency-Key HTTP Header Field"
// (draft-ietf-httpapi-idempotency-key-header).
//
// A Handler is a middleware for any http.Handler. With a Proxy as that handler, it is a reverse proxy before an HTTP service. The package drives the
// machine of internal/coord/idempotency, one for each key. The state is in the store (internal/store), so several processes can share it, and it survives the end of
// the process. docs/once.md says what is guaranteed and what is not.
//
// # How a try passes
//
//   - A Check takes the lock of the key, in one compare and swap. The lock has a lease, which the holder renews. The lease runs from the time at
//     which the store has last written the record.
//   - The holder stores Sending before the request is sent. A Handler before a handler of this process stores both in one write. A Proxy connects
//     first, so that a service that is down leaves no key in doubt.
//   - The response is stored whole before anybody gets it (Processed). A response that streams comes live, and its end comes when it is stored.
//   - All other tries get 409, wait for the response if they ask for it, or get the stored response.
//   - A holder that dies leaves a lock that nobody renews. The next try finds that the lease has run out. In a store that only one process can use,
//     a lock of an earlier process is over at once.
package once
