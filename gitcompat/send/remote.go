package send

import (
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// A Remote is one remote.<name> of the configuration, or a URL that was named
// in its place.
type Remote struct {
	Name        string
	Configured  bool     // remote.<Name>.* or branch configuration knows it
	URLs        []string // for fetching, rewritten by url.<base>.insteadOf
	PushURLs    []string // for pushing; never empty if URLs is not
	Push        []Refspec
	Fetch       []Refspec
	Mirror      bool
	ReceivePack string
}

// LoadRemote returns the remote called name; if nothing is configured for it,
// name is the URL.
func LoadRemote(c *config.Config, name string) (*Remote, error) {
	r := &Remote{Name: name}
	prefix := "remote." + name + "."
	var urls, pushURLs []string
	for _, e := range c.Entries() {
		key, ok := strings.CutPrefix(e.Key, prefix)
		if !ok || strings.Contains(key, ".") {
			continue
		}
		r.Configured = true
		if err := r.set(key, e, &urls, &pushURLs); err != nil {
			return nil, err
		}
	}
	if len(urls) == 0 && len(pushURLs) == 0 {
		urls = []string{name}
	}
	for _, u := range urls {
		plain, _ := rewrite(c, u, "insteadof")
		r.URLs = append(r.URLs, plain)
		if len(pushURLs) == 0 {
			// pushInsteadOf applies where no pushurl is given.
			push, ok := rewrite(c, u, "pushinsteadof")
			if !ok {
				push = plain
			}
			r.PushURLs = append(r.PushURLs, push)
		}
	}
	for _, u := range pushURLs {
		plain, _ := rewrite(c, u, "insteadof")
		r.PushURLs = append(r.PushURLs, plain)
	}
	return r, nil
}

func (r *Remote) set(key string, e config.Entry, urls, pushURLs *[]string) (err error) {
	add := func(list *[]string) {
		if e.Value == "" {
			*list = nil // an empty value starts the list again
		} else {
			*list = append(*list, e.Value)
		}
	}
	switch key {
	case "url":
		add(urls)
	case "pushurl":
		add(pushURLs)
	case "push":
		var spec Refspec
		spec, err = ParsePush(e.Value)
		r.Push = append(r.Push, spec)
	case "fetch":
		var spec Refspec
		spec, err = ParseFetch(e.Value)
		r.Fetch = append(r.Fetch, spec)
	case "mirror":
		r.Mirror, err = e.Bool()
	case "receivepack":
		r.ReceivePack = e.Value
	}
	return err
}

// rewrite applies the longest url.<base>.<key> that begins url.
func rewrite(c *config.Config, url, key string) (string, bool) {
	best, base := "", ""
	for _, e := range c.Entries() {
		section, sub, hasSub, name := config.SplitKey(e.Key)
		if section == "url" && hasSub && name == key && len(e.Value) > len(best) && strings.HasPrefix(url, e.Value) {
			best, base = e.Value, sub
		}
	}
	if best == "" {
		return url, false
	}
	return base + url[len(best):], true
}

// ForBranch returns the remote that a branch, "" for none, is fetched from:
// branch.<name>.remote, else the only remote there is, else "origin".
func ForBranch(c *config.Config, branch string) string {
	if branch != "" {
		if name, ok := c.Get("branch." + branch + ".remote"); ok {
			return name
		}
	}
	if names := Names(c); len(names) == 1 {
		return names[0]
	}
	return "origin"
}

// ForPush returns the remote that a branch is pushed to where none is named.
func ForPush(c *config.Config, branch string) string {
	if branch != "" {
		if name, ok := c.Get("branch." + branch + ".pushremote"); ok {
			return name
		}
	}
	if name, ok := c.Get("remote.pushdefault"); ok {
		return name
	}
	return ForBranch(c, branch)
}

// Names returns the names of the configured remotes, in order.
func Names(c *config.Config) []string { return c.Subsections("remote") }

// Upstream returns the refs on its remote that a branch is merged with.
func Upstream(c *config.Config, branch string) []string {
	return c.All("branch." + branch + ".merge")
}

// Anonymous returns url without a password in it, for messages.
func Anonymous(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host, path, hasPath := strings.Cut(rest, "/")
	at := strings.LastIndexByte(host, '@')
	if at < 0 {
		return url
	}
	url = fmt.Sprintf("%s://%s", scheme, host[at+1:])
	if hasPath {
		url += "/" + path
	}
	return url
}
