package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// caller calls one server.
type caller struct {
	client *http.Client
	base   string
	key    string
}

// newClient does not follow redirects: the prompt would go where nobody sent it.
func newClient(inFlight int) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = inFlight
	transport.MaxIdleConns = 0
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// statusError is an answer that is not 2xx.
type statusError struct {
	code       int
	retryAfter time.Duration
	message    string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("answered %d %s: %s", e.code, http.StatusText(e.code), e.message)
}

// unreachableError is a call without a whole answer: the server may be gone, or
// another by now.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// answerBytes bounds the answers of every call but completions.
const answerBytes = 1 << 20

// messageBytes bounds what an error repeats of an answer.
const messageBytes = 400

// call sends in as JSON (nothing if nil) and returns the body of a 2xx answer of at
// most limit bytes. Errors name server and path: *statusError, *unreachableError or
// another, which is not worth a second try.
func (c *caller) call(ctx context.Context, method, path string, header http.Header, in any, limit int64) ([]byte, error) {
	body, err := c.exchange(ctx, method, path, header, in, limit)
	if err != nil {
		return nil, fmt.Errorf("policy server %s: %s %s: %w", c.base, method, path, err)
	}
	return body, nil
}

func (c *caller) exchange(ctx context.Context, method, path string, header http.Header, in any, limit int64) ([]byte, error) {
	var payload io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("writing the request: %w", err)
		}
		payload = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		request.Header[k] = v
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, &unreachableError{unwrapURL(err)}
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(response.Body, messageBytes)) // as much of the reason as there is
		return nil, &statusError{
			code: response.StatusCode, retryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now()), message: c.quote(text),
		}
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		return nil, &unreachableError{fmt.Errorf("reading the answer: %w", err)}
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("the answer is longer than %d bytes", limit)
	}
	return text, nil
}

// quote makes one line of a server's message. A server may repeat the headers it
// was sent.
func (c *caller) quote(text []byte) string {
	line := strings.Join(strings.Fields(string(text)), " ")
	if c.key != "" {
		line = strings.ReplaceAll(line, c.key, "[API key]")
	}
	return strings.ToValidUTF8(line, "?")
}

// unwrapURL takes off the method and URL that net/http puts before its errors:
// call names them.
func unwrapURL(err error) error {
	if inner := errors.Unwrap(err); inner != nil && strings.HasSuffix(err.Error(), inner.Error()) {
		return inner
	}
	return err
}

// retryAfter reads the header of RFC 9110, section 10.2.3: seconds or a date. What
// is neither counts as none.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// get calls and reads JSON into out.
func (c *caller) get(ctx context.Context, path string, out any) error {
	return c.json(ctx, http.MethodGet, path, nil, out)
}

// post calls with JSON, and reads JSON into out unless it is nil.
func (c *caller) post(ctx context.Context, path string, in, out any) error {
	return c.json(ctx, http.MethodPost, path, in, out)
}

func (c *caller) json(ctx context.Context, method, path string, in, out any) error {
	body, err := c.call(ctx, method, path, nil, in, answerBytes)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("policy server %s: %s %s: reading the answer: %w", c.base, method, path, err)
	}
	return nil
}

// missing tells whether a server has no such route, or not by this method.
func missing(err error) bool {
	var status *statusError
	return errors.As(err, &status) && (status.code == http.StatusNotFound || status.code == http.StatusMethodNotAllowed)
}
