package chaos

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// proxy stands between one role and the broker. It forwards whole requests and
// answers, knows which are writes and commits, and says so before each is
// forwarded, so that a process can be killed at exactly that moment. It puts its
// own address where the broker tells clients where it is.
type proxy struct {
	listener net.Listener
	broker   string
	// passed is called before a request or an answer is forwarded that is a point
	// of the protocol; false drops the connection instead.
	passed func(point string) bool

	mu    sync.Mutex // guards conns
	conns map[net.Conn]struct{}
}

// maxMessage bounds one request or answer.
const maxMessage = 256 << 20

func newProxy(broker string, passed func(point string) bool) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for a role: %w", err)
	}
	p := &proxy{listener: l, broker: broker, passed: passed, conns: map[net.Conn]struct{}{}}
	go p.accept()
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(client)
	}
}

// reset ends all connections without a word.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		abort(c)
	}
}

func (p *proxy) close() {
	p.listener.Close()
	p.reset()
}

// abort closes a connection with a reset.
func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.Close()
}

// dialFor is how long the proxy holds a connection for a broker that is down: in
// its place the broker's own port would refuse, which clients retry at once.
const dialFor = 2 * time.Second

func (p *proxy) dial() (net.Conn, error) {
	for until := time.Now().Add(dialFor); ; time.Sleep(pollEvery) {
		conn, err := net.Dial("tcp", p.broker)
		if err == nil || time.Now().After(until) {
			return conn, err
		}
	}
}

func (p *proxy) serve(client net.Conn) {
	defer abort(client)
	broker, err := p.dial()
	if err != nil {
		return // it is down, and the client hears that
	}
	defer abort(broker)
	p.mu.Lock()
	p.conns[client], p.conns[broker] = struct{}{}, struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.conns, client)
		delete(p.conns, broker)
		p.mu.Unlock()
	}()
	asked := &requests{byID: map[int32]request{}}
	var both sync.WaitGroup
	both.Go(func() {
		defer abort(broker)
		defer abort(client)
		_ = p.forward(client, broker, func(m []byte) ([]byte, error) { return m, p.request(m, asked) })
	})
	both.Go(func() {
		defer abort(broker)
		defer abort(client)
		_ = p.forward(broker, client, func(m []byte) ([]byte, error) { return p.answer(m, asked) })
	})
	both.Wait()
}

// request is what an answer is understood by.
type request struct{ key, version int16 }

type requests struct {
	mu   sync.Mutex // guards byID
	byID map[int32]request
}

// forward copies messages, each through look, until one side ends.
func (p *proxy) forward(from, to net.Conn, look func([]byte) ([]byte, error)) error {
	for {
		var size [4]byte
		if _, err := io.ReadFull(from, size[:]); err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(size[:])
		if n > maxMessage {
			return fmt.Errorf("message of %d bytes", n)
		}
		message := make([]byte, n)
		if _, err := io.ReadFull(from, message); err != nil {
			return err
		}
		message, err := look(message)
		if err != nil {
			return err
		}
		out := binary.BigEndian.AppendUint32(make([]byte, 0, len(message)+4), uint32(len(message)))
		if _, err := to.Write(append(out, message...)); err != nil {
			return err
		}
	}
}

var errDropped = errors.New("dropped")

// The keys of the requests that matter, in the Kafka protocol.
const (
	produceKey         = 0
	metadataKey        = 3
	offsetCommitKey    = 8
	findCoordinatorKey = 10
)

// request notes a request: key, version and id are its first fields.
func (p *proxy) request(m []byte, asked *requests) error {
	if len(m) < 8 {
		return fmt.Errorf("request of %d bytes", len(m))
	}
	r := request{int16(binary.BigEndian.Uint16(m)), int16(binary.BigEndian.Uint16(m[2:]))}
	asked.mu.Lock()
	asked.byID[int32(binary.BigEndian.Uint32(m[4:]))] = r
	asked.mu.Unlock()
	return p.pass(r.key, atProduce, atCommit)
}

func (p *proxy) pass(key int16, produce, commit string) error {
	point := ""
	switch key {
	case produceKey:
		point = produce
	case offsetCommitKey:
		point = commit
	default:
		return nil
	}
	if !p.passed(point) {
		return errDropped
	}
	return nil
}

// answer passes an answer on, with this proxy's address in place of the broker's.
func (p *proxy) answer(m []byte, asked *requests) ([]byte, error) {
	if len(m) < 4 {
		return nil, fmt.Errorf("answer of %d bytes", len(m))
	}
	id := int32(binary.BigEndian.Uint32(m))
	asked.mu.Lock()
	r, known := asked.byID[id]
	delete(asked.byID, id)
	asked.mu.Unlock()
	if !known {
		return nil, fmt.Errorf("answer to request %d, which nobody made", id)
	}
	if err := p.pass(r.key, atProduced, atCommitted); err != nil {
		return nil, err
	}
	if r.key != metadataKey && r.key != findCoordinatorKey {
		return m, nil
	}
	response := kmsg.ResponseForKey(r.key)
	response.SetVersion(r.version)
	head := 4
	if response.IsFlexible() {
		head++ // no tagged fields
	}
	if len(m) < head {
		return nil, fmt.Errorf("answer of %d bytes", len(m))
	}
	if err := response.ReadFrom(m[head:]); err != nil {
		return nil, err
	}
	address := p.listener.Addr().(*net.TCPAddr)
	host, port := address.IP.String(), int32(address.Port)
	switch answer := response.(type) {
	case *kmsg.MetadataResponse:
		for i := range answer.Brokers {
			answer.Brokers[i].Host, answer.Brokers[i].Port = host, port
		}
	case *kmsg.FindCoordinatorResponse:
		answer.Host, answer.Port = host, port
		for i := range answer.Coordinators {
			answer.Coordinators[i].Host, answer.Coordinators[i].Port = host, port
		}
	}
	return response.AppendTo(m[:head:head]), nil
}
