// Package report prints marks.
package report

import "example.com/scores"

// Line is the report of one pupil.
func Line(name string, marks []int) string { return name + ": " + scores.Grade(scores.Mean(marks)) }
