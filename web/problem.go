package web

// The problems that the page can explain, with their texts and remedies.

// ProblemKind names what went wrong. Its text is the value of data-kind on
// #error.
type ProblemKind string

// The kinds of problem that the page knows how to explain.
const (
	ProblemNoMicrophone ProblemKind = "no-microphone"
	ProblemPermission   ProblemKind = "permission"
	ProblemMicBusy      ProblemKind = "microphone-busy"
	ProblemServerGone   ProblemKind = "server-gone"
	ProblemSilent       ProblemKind = "server-silent"
	ProblemInsecure     ProblemKind = "insecure"
	ProblemUnsupported  ProblemKind = "unsupported"
	ProblemKey          ProblemKind = "key"
	ProblemBusy         ProblemKind = "busy"
	ProblemBlocked      ProblemKind = "playback-blocked"
	ProblemServer       ProblemKind = "server"
	ProblemAway         ProblemKind = "away"
	ProblemAnew         ProblemKind = "anew"
)

// Remedy is what the page offers to do about a problem.
type Remedy string

// The remedies.
const (
	RemedyNone  Remedy = ""
	RemedyRetry Remedy = "retry" // make the call again
	RemedyMic   Remedy = "mic"   // open the microphone again
	RemedyKey   Remedy = "key"   // ask for the server's key
	RemedyPlay  Remedy = "play"  // let the browser play sound
)

// Problem is a problem that the page shows to the user.
type Problem struct {
	Kind   ProblemKind
	Title  string // what happened
	Advice string // what to do about it
	Detail string // the exact message, to find the cause; may be empty
	Remedy Remedy
}

// ProblemOf explains a kind of problem. Detail is the message of the browser or
// the server and may be empty.
func ProblemOf(kind ProblemKind, detail string) Problem {
	p, known := explained[kind]
	if !known {
		p = explained[ProblemServer]
	}
	p.Kind, p.Detail = kind, detail
	return p
}

// explained has the texts and the remedy of each kind. The call goes on without a microphone.
var explained = map[ProblemKind]Problem{
	ProblemNoMicrophone: {
		Title: "No microphone found",
		Advice: "The call goes on without one: write, and hear the answers. " +
			"To speak, plug a microphone in and try it again.",
		Remedy: RemedyMic,
	},
	ProblemPermission: {
		Title: "The microphone is not allowed",
		Advice: "The call goes on without it: write, and hear the answers. " +
			"To speak, allow it in the browser's address bar and try it again.",
		Remedy: RemedyMic,
	},
	ProblemMicBusy: {
		Title: "The microphone cannot be opened",
		Advice: "Another program may be using it. Close that one or choose another microphone, " +
			"then try it again. You can write meanwhile.",
		Remedy: RemedyMic,
	},
	ProblemInsecure: {
		Title: "This page is not on a secure address",
		Advice: "Browsers give a microphone only to https:// pages and to localhost. " +
			"Open the server by https, or on its own machine by localhost, or write instead.",
	},
	ProblemServerGone: {
		Title:  "The server does not answer",
		Advice: "Check that it is running and that the network is up, then try again.",
		Remedy: RemedyRetry,
	},
	ProblemSilent: {
		Title: "The server did not answer in time",
		Advice: "Say it again. If the call does not begin at all, a firewall or VPN " +
			"may be holding back UDP.",
		Remedy: RemedyRetry,
	},
	ProblemUnsupported: {
		Title:  "This browser cannot make calls",
		Advice: "It has no WebRTC. A current Chrome, Edge, Firefox or Safari has.",
	},
	ProblemAway: {
		Title:  "The connection is lost",
		Advice: "It is being brought back. What you write meanwhile is sent then.",
	},
	ProblemAnew: {
		Title: "The connection was lost",
		Advice: "A new conversation has begun with the words of the old one. " +
			"Say again what the agent does not know.",
	},
	ProblemBlocked: {
		Title:  "The browser holds the sound back",
		Advice: "It plays sound only after a click.",
		Remedy: RemedyPlay,
	},
	ProblemKey: {
		Title:  "This server asks for a key",
		Advice: "Enter the key that whoever runs the server gave you.",
		Remedy: RemedyKey,
	},
	ProblemBusy: {
		Title:  "The server is full",
		Advice: "It holds as many calls as it can. Try again in a moment.",
		Remedy: RemedyRetry,
	},
	ProblemServer: {
		Title:  "The server reported a problem",
		Advice: "If the call does not go on, end it and start again.",
	},
}

// remedyLabel returns the name of the button for a remedy.
func remedyLabel(r Remedy) string {
	switch r {
	case RemedyRetry:
		return "Try again"
	case RemedyMic:
		return "Try the microphone again"
	case RemedyKey:
		return "Use this key"
	case RemedyPlay:
		return "Play sound"
	case RemedyNone:
		return ""
	}
	return ""
}
