package schemas

// PolicyVersion announces that the weights of a version are published.
type PolicyVersion struct {
	Run     string
	Version int64
	// Checkpoint is the directory the weights were committed to.
	Checkpoint string
	// Time is the Unix time in microseconds.
	Time int64
}

// PolicyVersions is the codec of PolicyVersion.
var PolicyVersions = newCodec("policy_version", policyVersionColumns)

var policyVersionColumns = []column[PolicyVersion]{
	text("run", func(p *PolicyVersion) *string { return &p.Run }),
	i64("version", func(p *PolicyVersion) *int64 { return &p.Version }),
	text("checkpoint", func(p *PolicyVersion) *string { return &p.Checkpoint }),
	i64("time_us", func(p *PolicyVersion) *int64 { return &p.Time }),
}

// Validate checks the contract: a version of at least 0.
func (p PolicyVersion) Validate() error {
	c := &contract{schema: "policy_version", id: p.Run}
	c.utf8("Run", p.Run)
	c.utf8("Checkpoint", p.Checkpoint)
	c.notNegative("Version", p.Version)
	return c.err()
}
