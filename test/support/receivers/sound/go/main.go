// Uses net/http of the standard library.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
)

var (
	secret    = []byte(os.Getenv("WEBHOOK_SECRET"))
	lock      sync.Mutex
	known     = map[string]bool{}
	processed = []string{}
)

func isSigned(body []byte, header string) bool {
	if !strings.HasPrefix(header, "sha256=") {
		return false
	}
	given, err := hex.DecodeString(strings.TrimPrefix(header, "sha256="))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hmac.Equal(mac.Sum(nil), given)
}

func receive(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
		return
	}
	if !isSigned(body, r.Header.Get("X-Service-Signature")) {
		http.Error(w, "invalid signature", http.StatusUnauthorized)
		return
	}
	var payload struct {
		DeliveryID string `json:"delivery_id"`
	}
	if json.Unmarshal(body, &payload) != nil || payload.DeliveryID == "" {
		http.Error(w, "not a delivery", http.StatusBadRequest)
		return
	}
	lock.Lock()
	defer lock.Unlock()
	if !known[payload.DeliveryID] {
		known[payload.DeliveryID] = true
		processed = append(processed, payload.DeliveryID)
	}
	w.WriteHeader(http.StatusNoContent)
}

func show(w http.ResponseWriter, _ *http.Request) {
	lock.Lock()
	defer lock.Unlock()
	_ = json.NewEncoder(w).Encode(processed)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/webhook", receive)
	http.HandleFunc("/processed", show)
	fmt.Printf("listening on http://%s/webhook\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
