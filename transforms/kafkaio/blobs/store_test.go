package blobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace/transforms/kafkaio"
)

const name = "run.samples/0123"

// place is a store, and the ways in which it can be gone.
type place struct {
	url  string
	gone func() // the whole store, not a blob
}

func places(t *testing.T) map[string]place {
	dir := filepath.Join(t.TempDir(), "new", "blobs")
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	s3 := func(status int, code string) place {
		f := &fakeS3{objects: map[string][]byte{}}
		server := httptest.NewServer(f)
		t.Cleanup(server.Close)
		return place{"s3://bucket?region=eu-west-1&use_path_style=true&endpoint=" + server.URL, func() { f.say(status, code) }}
	}
	return map[string]place{
		"file": {"file://" + filepath.ToSlash(dir), func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}},
		"s3 without its bucket": s3(http.StatusNotFound, "NoSuchBucket"),
		"s3 that is down":       s3(http.StatusServiceUnavailable, "ServiceUnavailable"),
	}
}

// TestStore: what is put is got, by another process too; what is lost is told
// from a store that is away.
func TestStore(t *testing.T) {
	for kind, p := range places(t) {
		t.Run(kind, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, p.url)
			for _, data := range [][]byte{[]byte("first"), bytes.Repeat([]byte("second"), 1<<18)} { // the second replaces the first
				if err := s.Put(ctx, name, data); err != nil {
					t.Fatal(err)
				}
				got, err := open(t, p.url).Get(ctx, name, int64(len(data)))
				if err != nil || !bytes.Equal(got, data) {
					t.Fatalf("%d bytes came back, %v", len(got), err)
				}
			}
			if _, err := s.Get(ctx, name, 5); !errors.Is(err, kafkaio.ErrBlobWrong) {
				t.Errorf("another length: %v", err)
			}
			if _, err := s.Get(ctx, "run.samples/none", 5); !errors.Is(err, kafkaio.ErrBlobMissing) {
				t.Errorf("a blob that was never put: %v", err)
			}
			p.gone()
			_, err := s.Get(ctx, name, 5)
			if err == nil || errors.Is(err, kafkaio.ErrBlobMissing) || errors.Is(err, kafkaio.ErrBlobWrong) {
				t.Errorf("a store that is away: %v", err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the secret is shown: %v", err)
			}
		})
	}
}

func open(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestPutThatIsCutOff: a blob appears whole or not at all.
func TestPutThatIsCutOff(t *testing.T) {
	dir := t.TempDir()
	s := open(t, "file://"+filepath.ToSlash(dir))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, name, []byte("value")); err == nil {
		t.Fatal("no error")
	}
	if _, err := s.Get(t.Context(), name, 5); !errors.Is(err, kafkaio.ErrBlobMissing) {
		t.Errorf("a blob that was not finished: %v", err)
	}
}

func TestStoresThatAreRefused(t *testing.T) {
	s3 := &fakeS3{}
	server := httptest.NewServer(s3)
	defer server.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
	s3.say(http.StatusForbidden, "AccessDenied")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"s3://bucket?region=eu-west-1&use_path_style=true&endpoint=" + server.URL: "AccessDenied",
		"s3://bucket?no_such_option=1":                                            "no_such_option",
		"file://" + filepath.ToSlash(file):                                        "not a directory",
	} {
		_, err := Open(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

// fakeS3 is one bucket that speaks the little of S3's protocol that a Store
// needs.
type fakeS3 struct {
	mu      sync.Mutex
	objects map[string][]byte
	status  int // of every answer, if not 0
	code    string
}

// say makes every answer an error.
func (f *fakeS3) say(status int, code string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.code = status, code
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	refuse := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		io.WriteString(w, "<Error><Code>"+code+"</Code><Message>no</Message></Error>")
	}
	object, inBucket := strings.CutPrefix(r.URL.Path, "/bucket/")
	switch {
	case f.status != 0:
		refuse(f.status, f.code)
	case r.Method == http.MethodGet && (!inBucket || object == ""):
		w.Header().Set("Content-Type", "application/xml")
		io.WriteString(w, "<ListBucketResult><Name>bucket</Name></ListBucketResult>")
	case r.Method == http.MethodPut:
		data, err := io.ReadAll(r.Body)
		if err != nil {
			refuse(http.StatusBadRequest, "IncompleteBody")
			return
		}
		f.objects[object] = plain(data, r)
	case f.objects[object] == nil:
		refuse(http.StatusNotFound, "NoSuchKey")
	default:
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(f.objects[object]))
	}
}

// plain undoes the chunks that S3's clients wrap a body in to sign it: each is a
// line with its length in hex, its bytes, and an empty line.
func plain(body []byte, r *http.Request) []byte {
	if !strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		return body
	}
	var data []byte
	for {
		head, rest, _ := bytes.Cut(body, []byte("\r\n"))
		length, _, _ := strings.Cut(string(head), ";")
		n, err := strconv.ParseInt(length, 16, 64)
		if err != nil || n == 0 || int(n) > len(rest) {
			return data
		}
		data, body = append(data, rest[:n]...), bytes.TrimPrefix(rest[n:], []byte("\r\n"))
	}
}
