package score

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

func TestGrade(t *testing.T) {
	results := Results{Verdicts: []Verdict{
		{"m", "TestA", Pass}, {"m", "TestB", Fail}, {"m", "TestS", Skip}, {"m", "TestSub", Pass}, {"m", "TestSub/x", Pass},
		{"m/v1.2/x", "TestA", Pass}, {"m/y", "TestTwice", Pass}, {"m/z", "TestTwice", Fail},
	}}
	for name, tt := range map[string]struct {
		f2p, p2p       []string
		value          float64
		passed, failed []string
	}{
		"all passed":                   {[]string{"TestA"}, []string{"TestSub", "TestSub/x"}, 1, []string{"TestA", "TestSub", "TestSub/x"}, nil},
		"one failed":                   {[]string{"TestA"}, []string{"TestB"}, 0, []string{"TestA"}, []string{"TestB"}},
		"fail to pass failed":          {[]string{"TestB"}, []string{"TestA"}, 0, []string{"TestA"}, []string{"TestB"}},
		"missing is failed":            {[]string{"TestA", "TestGone"}, nil, 0, []string{"TestA"}, []string{"TestGone"}},
		"skipped is not passed":        {[]string{"TestS"}, nil, 0, nil, []string{"TestS"}},
		"qualified":                    {[]string{"m.TestA", "m/v1.2/x.TestA"}, nil, 1, []string{"m.TestA", "m/v1.2/x.TestA"}, nil},
		"qualified by another package": {[]string{"q.TestA"}, nil, 0, nil, []string{"q.TestA"}},
		"bare in two packages":         {[]string{"TestTwice"}, nil, 0, nil, []string{"TestTwice"}},
		"that package alone":           {[]string{"m/y.TestTwice"}, nil, 1, []string{"m/y.TestTwice"}, nil},
		"in both lists":                {[]string{"TestA"}, []string{"TestA"}, 1, []string{"TestA"}, nil},
		"nothing expected":             {nil, nil, 0, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			value, passed, failed := Grade(schemas.Task{FailToPass: tt.f2p, PassToPass: tt.p2p}, results)
			if value != tt.value || !cmp.Equal(passed, tt.passed) || !cmp.Equal(failed, tt.failed) {
				t.Errorf("got %v %v %v, want %v %v %v", value, passed, failed, tt.value, tt.passed, tt.failed)
			}
		})
	}
}
