package docker

import (
	"errors"
	"sync"
	"time"
)

// pool keeps containers that are started and wait to be opened.
//
// Invariant: len of all waiting + starting <= Config.Warm.
type pool struct {
	provider *Provider

	mu       sync.Mutex // guards what follows
	waiting  map[string][]*warm
	starting int
	count    int // of all waiting
	closed   bool
}

type warm struct {
	*instance
	expiry *time.Timer
}

func newPool(p *Provider) *pool { return &pool{provider: p, waiting: map[string][]*warm{}} }

// take returns a container that was born so, or nil.
func (l *pool) take(b birth) *instance {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := b.key()
	list := l.waiting[key]
	for len(list) > 0 {
		w := list[len(list)-1]
		list = list[:len(list)-1]
		l.keep(key, list)
		if w.expiry.Stop() {
			select {
			case <-w.shell.gone: // it died while it waited
				l.provider.remove(w.id)
			default:
				return w.instance
			}
		}
	}
	return nil
}

// keep replaces a list that has lost one; l.mu is held.
func (l *pool) keep(key string, list []*warm) {
	l.count--
	if len(list) == 0 {
		delete(l.waiting, key)
		return
	}
	l.waiting[key] = list
}

// fill starts containers until n of that birth wait, or the pool is full.
func (l *pool) fill(b birth, n int) {
	for l.reserve(b, n) {
		c, err := l.provider.launch(l.provider.ctx, "warm", b)
		l.mu.Lock()
		l.starting--
		if err != nil || l.closed {
			l.mu.Unlock()
			if err == nil {
				c.close()
			}
			return // Open meets the same and tells
		}
		w := &warm{instance: c}
		w.expiry = time.AfterFunc(l.provider.cfg.WarmTime, func() { l.expire(b.key(), w) })
		l.waiting[b.key()] = append(l.waiting[b.key()], w)
		l.count++
		l.mu.Unlock()
	}
}

func (l *pool) reserve(b birth, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting[b.key()]) >= n || l.count+l.starting >= l.provider.cfg.Warm {
		return false
	}
	l.starting++
	return true
}

// expire removes a container that nobody came for.
func (l *pool) expire(key string, w *warm) {
	l.mu.Lock()
	list := l.waiting[key]
	for i, other := range list {
		if other == w {
			l.keep(key, append(list[:i:i], list[i+1:]...))
			l.mu.Unlock()
			w.close()
			return
		}
	}
	l.mu.Unlock()
}

func (l *pool) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	var errs []error
	for _, list := range l.waiting {
		for _, w := range list {
			if w.expiry.Stop() {
				errs = append(errs, w.close())
			}
		}
	}
	l.waiting = nil
	return errors.Join(errs...)
}
