package web

// The problems that the page can explain, with their texts and remedies. problemOf (view.go) finds the problem of a snapshot.

// ProblemKind names what went wrong. Its text is the value of data-kind on
// #error.
type ProblemKind string

// The kinds of problem that the page knows how to explain.
const (
	problemNoMicrophone ProblemKind = "no-microphone"
	problemPermission   ProblemKind = "permission"
	problemMicBusy      ProblemKind = "microphone-busy"
	problemServerGone   ProblemKind = "server-gone"
	problemSilent       ProblemKind = "server-silent"
	problemInsecure     ProblemKind = "insecure"
	problemUnsupported  ProblemKind = "unsupported"
	problemKey          ProblemKind = "key"
	problemBusy         ProblemKind = "busy"
	problemBlocked      ProblemKind = "playback-blocked"
	problemServer       ProblemKind = "server"
	problemAway         ProblemKind = "away"
	problemAnew         ProblemKind = "anew"
	problemEars         ProblemKind = "recogniser"
	problemModel        ProblemKind = "model"
	problemVoice        ProblemKind = "voice"
)

// lasts reports whether the problem stays until the server reports its end, so that the user cannot dismiss it.
func (k ProblemKind) lasts() bool {
	return k == problemEars || k == problemModel || k == problemVoice
}

// Remedy is what the page offers to do about a problem.
type Remedy string

// The remedies.
const (
	remedyNone  Remedy = ""
	remedyRetry Remedy = "retry" // make the call again
	remedyMic   Remedy = "mic"   // open the microphone again
	remedyKey   Remedy = "key"   // ask for the server's key
	remedyPlay  Remedy = "play"  // let the browser play sound
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
		p = explained[problemServer]
	}
	p.Kind, p.Detail = kind, detail
	return p
}

// explained has the texts and the remedy of each kind. The call goes on without a microphone.
var explained = map[ProblemKind]Problem{
	problemNoMicrophone: {
		Title: "No microphone found",
		Advice: "The call goes on without one: write, and hear the answers. " +
			"To speak, plug a microphone in and try it again.",
		Remedy: remedyMic,
	},
	problemPermission: {
		Title: "The microphone is not allowed",
		Advice: "The call goes on without it: write, and hear the answers. " +
			"To speak, allow it in the browser's address bar and try it again.",
		Remedy: remedyMic,
	},
	problemMicBusy: {
		Title: "The microphone cannot be opened",
		Advice: "Another program may be using it. Close that one or choose another microphone, " +
			"then try it again. You can write meanwhile.",
		Remedy: remedyMic,
	},
	problemInsecure: {
		Title: "This page is not on a secure address",
		Advice: "Browsers give a microphone only to https:// pages and to localhost. " +
			"Open the server by https, or on its own machine by localhost, or write instead.",
	},
	problemServerGone: {
		Title:  "The server does not answer",
		Advice: "Check that it is running and that the network is up, then try again.",
		Remedy: remedyRetry,
	},
	problemSilent: {
		Title: "The server did not answer in time",
		Advice: "Say it again. If the call does not begin at all, a firewall or VPN " +
			"may be holding back UDP.",
		Remedy: remedyRetry,
	},
	problemUnsupported: {
		Title:  "This browser cannot make calls",
		Advice: "It has no WebRTC. A current Chrome, Edge, Firefox or Safari has.",
	},
	problemAway: {
		Title:  "The connection is lost",
		Advice: "It is being brought back. What you write meanwhile is sent then.",
	},
	problemAnew: {
		Title: "The connection was lost",
		Advice: "A new conversation has begun with the words of the old one. " +
			"Say again what the agent does not know.",
	},
	problemBlocked: {
		Title:  "The browser holds the sound back",
		Advice: "It plays sound only after a click.",
		Remedy: remedyPlay,
	},
	problemKey: {
		Title:  "This server asks for a key",
		Advice: "Enter the key that whoever runs the server gave you.",
		Remedy: remedyKey,
	},
	problemBusy: {
		Title:  "The server is full",
		Advice: "It holds as many calls as it can. Try again in a moment.",
		Remedy: remedyRetry,
	},
	problemEars: {
		Title:  "The recogniser does not work",
		Advice: "The server does not understand speech until it works again. Writing works. " + findsTheCause,
	},
	problemModel: {
		Title:  "The model does not work",
		Advice: "Neither speech nor writing gets an answer until it works again. " + findsTheCause,
	},
	problemVoice: {
		Title:  "The voice does not work",
		Advice: "You do not hear the answers until it works again. Read them. " + findsTheCause,
	},
	problemServer: {
		Title:  "The server reported a problem",
		Advice: "If the call does not go on, end it and start again.",
	},
}

// findsTheCause tells what to do about a stage that does not work.
const findsTheCause = "Whoever runs the server finds the cause with antiphon doctor."

// remedyLabels are the names of the buttons for the remedies.
var remedyLabels = map[Remedy]string{
	remedyRetry: "Try again", remedyMic: "Try the microphone again", remedyKey: "Use this key", remedyPlay: "Play sound",
}
