package inside

import (
	"reflect"
	"testing"
)

func TestJobRoundTrip(t *testing.T) {
	want := &Job{
		Root: "/r", Workspace: "/w:1", Command: "echo 3:x\n", Cache: "", Env: []string{"A=1", "B="}, ReadOnly: []string{"/usr"},
		Overlay: true, Limits: Limits{1, 2, 3, 4, 5, 6, 1 << 63},
	}
	got, err := UnmarshalJob(string(want.Marshal()))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// FuzzUnmarshalJob: no input panics or makes a job that is encoded differently
// and decodes to another one.
func FuzzUnmarshalJob(f *testing.F) {
	f.Add(string((&Job{Command: "true", Env: []string{"A=1"}}).Marshal()))
	f.Add("1:a999999999999999999:")
	f.Fuzz(func(t *testing.T, data string) {
		job, err := UnmarshalJob(data)
		if err != nil {
			return
		}
		again, err := UnmarshalJob(string(job.Marshal()))
		if err != nil || !reflect.DeepEqual(again, job) {
			t.Errorf("%+v became %+v, %v", job, again, err)
		}
	})
}
