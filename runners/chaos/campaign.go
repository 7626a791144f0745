package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"millrace/transforms/kafkaio"
)

// campaign is one run of all roles.
type campaign struct {
	Config
	settings  settings
	broker    string // its own address
	proxies   map[string]*proxy
	processes map[string]*process
	started   time.Time

	mu    sync.Mutex // guards the fields below
	armed *armed
	// recoveries are how long the learner took from a kill to its next step.
	recoveries []recovery
	ended      []func() // of faults that last: what ends them
	torn       []error  // what could not be torn
}

// armed is a fault that waits for a passage of the protocol.
type armed struct {
	passage
	left   int
	victim *process
}

// Run runs a campaign and the same run without faults, and audits both. The error
// is one of the harness; what the campaign found is in the result.
func Run(ctx context.Context, c Config) (Result, error) {
	if err := c.validate(); err != nil {
		return Result{}, err
	}
	disturbed, err := runCampaign(ctx, c, filepath.Join(c.Dir, "disturbed"), 0)
	if err != nil {
		return disturbed, err
	}
	calm := c
	calm.Kills, calm.Brokers, calm.Out = 0, "", io.Discard
	fmt.Fprintf(c.Out, "%d steps; now the same without faults\n", len(disturbed.digests))
	undisturbed, err := runCampaign(ctx, calm, filepath.Join(c.Dir, "undisturbed"), int64(len(disturbed.digests)))
	if err != nil {
		return disturbed, fmt.Errorf("without faults: %w", err)
	}
	disturbed.compare(undisturbed)
	return disturbed, nil
}

// runCampaign runs all roles, injects the faults of the schedule, lets the run take
// its steps (those that the faults lasted for where steps is 0), and audits. The
// last kill is at the last step, which only the campaign itself knows.
func runCampaign(ctx context.Context, config Config, dir string, steps int64) (result Result, err error) {
	config.Dir = dir
	c := &campaign{Config: config, proxies: map[string]*proxy{}, processes: map[string]*process{}, started: time.Now()}
	defer c.close()
	if err := c.open(ctx, steps); err != nil {
		return result, err
	}
	if _, err := c.awaitStep(ctx, 1); err != nil {
		return result, err
	}
	at := c.step()
	for i, f := range schedule(c.Seed, c.Kills-1, c.Brokers == "", c.Only) {
		if err := c.inject(ctx, &at, f); err != nil {
			return result, fmt.Errorf("fault %d (%s): %w", i+1, f, err)
		}
		if f.kills() {
			result.Kills++
		}
		if c.Only != "" {
			at = c.step()
		}
	}
	c.endFaults()
	if steps == 0 {
		steps = c.step() + 3
		if err := replaceFile(filepath.Join(c.Dir, targetFile), fmt.Sprint(steps)); err != nil {
			return result, err
		}
	}
	if _, err := c.awaitStep(ctx, steps); err != nil {
		return result, err
	}
	if c.Kills > 0 {
		// The learner has committed its last step and told nobody yet.
		fmt.Fprintf(c.Out, "%7.1f s  step %3d  the last one: kill all\n", time.Since(c.started).Seconds(), c.step())
		if err := c.dieAll(ctx); err != nil {
			return result, err
		}
		result.Kills++
	}
	if err := c.audit(ctx, &result); err != nil {
		return result, err
	}
	result.Recoveries = c.recovered()
	for _, role := range roles {
		if p := c.processes[role]; p != nil {
			if n, last := p.failures(); n > 0 {
				result.Exits = append(result.Exits, fmt.Sprintf("%s ended by itself and was started again %d times, the last time with: %s", role, n, last))
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return result, errors.Join(c.torn...)
}

// open starts all roles.
func (c *campaign) open(ctx context.Context, steps int64) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.Dir, settingsFile)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s holds a campaign: choose another directory", c.Dir)
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	if c.broker = c.Brokers; c.broker == "" {
		c.broker = fmt.Sprintf("127.0.0.1:%d", port)
	}
	c.settings = settings{Seed: c.Seed, Port: port, Brokers: map[string]string{}}
	for _, role := range roles[1:] {
		p, err := newProxy(c.broker, func(point string) bool { return c.passed(passage{role, point}) })
		if err != nil {
			return err
		}
		c.proxies[role] = p
		c.settings.Brokers[role] = p.addr()
	}
	if err := c.settings.save(c.Dir); err != nil {
		return err
	}
	if steps > 0 {
		if err := replaceFile(filepath.Join(c.Dir, targetFile), fmt.Sprint(steps)); err != nil {
			return err
		}
	}
	if c.Brokers == "" {
		if err := c.startBroker(); err != nil {
			return err
		}
	}
	// A cluster that has never answered is refused, so this process asks the broker
	// before it is ever killed.
	left, err := kafkaio.Topics(ctx, c.broker, func(name string) bool { return strings.HasPrefix(name, run+".") })
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%s holds topics of a campaign, %s among them: delete them, or choose another Kafka", c.broker, left[0].Name)
	}
	for _, role := range roles[1:] {
		if c.processes[role], err = keep(c.Dir, role); err != nil {
			return err
		}
	}
	return nil
}

func (c *campaign) startBroker() (err error) {
	if c.processes[brokerRole], err = keep(c.Dir, brokerRole); err != nil {
		return err
	}
	return awaitPort(c.broker)
}

// close ends all roles, the broker last.
func (c *campaign) close() {
	var stopping sync.WaitGroup
	for _, role := range roles[1:] {
		if p := c.processes[role]; p != nil {
			stopping.Go(p.stop)
		}
	}
	stopping.Wait()
	if p := c.processes[brokerRole]; p != nil {
		p.stop()
	}
	for _, p := range c.proxies {
		p.close()
	}
	// What is remembered of this broker must not be taken for the next one's, which
	// may have its address.
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_ = kafkaio.CloseAll(ctx) // the topics are read; nothing is on its way
}

// freePort finds a port below those that the kernel hands out by itself: the
// broker comes back to it after each kill.
func freePort() (int, error) {
	for port := 20000 + os.Getpid()%8000; port < 32000; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		return port, l.Close()
	}
	return 0, errors.New("no free port between 20000 and 32000")
}

func awaitPort(addr string) error {
	until := time.Now().Add(startTimeout)
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(until) {
			return fmt.Errorf("the broker does not start: %w", err)
		}
		time.Sleep(pollEvery)
	}
}

const (
	startTimeout = 30 * time.Second
	pollEvery    = 5 * time.Millisecond
	// stuckAfter is how long the run may go without a step, faults included: a
	// broker is retried for a minute, a process starts in a second or two.
	stuckAfter = 3 * time.Minute
	// passageTimeout bounds the wait for a passage: each point is passed several
	// times in a step.
	passageTimeout = stuckAfter
)

// step is the committed step of the learner, -1 before the first checkpoint.
func (c *campaign) step() int64 {
	current, err := os.ReadFile(filepath.Join(checkpoints(c.Dir), "CURRENT"))
	if err != nil {
		return -1
	}
	return currentStep(current)
}

// awaitStep waits until the learner has taken a step. A run without progress is
// an error that says where it stands.
func (c *campaign) awaitStep(ctx context.Context, step int64) (int64, error) {
	last, since := c.step(), time.Now()
	for {
		now := c.step()
		c.observe(now)
		if now >= step {
			return now, nil
		}
		if now > last {
			last, since = now, time.Now()
		}
		if time.Since(since) > stuckAfter {
			return now, fmt.Errorf("no step behind step %d for %s: the roles' logs are in %s", now, stuckAfter, c.Dir)
		}
		if err := sleep(ctx, pollEvery); err != nil {
			return now, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// passed is called by the proxies.
func (c *campaign) passed(p passage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed == nil || c.armed.passage != p {
		return true
	}
	if c.armed.left--; c.armed.left > 0 {
		return true
	}
	c.armed.victim.signal(syscall.SIGKILL)
	c.armed = nil
	return false
}

// inject waits for a fault's moment and lets it happen.
func (c *campaign) inject(ctx context.Context, at *int64, f fault) (err error) {
	if *at, err = c.awaitStep(ctx, *at+f.steps); err != nil {
		return err
	}
	if err := c.pause(ctx, f.wait); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "%7.1f s  step %3d  %s\n", time.Since(c.started).Seconds(), c.step(), f)
	c.disturbed()
	switch f.kind {
	case kill:
		if f.torn != "" {
			c.processes[f.role].beforeStart(func() {
				if err := tear(c.Dir, f.torn, f.seed); err != nil {
					c.mu.Lock()
					c.torn = append(c.torn, fmt.Errorf("tearing %s: %w", f.torn, err))
					c.mu.Unlock()
				}
			})
		}
		return c.die(ctx, f.role)
	case killAt:
		return c.killAt(ctx, f)
	case killAll:
		return c.dieAll(ctx)
	case restart:
		c.processes[f.role].signal(syscall.SIGTERM)
	case reset:
		c.proxies[f.role].reset()
	case stall:
		c.processes[f.role].signal(syscall.SIGSTOP)
		c.later(f.last, func() { c.processes[f.role].signal(syscall.SIGCONT) })
	case slowDisk:
		path := filepath.Join(roleDir(c.Dir, f.role), slowFile)
		if err := replaceFile(path, slowness.String()); err != nil {
			return err
		}
		c.later(f.last, func() { os.Remove(path) })
	case fullDisk:
		return c.fill(f)
	case poison:
		return poisonTopic(ctx, c.broker, run+"."+f.topic, f.seed)
	case grow:
		return c.grow(ctx)
	case repeat:
		return repeatTopic(ctx, c.broker, run+"."+f.topic)
	}
	return nil
}

// slowness is what a slow disk adds to each of the learner's writes.
const slowness = 50 * time.Millisecond

// pause waits, and sees meanwhile what the learner does.
func (c *campaign) pause(ctx context.Context, d time.Duration) error {
	for until := time.Now().Add(d); time.Now().Before(until); {
		c.observe(c.step())
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	return nil
}

// die kills a role's process and waits until it is dead: the one that runs, or the
// next where the last has just ended. One that is stopped dies too.
func (c *campaign) die(ctx context.Context, role string) error {
	victim := c.processes[role]
	before := victim.deaths()
	for victim.deaths() == before {
		victim.signal(syscall.SIGKILL)
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	c.killed(role)
	return nil
}

// dieAll kills all processes at once.
func (c *campaign) dieAll(ctx context.Context) error {
	var dying errgroup.Group
	for role := range c.processes {
		dying.Go(func() error { return c.die(ctx, role) })
	}
	err := dying.Wait()
	c.disturbed() // the learner is not the only one to recover
	return err
}

// killAt arms a kill and waits until it has happened.
func (c *campaign) killAt(ctx context.Context, f fault) error {
	victim := c.processes[f.role]
	before := victim.deaths()
	if f.at.proxied() {
		c.mu.Lock()
		c.armed = &armed{f.at, f.count, victim}
		c.mu.Unlock()
	} else if err := light(roleDir(c.Dir, f.role), f.at.point, f.count); err != nil {
		return err
	}
	for since := time.Now(); victim.deaths() == before; {
		c.observe(c.step())
		if time.Since(since) > passageTimeout {
			return fmt.Errorf("%s was not passed for %s", f.at, passageTimeout)
		}
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	c.killed(f.role)
	return nil
}

// fill takes the room for the growth of files from a role's process, until it or
// the fault ends.
func (c *campaign) fill(f fault) error {
	p := c.processes[f.role]
	pid := p.pid()
	var before unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1, Max: unix.RLIM_INFINITY}, &before); err != nil {
		if errors.Is(err, unix.ESRCH) {
			return nil // it has just ended by itself
		}
		return fmt.Errorf("limiting the files of %s: %w", f.role, err)
	}
	c.later(f.last, func() { _ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &before, nil) })
	return nil
}

// later ends a fault after a while.
func (c *campaign) later(d time.Duration, end func()) {
	var once sync.Once
	ended := func() { once.Do(end) }
	time.AfterFunc(d, ended)
	c.mu.Lock()
	c.ended = append(c.ended, ended)
	c.mu.Unlock()
}

// endFaults ends what still lasts.
func (c *campaign) endFaults() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range c.ended {
		end()
	}
	c.ended = nil
}

// Describe lists the schedule of a seed.
func Describe(seed uint64, kills int, only string) string {
	var b strings.Builder
	for i, f := range schedule(seed, kills-1, true, only) {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, f)
	}
	b.WriteString("at the last step: kill all\n")
	return b.String()
}
