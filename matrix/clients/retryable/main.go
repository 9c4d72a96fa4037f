// go-retryablehttp of HashiCorp, with its own backoff, which reads Retry-After.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Random pauses are left to the caller.
func spread(min, max time.Duration, attempt int, answer *http.Response) time.Duration {
	wait := retryablehttp.DefaultBackoff(min, max, attempt, answer)
	return wait + time.Duration(rand.Int63n(int64(wait)/2+1))
}

func newClient(retries int) *retryablehttp.Client {
	client := retryablehttp.NewClient()
	client.RetryMax, client.RetryWaitMin, client.RetryWaitMax = retries, 200*time.Millisecond, 5*time.Second
	client.Backoff, client.Logger = spread, nil
	client.HTTPClient.Timeout = 3 * time.Second
	client.HTTPClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

func send(client *retryablehttp.Client, method, path, body string) error {
	request, err := retryablehttp.NewRequest(method, os.Getenv("UNDERSTUDY_BASE_URL")+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("api-key", "ak_adaOwnerAcme000000000000000000000000000")
	request.Header.Set("content-type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("HTTP %d", answer.StatusCode)
	}
	var value map[string]any
	return json.NewDecoder(answer.Body).Decode(&value)
}

func main() {
	rand.Seed(time.Now().UnixNano())
	reads, writes := newClient(4), newClient(0)
	for _, err := range []error{send(reads, "GET", "/v1/models", ""), send(writes, "POST", "/webhooks", `{"url":"http://127.0.0.1:9/hook","events":["user.created"]}`), send(reads, "GET", "/v1/models", "")} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
