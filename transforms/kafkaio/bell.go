package kafkaio

import "sync"

// bell wakes all who listen. The zero value is ready.
type bell struct {
	mu   sync.Mutex
	next chan struct{} // closed by the next ring; nil while nobody listens
}

// listen returns a channel that the next ring closes. Who waits for something
// listens first and looks afterwards, or may miss it.
func (b *bell) listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
