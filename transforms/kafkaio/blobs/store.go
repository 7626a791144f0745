// Package blobs keeps the values that are too large for a topic in a directory,
// in S3 or in Google Cloud Storage. It is the [kafkaio.BlobStore] of a program; a
// program that needs none links none of their clients.
package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"millrace/transforms/kafkaio"
)

// openTimeout bounds the first words with a store.
const openTimeout = 30 * time.Second

// Store is a bucket. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
	// place is the URL without its query, for messages.
	place string
	// file says that blobs are files, which have to be synced to be durable.
	file bool
}

// Open opens the store at a place that [kafkaio.ValidBlobs] accepts, and looks
// whether it is there. Credentials are those of the machine: AWS's and Google's
// usual environment variables, files and services. The user must be allowed to
// list, read and write.
//
// A directory is made if it is not there.
func Open(ctx context.Context, place string) (*Store, error) {
	u, err := url.Parse(place)
	if err != nil {
		return nil, errors.New("opening a blob store: its place is not a URL")
	}
	s := &Store{place: (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), file: u.Scheme == "file"}
	query := u.Query()
	switch u.Scheme {
	case "file":
		query.Set("create_dir", "true")
		query.Set("no_tmp_dir", "true") // a rename must stay on one file system
		query.Set("metadata", "skip")
	case "s3":
		query.Set("response_checksum_validation", "when_required") // the hash of a blob is checked anyway
	}
	u.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if s.bucket, err = blob.OpenBucket(ctx, u.String()); err != nil {
		return nil, fmt.Errorf("opening blob store %s: %s", s.place, oneLine(err))
	}
	if err := s.reachable(ctx); err != nil {
		_ = s.bucket.Close()
		return nil, err
	}
	return s, nil
}

// Close gives back what the store holds; nothing is under way any more.
func (s *Store) Close() error { return s.bucket.Close() }

// Put implements [kafkaio.BlobStore].
func (s *Store) Put(ctx context.Context, name string, data []byte) error {
	// A writer whose context has ended leaves the blob as it was.
	ctx, abort := context.WithCancel(ctx)
	defer abort()
	var file *os.File
	w, err := s.bucket.NewWriter(ctx, name, &blob.WriterOptions{
		ContentType: "application/octet-stream",
		BeforeWrite: func(as func(any) bool) error {
			as(&file)
			return nil
		},
	})
	if err != nil {
		return s.failed(ctx, "writing to", err)
	}
	if _, err = w.Write(data); err == nil && file != nil {
		err = file.Sync()
	}
	if err != nil {
		abort()
		_ = w.Close()
		return s.failed(ctx, "writing to", err)
	}
	if err := w.Close(); err != nil {
		return s.failed(ctx, "writing to", err)
	}
	if file == nil {
		return nil
	}
	// The name is in its directory, and that, which may be new, in the store's.
	directory := filepath.Dir(file.Name())
	for _, d := range []string{directory, filepath.Dir(directory)} {
		if err := syncDirectory(d); err != nil {
			return s.failed(ctx, "writing to", err)
		}
	}
	return nil
}

func syncDirectory(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Get implements [kafkaio.BlobStore].
func (s *Store) Get(ctx context.Context, name string, size int64) ([]byte, error) {
	r, err := s.bucket.NewReader(ctx, name, nil)
	if err != nil {
		return nil, s.failed(ctx, "reading from", err)
	}
	defer r.Close()
	if r.Size() != size {
		return nil, fmt.Errorf("it has %d bytes in %s, and %d were written: %w", r.Size(), s.place, size, kafkaio.ErrBlobWrong)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, s.failed(ctx, "reading from", err)
	}
	return data, nil
}

// failed says whose fault an error is: a blob that is not there is missing only
// while the rest of the store is.
func (s *Store) failed(ctx context.Context, doing string, err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		if gone := s.reachable(ctx); gone != nil {
			return gone
		}
		return fmt.Errorf("%s has none of that name: %w", s.place, kafkaio.ErrBlobMissing)
	case gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.Unimplemented:
		return fmt.Errorf("%w: %s %s: %s", kafkaio.ErrBlobRefused, doing, s.place, oneLine(err))
	}
	return fmt.Errorf("%s %s: %s", doing, s.place, oneLine(err))
}

// reachable looks whether the store is there. A directory is looked at by itself,
// since listing it walks through all of it.
func (s *Store) reachable(ctx context.Context) error {
	if s.file {
		var info os.FileInfo
		if !s.bucket.As(&info) {
			return fmt.Errorf("blob store %s is not there", s.place)
		}
		return nil
	}
	there, err := s.bucket.IsAccessible(ctx)
	if err == nil && there {
		return nil
	}
	if err == nil {
		return fmt.Errorf("blob store %s is not there", s.place)
	}
	if gcerrors.Code(err) == gcerrors.PermissionDenied {
		return fmt.Errorf("%w: listing %s: %s", kafkaio.ErrBlobRefused, s.place, oneLine(err))
	}
	return fmt.Errorf("listing blob store %s: %s", s.place, oneLine(err))
}

// oneLine is the text of a cloud's error, some of which have many lines.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
