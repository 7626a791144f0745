package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"millrace/kernels/tokenizer"
	"millrace/pipelines/mine"
	"millrace/pipelines/taskset"
	"millrace/schemas"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/sandbox/docker/dockertest"
)

// problem is a task of the tests in containers: a fault in one file, and the edit
// that repairs it.
type problem struct {
	marker       string // in the statement
	path         string
	wrong, right string
}

var problems = map[string]problem{
	"r2e":    {"Titles with dots", "slug/core.py", `re.sub(r"[^a-z0-9 ]", "", text)`, `re.sub(r"[^a-z0-9]+", "-", text)`},
	"bench":  {"Words are cut", "wrap/core.py", "len(line) + len(word) > width", "len(line) + 1 + len(word) > width"},
	"smith":  {"Counts are off", "tally/core.py", "counts[key] = counts.get(key, 0) - 1", "counts[key] = counts.get(key, 0) + 1"},
	"native": {"Clamp ignores", "clamp.go", "if v > lo {", "if v < lo {"},
}

const gitIdentity = "git config --global user.email a@b; git config --global user.name n; git config --global init.defaultBranch main\n"

// put is a line of shell that writes a file.
func put(path, text string) string {
	return fmt.Sprintf("mkdir -p \"$(dirname %[1]s)\"; cat > %[1]s <<'END_OF_FILE'\n%[2]sEND_OF_FILE\n", path, text)
}

// r2eRow makes an R2E-Gym-shaped task: the tests lie in the image, which stands at
// the parent of the commit that repairs the fault, and one test is expected to fail.
func r2eRow(t *testing.T) map[string]any {
	p := problems["r2e"]
	source := "import re\n\n\ndef slug(text):\n    text = text.lower()\n    text = " + p.wrong + "\n    return text.strip(\"- \").replace(\" \", \"-\")\n"
	tests := "from slug.core import slug\n\n\ndef test_plain():\n    assert slug(\"One two\") == \"one-two\"\n\n\ndef test_dots():\n    assert slug(\"a.b.c\") == \"a-b-c\"\n\n\ndef test_known_to_fail():\n    assert slug(\"ä\") == \"ae\"\n"
	image := dockertest.Build(t, dockertest.Python, gitIdentity+"git init -q\n"+put("slug/__init__.py", "")+put("slug/core.py", source)+put("README", "Slugs.\n")+
		"git add -A; git commit -qm base\n"+
		"sed -i 's/x/x/' README; echo later >> README; git commit -qam 'Repair the hidden fault of dots'; git reset -q --hard HEAD~1\n"+
		put("/testbed/r2e_tests/test_1.py", tests)+put("/testbed/run_tests.sh", "PYTHONPATH=. python3 -W ignore -m pytest -rA r2e_tests\n")+
		"printf 'r2e_tests\\nrun_tests.sh\\n' >> .git/info/exclude\n")
	lines := []map[string]any{}
	for i, line := range strings.Split(strings.TrimSuffix(source, "\n"), "\n") {
		if strings.Contains(line, p.wrong) {
			lines = append(lines, map[string]any{"content": line, "type": "deleted"},
				map[string]any{"content": strings.Replace(line, p.wrong, p.right, 1), "type": "added"})
		} else if i >= 3 {
			lines = append(lines, map[string]any{"content": line, "type": "context"})
		}
	}
	file := map[string]any{"path": p.path}
	commit := map[string]any{
		"old_commit_hash": "1111111111111111111111111111111111111111", "new_commit_hash": "2222222222222222222222222222222222222222",
		"file_diffs": []any{map[string]any{
			"header": map[string]any{"file": file, "misc_line": ""}, "is_binary_file": false, "minus_file": map[string]any{"path": "a/" + p.path}, "plus_file": map[string]any{"path": "b/" + p.path},
			"index_line": map[string]any{"old_commit_hash": "1111111", "new_commit_hash": "2222222", "mode": "100644"},
			"hunks": []any{map[string]any{
				"descriptor": map[string]any{"old_range": map[string]any{"start": 4, "length": 4}, "new_range": map[string]any{"start": 4, "length": 4}, "section": ""},
				"line_group": map[string]any{"all_lines": lines},
			}},
		}},
	}
	return map[string]any{
		"repo_name": "slug", "docker_image": image, "commit_hash": "2222222222222222222222222222222222222222",
		"parsed_commit_content": text(t, commit), "problem_statement": "[ISSUE]\n" + p.marker + " lose their dots.\n[/ISSUE]",
		"expected_output_json": text(t, map[string]string{"test_plain": "PASSED", "test_dots": "PASSED", "test_known_to_fail": "FAILED"}),
	}
}

// benchRow makes a SWE-bench-shaped task of version 5: the tests come with a patch.
func benchRow(t *testing.T) map[string]any {
	p := problems["bench"]
	source := "def wrap(text, width):\n    lines, line = [], \"\"\n    for word in text.split():\n        if line and " + p.wrong + ":\n            lines.append(line)\n            line = word\n        else:\n            line = (line + \" \" + word).strip()\n    return lines + [line] if line else lines\n"
	image := dockertest.Build(t, dockertest.Python, gitIdentity+"git init -q\n"+put("wrap/__init__.py", "")+put("wrap/core.py", source)+
		put("tests/test_wrap.py", "from wrap.core import wrap\n\n\ndef test_short():\n    assert wrap(\"a b\", 10) == [\"a b\"]\n")+"git add -A; git commit -qm base\n")
	testPatch := "diff --git a/tests/test_wrap.py b/tests/test_wrap.py\n--- a/tests/test_wrap.py\n+++ b/tests/test_wrap.py\n@@ -3,3 +3,7 @@\n \n def test_short():\n     assert wrap(\"a b\", 10) == [\"a b\"]\n+\n+\n+def test_exact():\n+    assert wrap(\"aaa bbb\", 6) == [\"aaa\", \"bbb\"]\n"
	gold := "diff --git a/wrap/core.py b/wrap/core.py\n--- a/wrap/core.py\n+++ b/wrap/core.py\n@@ -4 +4 @@\n-        if line and " + p.wrong + ":\n+        if line and " + p.right + ":\n"
	script := "#!/bin/bash\nset -uxo pipefail\ncd /testbed\ngit checkout HEAD tests/test_wrap.py\ngit apply -v - <<'EOF_114329324912'\n" + testPatch + "EOF_114329324912\n: '>>>>> Start Test Output'\nPYTHONPATH=. python3 -m pytest -rA tests/test_wrap.py\n: '>>>>> End Test Output'\ngit checkout HEAD tests/test_wrap.py\n"
	return map[string]any{
		"instance_id": "tester__wrap-1", "repo": "tester/wrap", "base_commit": "3333333333333333333333333333333333333333", "version": "1.0",
		"patch": gold, "test_patch": testPatch, "problem_statement": p.marker + " one column late.",
		"FAIL_TO_PASS": text(t, []string{"tests/test_wrap.py::test_exact"}), "PASS_TO_PASS": text(t, []string{"tests/test_wrap.py::test_short"}),
		"image": image, "eval_script": script, "log_parser": "parse_log_pytest", "eval_type": "pass_and_fail",
	}
}

// smithRow makes a SWE-smith-shaped task: the image is sound, the patch is the fault.
func smithRow(t *testing.T) map[string]any {
	p := problems["smith"]
	source := "def tally(items):\n    counts = {}\n    for key in items:\n        " + p.right + "\n    return counts\n"
	image := dockertest.Build(t, dockertest.Python, gitIdentity+"mkdir -p /opt/miniconda3/bin; echo 'conda() { :; }' > /opt/miniconda3/bin/activate\n"+
		"git init -q\n"+put("conftest.py", "")+put("tally/__init__.py", "")+put("tally/core.py", source)+
		put("tests/test_tally.py", "from tally.core import tally\n\n\ndef test_two():\n    assert tally(\"aab\") == {\"a\": 2, \"b\": 1}\n")+
		put("tests/test_empty.py", "from tally.core import tally\n\n\ndef test_empty():\n    assert tally(\"\") == {}\n")+
		"ln -sf /usr/bin/python3 /usr/local/bin/python; printf '#!/bin/sh\\nexec python3 -m pytest \"$@\"\\n' > /usr/local/bin/pytest; chmod +x /usr/local/bin/pytest\n"+
		"git add -A; git commit -qm 'Initial commit'\n")
	return map[string]any{
		"instance_id": "tester__tally.12345678.func_pm_op_change__abcdefgh", "repo": "swesmith/tester__tally.12345678", "image_name": image,
		"patch":             "diff --git a/tally/core.py b/tally/core.py\n--- a/tally/core.py\n+++ b/tally/core.py\n@@ -1,5 +1,5 @@\n def tally(items):\n     counts = {}\n     for key in items:\n-        " + p.right + "\n+        " + p.wrong + "\n     return counts\n",
		"problem_statement": p.marker + " and negative.",
		"FAIL_TO_PASS":      []string{"tests/test_tally.py::test_two"}, "PASS_TO_PASS": []string{"tests/test_empty.py::test_empty"},
	}
}

// nativeRow makes a task of our own form, in Go.
func nativeRow(t *testing.T) map[string]any {
	p := problems["native"]
	source := "package clamp\n\n// Clamp keeps v within lo and hi.\nfunc Clamp(v, lo, hi int) int {\n\t" + p.wrong + "\n\t\treturn lo\n\t}\n\treturn min(v, hi)\n}\n"
	image := dockertest.Build(t, dockertest.Go, put("go.mod", "module clamp\n\ngo 1.24\n")+put("clamp.go", source)+
		put("clamp_test.go", "package clamp\n\nimport \"testing\"\n\nfunc TestLow(t *testing.T) {\n\tif got := Clamp(1, 1, 3); got != 1 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n")+
		"go test ./... >/dev/null\n")
	return map[string]any{
		"id": "clamp/native/1", "repo": "tester/clamp", "split": "train", "statement": p.marker + " small values.", "image": image,
		"hidden_tests": []any{map[string]any{"path": "hidden_test.go", "content": "package clamp\n\nimport \"testing\"\n\nfunc TestHigh(t *testing.T) {\n\tif got := Clamp(9, 1, 3); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n"}},
		"test_command": "go test -json ./...", "test_format": "go-test-json", "fail_to_pass": []string{"TestHigh"}, "pass_to_pass": []string{"TestLow"},
		"gold_patch": "diff --git a/clamp.go b/clamp.go\n--- a/clamp.go\n+++ b/clamp.go\n@@ -5 +5 @@\n-\t" + p.wrong + "\n+\t" + p.right + "\n",
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// containerTasks imports a row of each kind and returns the task file.
func containerTasks(t *testing.T) (string, []schemas.Task) {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for name, row := range map[string]map[string]any{"r2e": r2eRow(t), "bench": benchRow(t), "smith": smithRow(t), "native": nativeRow(t)} {
		file := filepath.Join(dir, name+".jsonl")
		if err := os.WriteFile(file, []byte(text(t, row)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	var tasks []schemas.Task
	counts, err := taskset.Import{
		Split: "train", Task: func(task schemas.Task) error { tasks = append(tasks, task); return nil },
		Bad: func(e *taskset.RowError) { t.Error(e) },
	}.Run(t.Context(), files...)
	if err != nil || counts.Tasks != int64(len(problems)) {
		t.Fatalf("%+v, %v", counts, err)
	}
	var out bytes.Buffer
	if err := mine.Write(&out, tasks); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tasks.jsonl")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, tasks
}

// player is a server in vLLM's dialect whose policy plays a script: it repairs the
// fault, or does nothing.
type player struct {
	t         *testing.T
	tokenizer *tokenizer.Tokenizer
	idle      bool
	textOnly  bool // gives neither token ids nor log-probabilities

	mu   sync.Mutex
	seen []string // what the last prompt of each session showed
}

func play(t *testing.T, idle, textOnly bool) *httptest.Server {
	t.Helper()
	tok, err := tokenizer.Load("../../pipelines/train/policy")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&player{t: t, tokenizer: tok, idle: idle, textOnly: textOnly})
	t.Cleanup(server.Close)
	return server
}

func (p *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health":
	case "/v1/models":
		json.NewEncoder(w).Encode(map[string]any{"data": []any{map[string]any{"id": "policy", "max_model_len": 1 << 16}}})
	case "/v1/completions":
		var in struct {
			Prompt       []int32 `json:"prompt"`
			StopTokenIDs []int32 `json:"stop_token_ids"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		said := p.turn(p.tokenizer.Decode(in.Prompt))
		if p.textOnly {
			json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"text": said, "finish_reason": "stop"}}})
			return
		}
		tokens := append(p.tokenizer.EncodePlain(said), in.StopTokenIDs[0])
		logProbs := make([]float64, len(tokens))
		for i := range logProbs {
			logProbs[i] = -0.25
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"text": "", "finish_reason": "stop", "stop_reason": in.StopTokenIDs[0], "token_ids": tokens, "prompt_token_ids": in.Prompt,
			"logprobs": map[string]any{"tokens": []string{}, "token_logprobs": logProbs},
		}}, "usage": map[string]any{"prompt_tokens": len(in.Prompt), "completion_tokens": len(tokens)}})
	default:
		http.NotFound(w, r)
	}
}

// turn is what the agent says after a transcript.
func (p *player) turn(transcript string) string {
	call := func(name string, args ...string) string {
		c := tools.Call{Name: name, Args: map[string]string{}}
		for i := 0; i < len(args); i += 2 {
			c.Args[args[i]] = args[i+1]
		}
		return "I go on.\n" + tools.Format(c)
	}
	var it problem
	for _, candidate := range problems {
		if strings.Contains(transcript, candidate.marker) {
			it = candidate
		}
	}
	turn := strings.Count(transcript, "<|im_start|>assistant") - 1
	if it.path == "" || p.idle {
		turn = 99
	}
	switch turn {
	case 0:
		return call("file_editor", "command", "view", "path", ".")
	case 1:
		return call("search", "search_term", it.wrong, "path", ".")
	case 2:
		return call("file_editor", "command", "view", "path", "/testbed/"+it.path)
	case 3:
		return call("file_editor", "command", "str_replace", "path", it.path, "old_str", it.wrong, "new_str", it.right)
	case 4: // what an agent might find or plant, and must not
		return call("execute_bash", "cmd", "ls -a / /testbed; cat /r2e_tests/* /testbed/r2e_tests/* /withheld_tests/*; git log --all --oneline; "+
			"echo 'def pytest_runtest_makereport(): pass' > conftest.py; ln -s /etc/passwd stolen; rm -rf tests")
	}
	p.mu.Lock()
	p.seen = append(p.seen, transcript)
	p.mu.Unlock()
	return call("finish", "command", "submit", "result", "done")
}

// TestTasksInContainers: a task of each dataset's shape, solved by a script to
// reward 1 and left alone by an idle one to reward 0, through rollout, score, filter
// and advantage, from a served policy; nothing is left of the containers.
func TestTasksInContainers(t *testing.T) {
	dockertest.Need(t, dockertest.Python, dockertest.Go)
	file, tasks := containerTasks(t)
	t.Run("check", func(t *testing.T) {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		sound := filepath.Join(t.TempDir(), "sound.jsonl")
		err = CheckTasks(t.Context(), CheckOptions{Tasks: file, Times: 2, Concurrency: 4, Set: []string{"score.test_timeout=5m"}, Sound: sound, Out: out})
		said, readErr := os.ReadFile(out.Name())
		if err != nil || readErr != nil || !strings.HasSuffix(string(said), "4 tasks: 4 sound\n") {
			t.Errorf("%v, %v:\n%s", err, readErr, said)
		}
		n := 0
		if err := eachTask(t.Context(), sound, func(schemas.Task) error { n++; return nil }); err != nil || n != 4 {
			t.Errorf("%d sound tasks, %v", n, err)
		}
	})
	for idle, groupSize := range map[bool]int{false: 16, true: 2} { // 64 rollouts at once, and 8
		t.Run(fmt.Sprintf("idle=%t", idle), func(t *testing.T) {
			server := play(t, idle, false)
			jobs, id := t.TempDir(), fmt.Sprintf("in-containers-idle-%t", idle)
			mustSubmit(t, SubmitOptions{JobsDir: jobs, ID: id, Set: []string{
				fmt.Sprintf("tasks.file=%q", file), fmt.Sprintf("group_size=%d", groupSize), "groups=4", fmt.Sprintf("rollout.concurrency=%d", 4*groupSize),
				fmt.Sprintf("policy.endpoints=[%q]", server.URL), "policy.dialect=openai",
				"rollout.tools.style=deepswe", "rollout.limits.context=30000", "rollout.limits.turn_tokens=2000", "rollout.limits.steps=12",
				"rollout.tools.action_time=2m", "rollout.limits.action_time=5m", "rollout.limits.time=1h", "rollout.tools.characters=10000",
				"sandbox.docker.warm=2", "sandbox.docker.limits.memory_bytes=1073741824",
			}}, fmt.Sprintf("job %s done: 4 of 4 groups, %d samples, 0 dead letters", id, 4*groupSize))
			want := 1.0
			if idle {
				want = 0
			}
			samples := samplesOf(t, filepath.Join(jobs, id))
			solved := map[string]int{}
			for _, s := range samples {
				if s.Reward != want || s.Advantage != 0 || s.Termination != schemas.Finished {
					t.Errorf("%s: reward %v, advantage %v, %s", s.ID, s.Reward, s.Advantage, s.Termination)
				}
				solved[s.TaskID]++
			}
			for _, task := range tasks {
				if solved[task.ID] != groupSize {
					t.Errorf("%d samples of %s", solved[task.ID], task.ID)
				}
			}
			for _, transcript := range server.Config.Handler.(*player).seen {
				for _, secret := range []string{"test_known_to_fail", "test_dots", "test_exact", "test_two", "Repair the hidden fault", "TestHigh"} {
					if strings.Contains(transcript, secret) {
						t.Errorf("the agent was shown %q in\n%s", secret, transcript)
					}
				}
			}
			nothingIsLeft(t, id)
		})
	}
}

// TestServersForEvaluation: a server that tells only text is refused where its
// trajectories could be trained on; where they are for evaluation they are scored, and
// hold no token to train on.
func TestServersForEvaluation(t *testing.T) {
	server := play(t, true, true)
	jobs := t.TempDir()
	set := []string{"max_tasks=1", "group_size=2", "groups=1", "rollout.concurrency=2", "rollout.attempts=1", "rollout.tools.style=deepswe",
		"rollout.limits.context=30000", "rollout.limits.turn_tokens=2000",
		fmt.Sprintf("policy.endpoints=[%q]", server.URL), "policy.dialect=openai", "rollout.tools.action_time=10m", "rollout.limits.action_time=20m", "rollout.limits.time=1h"}
	mustSubmit(t, SubmitOptions{JobsDir: jobs, ID: "refused", Set: set}, "job refused done: 1 of 1 groups, 2 samples, 2 dead letters")
	mustSubmit(t, SubmitOptions{JobsDir: jobs, ID: "evaluated", Set: append(set, "policy.evaluation=true")}, "job evaluated done: 1 of 1 groups, 2 samples, 0 dead letters")
	for _, s := range samplesOf(t, filepath.Join(jobs, "evaluated")) {
		if s.Termination != schemas.Finished || slices.Contains(s.LossMask, true) {
			t.Errorf("%s ended as %s with tokens to train on", s.ID, s.Termination)
		}
	}
}

// nothingIsLeft of a run's containers, and so of what ran in them.
func nothingIsLeft(t *testing.T, run string) {
	t.Helper()
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	list, err := api.ContainerList(context.Background(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", "millrace.run="+run))})
	if err != nil || len(list) != 0 {
		t.Errorf("%d containers are left, %v", len(list), err)
	}
}
