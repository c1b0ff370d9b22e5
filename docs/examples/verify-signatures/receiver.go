// A receiver of webhooks that believes only what the relay signed. Go 1.18 or newer, no package needed:
//
//	WEBHOOK_SECRET=whsec_… PORT=3000 TLS_CERT=receiver.pem TLS_KEY=receiver.key go run receiver.go
//
// Without TLS_CERT and TLS_KEY it speaks plain HTTP, for a proxy in front that speaks TLS.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var secret = os.Getenv("WEBHOOK_SECRET")

const tolerance = 5 * time.Minute

// webhook-signature: what was signed includes the moment, so that an old request cannot be sent again.
func isSigned(headers http.Header, body []byte) bool {
	id, timestamp := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil {
		return false
	}
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	expected := "v1," + base64.StdEncoding.EncodeToString(digest(key, signed))
	for _, signature := range strings.Split(headers.Get("webhook-signature"), " ") {
		// hmac.Equal takes as long whatever the first difference: how long it took must tell nothing.
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

func digest(key, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return mac.Sum(nil)
}

func receive(response http.ResponseWriter, request *http.Request) {
	// The very bytes that came: parsed and written anew, they would have another signature.
	body, err := io.ReadAll(request.Body)
	if err != nil || !isSigned(request.Header, body) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	// An event can come more than once: remember its webhook-id, and do the work only the first time.
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	handler := http.HandlerFunc(receive)
	if cert := os.Getenv("TLS_CERT"); cert != "" {
		log.Fatal(http.ServeTLS(listener, handler, cert, os.Getenv("TLS_KEY")))
	}
	log.Fatal(http.Serve(listener, handler))
}
