// Package reach holds calls through networks that stand in the way: NAT, firewalls, and addresses that change in mid-call. Its tests run
// in network namespaces of their own, so that they change nothing on the machine: the test program starts itself again in them, as the
// server and as the client. It needs no root where user namespaces are allowed.
package reach
