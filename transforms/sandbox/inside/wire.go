package inside

import (
	"errors"
	"strconv"
	"strings"
)

// Jobs travel as lists of strings: each string preceded by its length in
// decimal and a colon (a netstring without its comma).

var errWire = errors.New("malformed sandbox job")

func appendString(b []byte, s string) []byte {
	b = strconv.AppendInt(b, int64(len(s)), 10)
	b = append(b, ':')
	return append(b, s...)
}

func cutString(b string) (s, rest string, err error) {
	head, tail, ok := strings.Cut(b, ":")
	n, err := strconv.Atoi(head)
	if !ok || err != nil || n < 0 || n > len(tail) {
		return "", "", errWire
	}
	return tail[:n], tail[n:], nil
}

// fields lists the strings and numbers of a job in wire order.
func (j *Job) fields() (texts []*string, lists []*[]string, flags []*bool, numbers []*uint64) {
	l := &j.Limits
	return []*string{&j.Root, &j.Workspace, &j.Command, &j.Cache},
		[]*[]string{&j.Env, &j.ReadOnly},
		[]*bool{&j.Overlay, &j.SwitchUser},
		[]*uint64{&l.AddressSpace, &l.Data, &l.CPUSeconds, &l.FileBytes, &l.OpenFiles, &l.Processes, &l.TmpBytes}
}

// Marshal encodes j for [UnmarshalJob].
func (j *Job) Marshal() []byte {
	var b []byte
	texts, lists, flags, numbers := j.fields()
	for _, s := range texts {
		b = appendString(b, *s)
	}
	for _, list := range lists {
		b = appendString(b, strconv.Itoa(len(*list)))
		for _, s := range *list {
			b = appendString(b, s)
		}
	}
	for _, f := range flags {
		b = appendString(b, strconv.FormatBool(*f))
	}
	for _, n := range numbers {
		b = appendString(b, strconv.FormatUint(*n, 10))
	}
	return b
}

// UnmarshalJob decodes what Marshal made.
func UnmarshalJob(data string) (*Job, error) {
	j := new(Job)
	var err error
	next := func() (s string) {
		if err == nil {
			s, data, err = cutString(data)
		}
		return s
	}
	texts, lists, flags, numbers := j.fields()
	for _, s := range texts {
		*s = next()
	}
	for _, list := range lists {
		n, convErr := strconv.Atoi(next())
		if convErr != nil || n < 0 || n > len(data) {
			return nil, errWire
		}
		for range n {
			*list = append(*list, next())
		}
	}
	for _, f := range flags {
		*f = next() == "true"
	}
	for _, n := range numbers {
		var convErr error
		if *n, convErr = strconv.ParseUint(next(), 10, 64); convErr != nil {
			return nil, errWire
		}
	}
	if err == nil && data != "" {
		err = errWire
	}
	return j, err
}
