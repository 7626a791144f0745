package remote

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"millrace/kernels/tokenizer"
)

// The dialects. OpenAI is /v1/completions with vLLM's extra fields; SGLang is its
// own /generate; Chat is /v1/chat/completions.
const (
	Detect = ""
	OpenAI = "openai"
	SGLang = "sglang"
	Chat   = "chat"
)

// Config are the settings of a Policy. It holds no secret.
type Config struct {
	// Endpoints are base URLs, "http://host:8000", one for each server.
	Endpoints []string
	// Dialect is OpenAI, SGLang or Chat; Detect asks each server. Chat is never
	// detected.
	Dialect string
	// Model is the name the server has for the policy; empty takes the only one it
	// serves.
	Model string
	// Run names the weights on a server together with their version, so that those
	// of two runs are told apart.
	Run string
	// APIKeyEnv and APIKeyFile name where the API key is; both empty sends none.
	APIKeyEnv, APIKeyFile string

	// InFlight bounds the requests to one endpoint at a time.
	InFlight int
	// RequestTime is the deadline of one request for a completion, from the moment
	// it has a place. A hand-over waits no longer for it.
	RequestTime time.Duration
	// HandOverTime is the deadline of one endpoint's change of weights, the wait for
	// its requests included.
	HandOverTime time.Duration
	// HealthEvery is the time between two health checks of an endpoint, HealthTime
	// the deadline of one. SGLang's check generates a token, and takes a second at
	// least (its http_server.py, health_generate).
	HealthEvery, HealthTime time.Duration
	// Patience is how long a session waits while no endpoint is of use.
	Patience time.Duration
	// Attempts is how often a request is tried; FirstDelay and LongestDelay bound
	// the pauses between.
	Attempts                 int
	FirstDelay, LongestDelay time.Duration

	// Vocabulary is the number of token ids of the policy; 0 is not known.
	Vocabulary int
	// AsServed leaves the servers the weights they have, as version 0: nothing is
	// published to them.
	AsServed bool
	// Evaluation is AsServed, and allows completions that cannot be trained on.
	Evaluation bool
	// Tokenizer is the policy's own; needed in Evaluation.
	Tokenizer *tokenizer.Tokenizer
}

// fixed tells whether the servers' weights are version 0 for ever.
func (c Config) fixed() bool { return c.AsServed || c.Evaluation }

// Default returns the settings for servers of a few GPUs each.
func Default() Config {
	return Config{
		InFlight:    256, // vLLM's max_num_seqs in DeepSWE's training
		RequestTime: 10 * time.Minute, HandOverTime: 20 * time.Minute,
		HealthEvery: 5 * time.Second, HealthTime: 25 * time.Second, Patience: 2 * time.Minute,
		Attempts: 8, FirstDelay: 250 * time.Millisecond, LongestDelay: 30 * time.Second,
	}
}

// Validate reports everything that is wrong with the settings.
func (c Config) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(c.Endpoints) == 0 {
		refuse("endpoints is empty: name at least one server")
	}
	seen := map[string]int{}
	for i, e := range c.Endpoints {
		base, err := baseURL(e)
		if err != nil {
			refuse("endpoints[%d]: %w", i, err)
			continue
		}
		if first, twice := seen[base]; twice {
			refuse("endpoints[%d] is endpoints[%d] again", i, first)
		}
		seen[base] = i
	}
	switch {
	case !slices.Contains([]string{Detect, OpenAI, SGLang, Chat}, c.Dialect):
		refuse("dialect is %q: want %s, %s, %s, or empty to ask the servers", c.Dialect, OpenAI, SGLang, Chat)
	case c.Dialect == Chat && !c.Evaluation:
		refuse("dialect is %s: it tells neither what the policy saw nor what it sampled, so it serves evaluation alone", Chat)
	}
	if c.APIKeyEnv != "" && c.APIKeyFile != "" {
		refuse("api_key_env and api_key_file are both given: choose one")
	}
	if c.InFlight < 1 || c.Attempts < 1 {
		refuse("in_flight is %d and attempts %d: both must be at least 1", c.InFlight, c.Attempts)
	}
	for _, d := range []time.Duration{c.RequestTime, c.HandOverTime, c.HealthEvery, c.HealthTime, c.Patience, c.FirstDelay} {
		if d <= 0 {
			refuse("request time %v, hand-over time %v, health every %v within %v, patience %v and first delay %v must be positive",
				c.RequestTime, c.HandOverTime, c.HealthEvery, c.HealthTime, c.Patience, c.FirstDelay)
			break
		}
	}
	if c.LongestDelay < c.FirstDelay {
		refuse("longest delay %v is shorter than the first %v", c.LongestDelay, c.FirstDelay)
	}
	if c.HandOverTime <= c.RequestTime {
		refuse("hand-over time is %v: a hand-over waits for requests, so it must be longer than their %v", c.HandOverTime, c.RequestTime)
	}
	return errors.Join(errs...)
}

// baseURL checks an endpoint and returns it without a final "/" or "/v1". Errors do
// not repeat a URL that may hold a password.
func baseURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return "", errors.New("is not a URL")
	case u.User != nil:
		return "", errors.New("holds a user or password: name the key by api_key_env or api_key_file")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("%q: want http://host:port or https://host:port", endpoint)
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("holds a query or fragment")
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// apiKey reads the key that the settings name; "" without one.
func (c Config) apiKey() (string, error) {
	var key, from string
	switch {
	case c.APIKeyEnv != "":
		key, from = os.Getenv(c.APIKeyEnv), "environment variable "+c.APIKeyEnv
	case c.APIKeyFile != "":
		text, err := os.ReadFile(c.APIKeyFile)
		if err != nil {
			return "", fmt.Errorf("reading the API key: %w", err)
		}
		key, from = string(text), "file "+c.APIKeyFile
	default:
		return "", nil
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return "", fmt.Errorf("the API key in %s is empty", from)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("the API key in %s holds characters that a header cannot", from)
	}
	return key, nil
}
