package idempotency

// The transitions of the machine: one row for each state and event.

import "github.com/antiphon-rt/antiphon/coord/machine"

// Table is the whole machine.
var Table = machine.Join(
	[]row{
		when("Refuse", "another payload", func(s Free, e Check) bool { return s.Payload != 0 && e.Payload != s.Payload },
			func(s Free, e Check) (Free, []Effect) { return s, []Effect{Refuse{e.Try}} }),
		on("Lock", func(s Free, e Check) (Locked, []Effect) {
			return Locked{Try: e.Try, Lease: s.Lease + 1, Payload: e.Payload, Safe: e.Safe},
				[]Effect{ArmLease{s.Lease + 1}, Grant{e.Try}}
		}),
		on("SendLate", func(s Free, e Sending) (Free, []Effect) { return s, again(e.Try) }),
		on("AnswerLate", func(s Free, e Processed) (Free, []Effect) { return s, again(e.Try) }),
		on("GiveUpLate", func(s Free, e GaveUp) (Free, []Effect) { return s, again(e.Try) }),
	},
	ignore("nobody holds the lock", Free{}, LeaseExpired{}),

	[]row{
		when("Refuse", "another payload", func(s Locked, e Check) bool { return e.Payload != s.Payload },
			func(s Locked, e Check) (Locked, []Effect) { return s, []Effect{Refuse{e.Try}} }),
		on("Wait", func(s Locked, e Check) (Locked, []Effect) { return s, []Effect{Wait{e.Try}} }),
		when("Send", "it holds the lock and has not sent", func(s Locked, e Sending) bool { return e.Try == s.Try && !s.Sent },
			func(s Locked, e Sending) (Locked, []Effect) { s.Sent = true; return s, []Effect{Forward{e.Try}} }),
		on("SendLate", func(s Locked, e Sending) (Locked, []Effect) { return s, again(e.Try) }),
		when("Cache", "it holds the lock", func(s Locked, e Processed) bool { return e.Try == s.Try },
			func(s Locked, e Processed) (Cached, []Effect) {
				return Cached{e.Response, s.Payload}, []Effect{Reply{Try: e.Try, Response: e.Response}, Wake{}}
			}),
		on("AnswerLate", func(s Locked, e Processed) (Locked, []Effect) { return s, again(e.Try) }),
		when("GiveUpInDoubt", "it holds the lock, and its request was sent and must not be repeated",
			func(s Locked, e GaveUp) bool { return e.Try == s.Try && doubtful(s) },
			func(s Locked, e GaveUp) (Unknown, []Effect) { return unknown(s), []Effect{SayUnknown{e.Try}, Wake{}} }),
		when("GiveUp", "it holds the lock", func(s Locked, e GaveUp) bool { return e.Try == s.Try },
			func(s Locked, e GaveUp) (Free, []Effect) {
				return Free{s.Lease, s.Payload}, []Effect{SayRetry{e.Try}, Wake{}}
			}),
		on("GiveUpLate", func(s Locked, e GaveUp) (Locked, []Effect) { return s, again(e.Try) }),
		when("ExpireInDoubt", "the lock's lease, and its request was sent and must not be repeated",
			func(s Locked, e LeaseExpired) bool { return e.Lease == s.Lease && doubtful(s) },
			func(s Locked, _ LeaseExpired) (Unknown, []Effect) { return unknown(s), []Effect{Wake{}} }),
		when("Expire", "the lock's lease", func(s Locked, e LeaseExpired) bool { return e.Lease == s.Lease },
			func(s Locked, _ LeaseExpired) (Free, []Effect) { return Free{s.Lease, s.Payload}, []Effect{Wake{}} }),
	},
	ignore("it belongs to an older lock", Locked{}, LeaseExpired{}),

	[]row{
		when("Refuse", "another payload", func(s Cached, e Check) bool { return e.Payload != s.Payload },
			func(s Cached, e Check) (Cached, []Effect) { return s, []Effect{Refuse{e.Try}} }),
		on("GetCache", func(s Cached, e Check) (Cached, []Effect) { return s, []Effect{Reply{e.Try, s.Response, true}} }),
		on("SendLate", func(s Cached, e Sending) (Cached, []Effect) { return s, again(e.Try) }),
		on("AnswerLate", func(s Cached, e Processed) (Cached, []Effect) { return s, again(e.Try) }),
		on("GiveUpLate", func(s Cached, e GaveUp) (Cached, []Effect) { return s, again(e.Try) }),
	},
	ignore("nobody holds the lock", Cached{}, LeaseExpired{}),

	[]row{
		when("Refuse", "another payload", func(s Unknown, e Check) bool { return e.Payload != s.Payload },
			func(s Unknown, e Check) (Unknown, []Effect) { return s, []Effect{Refuse{e.Try}} }),
		on("SayUnknown", func(s Unknown, e Check) (Unknown, []Effect) { return s, []Effect{SayUnknown{e.Try}} }),
		on("SendLate", func(s Unknown, e Sending) (Unknown, []Effect) { return s, again(e.Try) }),
		when("Resolve", "the answer that was missing", func(s Unknown, e Processed) bool { return e.Try == s.Try },
			func(s Unknown, e Processed) (Cached, []Effect) {
				return Cached{e.Response, s.Payload}, []Effect{Reply{Try: e.Try, Response: e.Response}}
			}),
		on("AnswerLate", func(s Unknown, e Processed) (Unknown, []Effect) { return s, again(e.Try) }),
		on("GiveUpLate", func(s Unknown, e GaveUp) (Unknown, []Effect) { return s, again(e.Try) }),
	},
	ignore("nobody holds the lock", Unknown{}, LeaseExpired{}),
)

func again(t Try) []Effect { return []Effect{CheckAgain{t}} }

// doubtful reports whether it is unknown if the server has processed the request.
func doubtful(s Locked) bool { return s.Sent && !s.Safe }

func unknown(s Locked) Unknown { return Unknown{s.Try, s.Payload} }
