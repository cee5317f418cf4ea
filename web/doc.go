// Package web is the Talk page: a client in Go on top of the SDK, and the
// handler that serves it.
//
// # Building
//
// The client program (web/app) is compiled by TinyGo. It is committed beside the page's script, in internal/pagescript/dist, and embedded into the
// server: see web/internal/build.
//
// # Shape
//
// The page is a function of one immutable Snapshot: what Page renders depends on little else, so tests render any state without a browser. A Driver
// delivers snapshots and carries out what the user asks for; Client is the Driver that
// holds a real call through package sdk. The page does not render the parts that
// move with the speech (rings, level, score): a scene reads the levels for every
// animation frame and sets two CSS variables. Style sheets, icons and
// scripts are files in style, icons, static and page. The page has no inline script or
// style and works under the Content-Security-Policy that the handler sends.
//
// # Names in the page
//
// Tests and other tools may rely on these.
//
//	#page                 data-state (a Phase), data-muted and data-text-only ("true", "false")
//	#talk                 the round button: Talk, Cancel or End
//	#state                the state in words; data-state is the Phase
//	#hint                 what the user can do now
//	#caption              the user's words while they speak and until the answer begins; empty otherwise
//	#announced            what a screen reader reads by itself: the newest final lines
//	#hold                 in place of #mute with push-to-talk; aria-pressed
//	#mute                 data-muted ("true", "false"); disabled outside a call
//	#interrupt            disabled when there is nothing to interrupt
//	#mic-level            a meter; aria-valuenow is 0 to 100
//	#latency              data-ms is the last answer's total in milliseconds; absent before the first
//	#error                an alert; data-kind is a ProblemKind, "none", or "stopped" after a fault
//	#remedy, #dismiss     in #error: do something about it; remove it
//	#key                  in #error when the server asks for a key
//	#transcript > li      data-role ("user", "assistant", "tool"), data-item (the item's id),
//	                      data-interrupted and data-live ("true", "false")
//	  .said, .coming      in a line: its words as heard; the next words of the agent, which are not heard yet
//	  .cut, .note         in a line: the mark of an interruption, a remark
//	#runs .run            the card of a run, the newest first; data-status is its state. ID is the id of the run in
//	                      #approve-ID, #decline-ID (an approval), #reply-ID, #answer-ID (another question), #cancel-ID
//	#copy-transcript, #save-transcript  once something has been said
//	#install              shown while the browser can install the page as an app
//	#settings             the drawer (drawer.html, read by page/settings.js): a field for each of Settings, by its name
//	#record               in the drawer: starts and saves a recording (page/record.js); data-recording of the page's root element says that one is made
//	#text, #send          the field to write in and its button
//	.suggestion           something to say, while nothing has been said
//	#components > li      data-state (a ComponentState), data-stage
//	  .install code       the command that gets a missing part; .copy copies it
//	#pipeline-name        the pipeline's name
//	#microphone, #speaker the choices of devices; #speaker only where there is a choice
//	#reload               in #error when the page has stopped
//	#inspector            what the machines do; data-predicted and data-interrupting ("true", "false")
//	  #predicted, #confirmed  both states in words
//	  #machines > li      data-machine; #steps > li: data-lane ("client", "server"), newest first
//	  #waterfall > li     a share of the last answer's time; #foreseen, #mismatch
//
// The phases are loading, idle, connecting, listening, hearing, thinking,
// speaking, interrupted, reconnecting and error. Esc interrupts, M mutes while no
// field is being written in, Enter sends.
package web
