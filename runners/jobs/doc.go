// Package jobs keeps submitted jobs in a directory, one directory a job, so that
// any process of the user can list them, look at them and end them:
//
//	<jobs>/<id>/config.yaml   the resolved configuration
//	<jobs>/<id>/status.json   how it stands; replaced whole, by the job's process
//	<jobs>/<id>/log           what it had to say
//	<jobs>/<id>/lock          held by its process
//	<jobs>/<id>/...           what the pipeline keeps there
//
// There is no server. A job is a process, known by its pid and by when it was
// started, so that a pid that was given to somebody else is never taken for it.
package jobs
