package main

// This file makes the TLS configuration of the server, with a certificate from a file or a self-signed one.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"
)

// selfSignedFor is how long a self-signed certificate is valid. The server makes a new one at each start.
const selfSignedFor = 90 * 24 * time.Hour

// tlsConfig returns the TLS configuration that the flags ask for, and nil where they ask for none.
func (c *serve) tlsConfig() (*tls.Config, error) {
	var cert tls.Certificate
	var err error
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return nil, errors.New("--tls-cert and --tls-key go together")
	case c.TLSSelfSigned && c.TLSCert != "":
		return nil, errors.New("--tls-self-signed makes a certificate of its own: leave --tls-cert and --tls-key out")
	case c.TLSSelfSigned:
		cert, err = selfSigned(certifiedNames(c.Listen), time.Now())
	case c.TLSCert != "":
		if cert, err = tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
			err = fmt.Errorf("--tls-cert %s, --tls-key %s: %w", c.TLSCert, c.TLSKey, err)
		}
	default:
		return nil, nil //nolint:nilnil // said above
	}
	if err != nil {
		return nil, err
	}
	// WebSockets need HTTP/1.1: a browser opens an HTTP/1.1 connection for them, in addition to its HTTP/2 connection.
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// certifiedNames returns the host names and addresses that a certificate for the address listen must contain.
func certifiedNames(listen string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	host, _, _ := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	switch {
	case host != "" && (ip == nil || !ip.IsUnspecified()):
		return append(names, host)
	case ip == nil || ip.IsUnspecified():
		if name, err := os.Hostname(); err == nil {
			names = append(names, name)
		}
		addresses, _ := net.InterfaceAddrs() // on an error the certificate contains fewer addresses
		for _, a := range addresses {
			if n, is := a.(*net.IPNet); is && !n.IP.IsLoopback() {
				names = append(names, n.IP.String())
			}
		}
	}
	return names
}

// selfSigned makes a self-signed certificate for these host names and addresses. It is kept in memory only.
func selfSigned(names []string, now time.Time) (tls.Certificate, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--tls-self-signed: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--tls-self-signed: %w", err)
	}
	about := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Antiphon, self-signed"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(selfSignedFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			about.IPAddresses = append(about.IPAddresses, ip)
		} else {
			about.DNSNames = append(about.DNSNames, name)
		}
	}
	text, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--tls-self-signed: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: private}, nil
}

// fingerprint returns the SHA-256 of the certificate in the form that browsers and openssl show.
func fingerprint(cert tls.Certificate) string {
	sum := sha256.Sum256(cert.Certificate[0])
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}
