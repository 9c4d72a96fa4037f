package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"time"
)

var client = &http.Client{Timeout: 3 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func send(method, path string, body []byte) error {
	for retry := 0; ; retry++ {
		last := retry == 4 || method != "GET"
		wait := time.Duration(200*math.Pow(2, float64(retry))*(0.5+rand.Float64())) * time.Millisecond
		request, _ := http.NewRequest(method, os.Getenv("UNDERSTUDY_BASE_URL")+path, bytes.NewReader(body))
		request.Header.Set("api-key", "ak_adaOwnerAcme000000000000000000000000000")
		request.Header.Set("content-type", "application/json")
		answer, err := client.Do(request)
		if err == nil {
			var text []byte
			text, err = io.ReadAll(answer.Body)
			answer.Body.Close()
			if err == nil && answer.StatusCode < 300 {
				var value map[string]any
				return json.Unmarshal(text, &value)
			}
			if err == nil && (last || (answer.StatusCode != 429 && answer.StatusCode < 500)) {
				return fmt.Errorf("HTTP %d", answer.StatusCode)
			}
			if seconds, parsed := strconv.Atoi(answer.Header.Get("Retry-After")); parsed == nil {
				wait = max(wait, time.Duration(seconds)*time.Second)
			}
		}
		if err != nil && last {
			return errors.New("no answer: " + err.Error())
		}
		time.Sleep(wait)
	}
}

func max(a, b time.Duration) time.Duration {
	if a > b {
		return a
	}
	return b
}

func main() {
	rand.Seed(time.Now().UnixNano())
	for _, err := range []error{send("GET", "/v1/models", nil), send("POST", "/webhooks", []byte(`{"url":"http://127.0.0.1:9/hook","events":["user.created"]}`)), send("GET", "/v1/models", nil)} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
