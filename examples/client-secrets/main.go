// Command client-secrets serves a page that calls an Antiphon server with API keys. Only this program has the key. Before each call the
// page asks it for a client secret, which only a user who has logged in gets.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // index.html
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

//go:embed index.html
var html string

// app is the page's own server. voice is the Antiphon server's address, key an API key of it, and seal signs the cookies.
type app struct{ voice, key, seal string }

func main() {
	address := flag.String("listen", "127.0.0.1:8000", "where to listen")
	voice := flag.String("voice", "http://localhost:8080", "the Antiphon server's address")
	flag.Parse()
	a := app{voice: *voice, key: os.Getenv("ANTIPHON_API_KEY"), seal: rand.Text()}
	page := template.Must(template.New("").Parse(html))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		_ = page.Execute(w, map[string]string{"Voice": a.voice, "User": a.user(r)}) // fails when the browser is gone
	})
	mux.HandleFunc("POST /login", a.login)
	mux.HandleFunc("POST /secret", a.secret)
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.NewCrossOriginProtection().Handler(mux))) // no page of another origin gets a secret
}

// login believes every name. A real application asks for more than a name.
func (a app) login(w http.ResponseWriter, r *http.Request) {
	name := base64.RawURLEncoding.EncodeToString([]byte(r.FormValue("name")))
	http.SetCookie(w, &http.Cookie{Name: "user", Value: name + "." + a.sign(name), HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a app) sign(name string) string {
	mac := hmac.New(sha256.New, []byte(a.seal))
	mac.Write([]byte(name))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// user returns the name of the user who has logged in, or "".
func (a app) user(r *http.Request) string {
	cookie, err := r.Cookie("user")
	if err != nil {
		return ""
	}
	name, signature, _ := strings.Cut(cookie.Value, ".")
	if !hmac.Equal([]byte(signature), []byte(a.sign(name))) {
		return ""
	}
	text, _ := base64.RawURLEncoding.DecodeString(name) // login has encoded it
	return string(text)
}

// secret gives the page a client secret for the user's next call.
func (a app) secret(w http.ResponseWriter, r *http.Request) {
	user := a.user(r)
	if user == "" {
		http.Error(w, "log in first", http.StatusUnauthorized)
		return
	}
	value, err := a.newSecret(r.Context(), fmt.Sprintf("Be brief. The user's name is %q.", user))
	if err != nil {
		log.Print(err)
		http.Error(w, "the voice server gave no client secret", http.StatusBadGateway)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprint(w, value)
}

// newSecret asks the Antiphon server for a client secret for sessions with these instructions.
func (a app) newSecret(ctx context.Context, instructions string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	session, err := json.Marshal(map[string]any{"session": map[string]string{"type": "realtime", "instructions": instructions}})
	if err != nil {
		return "", err
	}
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, a.voice+"/v1/realtime/client_secrets", strings.NewReader(string(session)))
	if err != nil {
		return "", err
	}
	ask.Header.Set("Authorization", "Bearer "+a.key)
	ask.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the voice server refused a client secret (%s): check ANTIPHON_API_KEY", answer.Status)
	}
	var made struct{ Value string }
	err = json.NewDecoder(answer.Body).Decode(&made)
	return made.Value, err
}
