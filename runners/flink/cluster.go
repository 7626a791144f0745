package flink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// upTimeout bounds the start of a cluster, which takes 15 s on two idle cores.
	upTimeout = 3 * time.Minute
	// downTimeout is how long a process may take to end before it is killed.
	downTimeout = 15 * time.Second
	upPoll      = 250 * time.Millisecond
)

// ClusterConfig are the settings of a development cluster, all on this machine.
type ClusterConfig struct {
	// Dir holds configuration, logs and what is needed to find the processes
	// again.
	Dir string
	// TaskManagers are the worker processes of Flink, Slots what each can run at
	// once.
	TaskManagers, Slots int
	// JobServer, REST and RPC are ports of 127.0.0.1.
	JobServer, REST, RPC int
}

// DefaultCluster is a JobManager on Flink's own ports with two TaskManagers.
func DefaultCluster(dir string) ClusterConfig {
	return ClusterConfig{Dir: dir, TaskManagers: 2, Slots: 4, JobServer: 8099, REST: 8081, RPC: 6123}
}

// Cluster is a development cluster: what its directory says of it.
type Cluster struct {
	Dir string `json:"-"`
	// JobServer is where jobs are submitted, REST Flink's web interface; both
	// "host:port".
	JobServer, REST string
	Processes       []Process
}

// Process is one JVM of a cluster.
type Process struct {
	Name string
	PID  int
}

const clusterFile = "cluster.json"

// Up starts a cluster and returns when its task managers have registered. The
// processes outlive this one; Down ends them. On an error nothing is left
// running.
func Up(ctx context.Context, c ClusterConfig) (_ *Cluster, err error) {
	if c.TaskManagers < 1 || c.Slots < 1 {
		return nil, fmt.Errorf("flink: %d task managers with %d slots: want at least one of each", c.TaskManagers, c.Slots)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, errors.New("flink: no java in PATH (version 11 or 17)")
	}
	lib, err := Fetched()
	if err != nil {
		return nil, err
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return nil, fmt.Errorf("flink: %w", err)
	}
	if old, err := Find(c.Dir); err == nil && len(old.Running()) > 0 {
		return nil, fmt.Errorf("flink: a cluster is running in %s: end it by millrace flink down", c.Dir)
	}
	if err := c.writeSettings(); err != nil {
		return nil, fmt.Errorf("flink: %w", err)
	}
	cluster := &Cluster{Dir: c.Dir, JobServer: "127.0.0.1:" + strconv.Itoa(c.JobServer), REST: "127.0.0.1:" + strconv.Itoa(c.REST)}
	defer func() {
		if err != nil {
			err = errors.Join(err, cluster.Down())
		}
	}()
	for _, p := range c.processes() {
		if err := cluster.start(java, lib, p); err != nil {
			return nil, err
		}
	}
	return cluster, cluster.await(ctx, c.TaskManagers)
}

// process is a JVM to start.
type process struct {
	name, heap, class string
	args              []string
}

func (c ClusterConfig) processes() []process {
	all := []process{{"jobmanager", "384m", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint", []string{"--configDir", c.Dir}}}
	for i := range c.TaskManagers {
		all = append(all, process{fmt.Sprintf("taskmanager-%d", i+1), "1g", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner", []string{"--configDir", c.Dir}})
	}
	return append(all, process{"jobserver", "384m", "org.apache.beam.runners.flink.FlinkJobServerDriver", []string{
		"--job-host=127.0.0.1", "--job-port=" + strconv.Itoa(c.JobServer), "--artifact-port=0", "--expansion-port=0",
		"--flink-master=127.0.0.1:" + strconv.Itoa(c.REST), "--flink-conf-dir=" + c.Dir, "--artifacts-dir=" + filepath.Join(c.Dir, "artifacts"),
	}})
}

// writeSettings writes Flink's own configuration. The sizes of a task manager's
// memory have to be given one by one where no script of Flink's adds them up.
func (c ClusterConfig) writeSettings() error {
	if err := os.MkdirAll(filepath.Join(c.Dir, "tmp"), 0o755); err != nil {
		return err
	}
	lines := []string{
		"jobmanager.rpc.address: 127.0.0.1",
		"jobmanager.rpc.port: " + strconv.Itoa(c.RPC),
		"jobmanager.bind-host: 127.0.0.1",
		"jobmanager.memory.process.size: 1g",
		"rest.address: 127.0.0.1",
		"rest.bind-address: 127.0.0.1",
		"rest.port: " + strconv.Itoa(c.REST),
		"taskmanager.host: 127.0.0.1",
		"taskmanager.bind-host: 127.0.0.1",
		"taskmanager.numberOfTaskSlots: " + strconv.Itoa(c.Slots),
		"taskmanager.cpu.cores: 1",
		"taskmanager.memory.framework.heap.size: 128m",
		"taskmanager.memory.framework.off-heap.size: 64m",
		"taskmanager.memory.task.heap.size: 256m",
		"taskmanager.memory.task.off-heap.size: 0",
		"taskmanager.memory.managed.size: 64m",
		"taskmanager.memory.network.min: 64m",
		"taskmanager.memory.network.max: 64m",
		"taskmanager.memory.jvm-metaspace.size: 192m",
		"taskmanager.memory.jvm-overhead.min: 64m",
		"taskmanager.memory.jvm-overhead.max: 64m",
		"cluster.evenly-spread-out-slots: true",
		"io.tmp.dirs: " + filepath.Join(c.Dir, "tmp"),
		// Milliseconds. A killed task manager is noticed by two refused requests; the
		// timeout is for one that hangs, and a busy machine must not look like that.
		"heartbeat.interval: 1000",
		"heartbeat.timeout: 30000",
	}
	return os.WriteFile(filepath.Join(c.Dir, "flink-conf.yaml"), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// opened are the parts of the JDK that Flink reaches into by reflection.
var opened = []string{
	"java.io", "java.lang", "java.lang.reflect", "java.math", "java.net", "java.nio", "java.text", "java.time",
	"java.util", "java.util.concurrent", "java.util.concurrent.atomic", "java.util.concurrent.locks", "sun.nio.ch",
}

// start starts a JVM in a session of its own, with its output in a file.
func (c *Cluster) start(java, lib string, p process) error {
	args := []string{"-Xmx" + p.heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + filepath.Join(c.Dir, "tmp")}
	for _, name := range opened {
		args = append(args, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	args = append(args, "-cp", filepath.Join(lib, "*"), p.class)
	log, err := os.Create(c.logFile(p.name))
	if err != nil {
		return fmt.Errorf("flink: %w", err)
	}
	defer log.Close()
	command := exec.Command(java, append(args, p.args...)...)
	command.Stdout, command.Stderr = log, log
	command.Dir = c.Dir
	command.Env = append(os.Environ(), "FLINK_CONF_DIR="+c.Dir)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("flink: starting the %s: %w", p.name, err)
	}
	go command.Wait() // while this process lives, an ended one must not look alive
	c.Processes = append(c.Processes, Process{p.name, command.Process.Pid})
	return c.save()
}

func (c *Cluster) logFile(name string) string { return filepath.Join(c.Dir, name+".log") }

func (c *Cluster) save() error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(c.Dir, clusterFile), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("flink: remembering the cluster: %w", err)
	}
	return nil
}

// Find reads which cluster was started in dir.
func Find(dir string) (*Cluster, error) {
	text, err := os.ReadFile(filepath.Join(dir, clusterFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("flink: no cluster in %s: start one by millrace flink up", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("flink: %w", err)
	}
	c := &Cluster{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("flink: reading %s: %w", filepath.Join(dir, clusterFile), err)
	}
	if c.Dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("flink: %w", err)
	}
	return c, nil
}

// await waits until the job server listens and the task managers have
// registered.
func (c *Cluster) await(ctx context.Context, taskManagers int) error {
	ctx, cancel := context.WithTimeout(ctx, upTimeout)
	defer cancel()
	for {
		if running := c.Running(); len(running) < len(c.Processes) {
			return fmt.Errorf("flink: a process ended while the cluster was starting: %d of %d run; see the logs in %s", len(running), len(c.Processes), c.Dir)
		}
		if o, err := c.Overview(ctx); err == nil && o.TaskManagers >= taskManagers && listens(ctx, c.JobServer) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("flink: the cluster in %s did not come up in %s: %w", c.Dir, upTimeout, context.Cause(ctx))
		case <-time.After(upPoll):
		}
	}
}

// listens says whether something takes connections at an address.
func listens(ctx context.Context, address string) bool {
	connection, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = connection.Close() // it was opened to see that it can be
	return true
}

// Overview is what Flink says of itself.
type Overview struct {
	TaskManagers int `json:"taskmanagers"`
	Slots        int `json:"slots-total"`
	Free         int `json:"slots-available"`
	Running      int `json:"jobs-running"`
}

// Overview asks the JobManager.
func (c *Cluster) Overview(ctx context.Context) (Overview, error) {
	var o Overview
	if err := rest("http://"+c.REST).do(ctx, http.MethodGet, "/overview", &o); err != nil {
		return o, fmt.Errorf("flink: %w", err)
	}
	return o, nil
}

// Running are the processes of the cluster that live.
func (c *Cluster) Running() []Process {
	var running []Process
	for _, p := range c.Processes {
		if c.alive(p) {
			running = append(running, p)
		}
	}
	return running
}

// alive says whether a process lives and is still the one that was started here:
// a pid comes back after a restart of the machine.
func (c *Cluster) alive(p Process) bool {
	out, err := exec.Command("ps", "-ww", "-o", "stat=,args=", "-p", strconv.Itoa(p.PID)).Output()
	text := strings.TrimSpace(string(out))
	return err == nil && !strings.HasPrefix(text, "Z") && strings.Contains(text, c.Dir)
}

// Down ends the cluster and returns when its processes have ended.
func (c *Cluster) Down() error {
	deadline := time.Now().Add(downTimeout)
	signal := syscall.SIGTERM
	for {
		running := c.Running()
		if len(running) == 0 {
			break
		}
		for _, p := range running {
			if err := syscall.Kill(p.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("flink: ending the %s, process %d: %w", p.Name, p.PID, err)
			}
		}
		if time.Now().After(deadline) {
			signal = syscall.SIGKILL
		}
		time.Sleep(upPoll)
	}
	if err := os.Remove(filepath.Join(c.Dir, clusterFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("flink: forgetting the cluster: %w", err)
	}
	return nil
}
