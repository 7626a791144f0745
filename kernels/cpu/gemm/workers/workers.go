// Package workers shares the iterations of a loop with goroutines that stay
// ready between loops, so that a loop of some ten microseconds is worth sharing.
//
// Any number of goroutines may run loops at once. Each works on its own loop,
// and the workers join whichever has iterations left: a loop never waits for a
// worker to become free, and loses nothing but speed when the processor is busy
// elsewhere. A worker that finds nothing to join looks out for a while, then
// sleeps.
package workers

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// lookout is how long a worker that has run out of iterations stays awake. It
// covers the gap between the matrix products of a decode step; going to sleep
// and being woken costs several microseconds each.
const lookout = 50 * time.Microsecond

// loop is one call of Run.
type loop struct {
	f func(worker, i int)
	n int64
	// next is the first iteration that nobody has claimed.
	next atomic.Int64
	// inside is the number of workers that may still use this loop. It is
	// incremented under pool.mu while the loop is in pool.queue, and so cannot
	// rise once the loop has been taken out.
	inside atomic.Int64
	// left gets a token when inside falls to zero. A token may also be left over
	// from an earlier call, so it means only: look at inside again.
	left chan struct{}
}

var loops = sync.Pool{New: func() any { return &loop{left: make(chan struct{}, 1)} }}

var pool struct {
	// threads includes the goroutine that calls Run. Written under mu.
	threads atomic.Int64
	// open is the number of loops with iterations that nobody has claimed.
	open atomic.Int64

	mu sync.Mutex
	// queue holds the loops whose Run is not about to return, the oldest first.
	queue []*loop
	// alive[id] tells that worker id exists; id 0 is not used.
	alive []bool
	// asleep is the number of workers waiting on wake.
	asleep int
	wake   sync.Cond
}

func init() {
	pool.wake.L = &pool.mu
	SetThreads(runtime.GOMAXPROCS(0))
}

// SetThreads sets the largest number of goroutines that work on one loop, the
// caller of Run included. It starts as GOMAXPROCS. With 1, Run is a plain loop
// and the workers end.
func SetThreads(n int) {
	if n < 1 {
		panic("workers: fewer than one thread")
	}
	pool.mu.Lock()
	defer pool.mu.Unlock()
	pool.threads.Store(int64(n))
	if len(pool.alive) < n {
		pool.alive = append(pool.alive, make([]bool, n-len(pool.alive))...)
	}
	for id := 1; id < n; id++ {
		if !pool.alive[id] {
			pool.alive[id] = true
			go work(id)
		}
	}
	pool.wake.Broadcast()
}

// Threads is the number of goroutines that may work on one loop.
func Threads() int { return int(pool.threads.Load()) }

// Run calls f(worker, i) once for each 0 <= i < n, some of the calls
// concurrently, and returns when all have returned. i ascends within a worker.
// Calls at the same time within one Run have different workers, the caller's
// being 0 and all below the number of threads (the largest one, if SetThreads
// changes it meanwhile); which worker gets which i is left to chance.
//
// f may call Run. It is safe for concurrent use.
func Run(n int, f func(worker, i int)) {
	if n <= 1 || Threads() == 1 {
		for i := range n {
			f(0, i)
		}
		return
	}
	l := loops.Get().(*loop)
	l.f, l.n = f, int64(n)
	l.next.Store(0)
	post(l)
	l.claim(0)
	withdraw(l)
	// The workers inside are at their last iteration. It takes about as long as
	// the caller's own last did, so look a few times before sleeping.
	for range 200 {
		if l.inside.Load() == 0 {
			break
		}
		runtime.Gosched()
	}
	for l.inside.Load() != 0 {
		<-l.left
	}
	l.f = nil
	loops.Put(l)
}

// claim runs iterations until none is left.
func (l *loop) claim(worker int) {
	for {
		i := l.next.Add(1) - 1
		if i >= l.n {
			return
		}
		if i == l.n-1 {
			pool.open.Add(-1)
		}
		l.f(worker, int(i))
	}
}

// post lets workers join l.
func post(l *loop) {
	pool.mu.Lock()
	pool.queue = append(pool.queue, l)
	pool.open.Add(1)
	asleep := pool.asleep
	pool.mu.Unlock()
	for range min(asleep, int(l.n)-1) {
		pool.wake.Signal()
	}
}

// withdraw takes l out of the queue: afterwards no worker joins it.
func withdraw(l *loop) {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	i := slices.Index(pool.queue, l)
	pool.queue = slices.Delete(pool.queue, i, i+1)
}

// work is the life of a worker.
func work(id int) {
	for {
		l := join(id)
		if l == nil {
			return
		}
		l.claim(id)
		if l.inside.Add(-1) == 0 {
			select {
			case l.left <- struct{}{}:
			default:
			}
		}
	}
}

// join waits for a loop with iterations left and enters it. It returns nil when
// worker id is to end.
func join(id int) *loop {
	for start := time.Now(); pool.open.Load() == 0 && time.Since(start) < lookout; {
		runtime.Gosched()
	}
	pool.mu.Lock()
	defer pool.mu.Unlock()
	for {
		if id >= Threads() {
			pool.alive[id] = false
			return nil
		}
		for _, l := range pool.queue {
			if l.next.Load() < l.n {
				l.inside.Add(1)
				return l
			}
		}
		pool.asleep++
		pool.wake.Wait()
		pool.asleep--
	}
}
