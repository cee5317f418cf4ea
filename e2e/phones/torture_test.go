package phones

import "strings"

// torture returns messages that are wrong or odd in one way each.
func torture() []string {
	well := strings.Join([]string{
		"INVITE sip:agent@127.0.0.1 SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKtorture", "Max-Forwards: 70",
		"From: <sip:a@127.0.0.1>;tag=1", "To: <sip:agent@127.0.0.1>", "Call-ID: torture", "CSeq: 1 INVITE", "Contact: <sip:a@127.0.0.1:9>",
		"Content-Type: application/sdp", "Content-Length: 0", "", "",
	}, "\r\n")
	with := func(old, replacement string) string { return strings.Replace(well, old, replacement, 1) }
	return []string{
		with("Content-Length: 0", "Content-Length: -999"),
		with("Content-Length: 0", "Content-Length: 4294967297"),
		with("Content-Length: 0", "Content-Length: 100"),
		with("CSeq: 1 INVITE", "CSeq: 36893488147419103232 INVITE"),
		with("CSeq: 1 INVITE", "CSeq: 1 BYE"),
		with("CSeq: 1 INVITE\r\n", ""),
		with("From: <sip:a@127.0.0.1>;tag=1\r\n", ""),
		with("To: <sip:agent@127.0.0.1>\r\n", ""),
		with("Call-ID: torture\r\n", ""),
		with("Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKtorture\r\n", ""),
		with("Contact: <sip:a@127.0.0.1:9>\r\n", ""),
		with("Contact: <sip:a@127.0.0.1:9>", "Contact: \"unclosed <sip:a@127.0.0.1:9>"),
		with("Contact: <sip:a@127.0.0.1:9>", "Contact: *"),
		with("Via: SIP/2.0/UDP", "Via: SIP/7.0/UNKNOWN"),
		with("branch=z9hG4bKtorture", "branch="),
		with("127.0.0.1:9;branch", "127.0.0.1:999999;branch"),
		with("INVITE sip:", "INVITE  sip:"),
		with("INVITE sip:agent@127.0.0.1", "INVITE <sip:agent@127.0.0.1>"),
		with("INVITE sip:agent@127.0.0.1", "INVITE nobodyKnowsThisScheme:totallyopaquecontent"),
		with("SIP/2.0\r\n", "SIP/7.0\r\n"),
		with("INVITE sip:agent", "!interesting-Method0123456789_*+`.%indeed'~ sip:agent"),
		with("Max-Forwards: 70", "Max-Forwards: 0"),
		with("Max-Forwards: 70", "Max-Forwards: 300"),
		with("From: <sip:a@127.0.0.1>", "From: \"\\\"\\\\\xff\x00\" <sip:a%00b@127.0.0.1>"),
		with("Call-ID: torture", "Call-ID\t : torture\r\n ;folded"),
		with("To: <sip:agent@127.0.0.1>", "t:\r\n <sip:agent@127.0.0.1>;x=\"y;z\""),
		with("Content-Type: application/sdp", "Content-Type: multipart/mixed;boundary=7a9cbec02ceef655"),
		with("Contact: <sip:a@127.0.0.1:9>", "Contact: <sip:a@127.0.0.1:9>\r\nRequire: nothingSupportsThis, nothingSupportsThisEither"),
		with("Contact: <sip:a@127.0.0.1:9>", "Contact: <sip:a@127.0.0.1:9>\r\nX: "+strings.Repeat("x", 40<<10)),
		with("Contact: <sip:a@127.0.0.1:9>", "Contact: <sip:a@127.0.0.1:9>"+strings.Repeat("\r\nVia: SIP/2.0/UDP 127.0.0.1:9", 1000)),
		"SIP/2.0 4294967301 better not break the receiver\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=1\r\nCSeq: 1 INVITE\r\n\r\n",
		"SIP/2.0 200 OK\r\n\r\n", "\r\n\r\n", "\x00\x00\x00\x00", "INVITE", " ", strings.Repeat("A", 60000),
	}
}
