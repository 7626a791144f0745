package taskset

import (
	"regexp"
	"strings"
)

// Benchmark are the twelve repositories of SWE-bench and of SWE-bench Verified: what
// an agent is trained on comes from others, or its score there says little.
var Benchmark = []string{
	"astropy/astropy", "django/django", "matplotlib/matplotlib", "mwaskom/seaborn", "pallets/flask", "psf/requests",
	"pydata/xarray", "pylint-dev/pylint", "pytest-dev/pytest", "scikit-learn/scikit-learn", "sphinx-doc/sphinx", "sympy/sympy",
}

// earlier are names under which GitHub knew repositories of Benchmark before.
var earlier = map[string]string{
	"pycqa/pylint": "pylint-dev/pylint", "kennethreitz/requests": "psf/requests", "requests/requests": "psf/requests",
	"mitsuhiko/flask": "pallets/flask", "xray/xray": "pydata/xarray",
}

var (
	repoURL = regexp.MustCompile(`^(?:https?://|git@)?(?:www\.)?github\.com[/:]`)
	// mirror is how SWE-smith names a repository at a commit, in repo, in image_name
	// and at the begin of an id: its organisation, the owner, the name, eight digits.
	mirror = regexp.MustCompile(`^(?:[\w-]+/)?(?:swesmith\.\w+\.)?([\w-]+?)(?:__|_1776_)([\w.-]+?)\.[0-9a-f]{8}(?:\..*)?$`)
	joined = regexp.MustCompile(`^([\w-]+?)__([\w.-]+)$`)
)

// CanonicalRepo is the "owner/name" that a dataset means: of a URL of GitHub, of
// "owner__name", and of SWE-smith's mirrors, such as
// "swesmith/oauthlib__oauthlib.1fd52536". Case stays. A name alone, which R2E-Gym
// has, stays as it is.
func CanonicalRepo(repo string) string {
	repo = strings.TrimSuffix(repoURL.ReplaceAllString(strings.TrimSpace(repo), ""), ".git")
	if m := mirror.FindStringSubmatch(repo); m != nil {
		return m[1] + "/" + m[2]
	}
	if m := joined.FindStringSubmatch(repo); m != nil {
		return m[1] + "/" + m[2]
	}
	return repo
}

// sameRepo tells whether a canonical name means the excluded repository: by its full
// or an earlier name, in any case, or by the name without owner.
func sameRepo(repo, excluded string) bool {
	repo, excluded = strings.ToLower(repo), strings.ToLower(excluded)
	if now := earlier[repo]; now != "" {
		repo = now
	}
	_, name, _ := strings.Cut(excluded, "/")
	return repo == excluded || repo == name
}
