package builtin

import (
	"errors"
	"sort"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// urlParts is a URL in its normal form.
type urlParts struct {
	scheme, user, host, port string
	hasUser                  bool
	rest                     string // path, query and fragment
}

const (
	urlDigits   = "0123456789"
	urlAlnum    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + urlDigits
	urlReserved = ":/?#[]@!$&'()*+,;="
)

var errURLEscape = errors.New("invalid %XX escape sequence")

// normalizeURL reads a URL; globs allows stars in the host, as in a pattern.
func normalizeURL(url string, globs bool) (u urlParts, err error) {
	i := strings.Index(url, "://")
	if i <= 0 || strings.Trim(url[:i], urlAlnum+"+.-") != "" || strings.IndexByte(urlDigits+"+.-", url[0]) >= 0 {
		return u, errors.New("invalid URL scheme name or missing '://' suffix")
	}
	u.scheme = strings.ToLower(url[:i])
	rest := url[i+3:]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	if at := strings.IndexByte(rest, '@'); at >= 0 && at < end {
		u.hasUser = true
		user, ok := normalEscapes(authority[:at])
		if !ok {
			return u, errURLEscape
		}
		u.user, _, _ = strings.Cut(user, ":")
		authority = authority[at+1:]
	}
	if authority == "" || authority[0] == ':' {
		if u.scheme != "file" {
			return u, errors.New("missing host and scheme is not 'file:'")
		}
		if len(authority) > 1 {
			return u, errors.New("a 'file:' URL may not have a port number")
		}
		authority = ""
	}
	if err := u.setHost(authority, globs); err != nil {
		return u, err
	}
	return u, u.setPath(rest[end:])
}

func (u *urlParts) setHost(authority string, globs bool) error {
	host, port, hasPort := authority, "", false
	if i := strings.LastIndexAny(authority, ":]"); i > 0 && authority[i] == ':' {
		host, port, hasPort = authority[:i], authority[i+1:], true
	}
	allowed := urlAlnum + ".-_[:]"
	if globs {
		allowed += "*"
	}
	if strings.Trim(host, allowed) != "" {
		return errors.New("invalid characters in host name")
	}
	u.host = strings.ToLower(host)
	if !hasPort {
		return nil
	}
	if trimmed := strings.TrimLeft(port, "0"); trimmed != "" || port == "" {
		port = trimmed
	} else {
		port = "0"
	}
	if port == "" || u.scheme == "http" && port == "80" || u.scheme == "https" && port == "443" {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return errors.New("invalid port number")
	}
	u.port = port
	return nil
}

// setPath resolves "." and ".." and normalizes escapes.
func (u *urlParts) setPath(text string) error {
	path, tail := text, ""
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		path, tail = text[:i], text[i:]
	}
	var kept []string
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		s, ok := normalEscapes(s)
		if !ok {
			return errURLEscape
		}
		last := i == len(segments)-1
		switch s {
		case ".":
		case "..":
			if len(kept) == 0 {
				return errors.New("invalid '..' path segment")
			}
			kept = kept[:len(kept)-1]
		default:
			kept = append(kept, s)
			continue
		}
		if last && len(kept) == 0 {
			kept = append(kept, "")
		}
	}
	tail, ok := normalEscapes(tail)
	if !ok {
		return errURLEscape
	}
	u.rest = "/" + strings.Join(kept, "/") + tail
	return nil
}

// normalEscapes undoes escapes that are not needed and makes those that are.
func normalEscapes(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], false
		if c == '%' {
			if i+2 >= len(s) {
				return "", false
			}
			n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return "", false
			}
			c, escaped = byte(n), true
			i += 2
		}
		if c <= 0x1f || c >= 0x7f || strings.IndexByte(" <>\"%{}|\\^`", c) >= 0 || escaped && strings.IndexByte(urlReserved, c) >= 0 {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
			continue
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// urlMatch says how well a pattern fits a URL.
type urlMatch struct {
	host, path int
	user       bool
}

func (m urlMatch) less(o urlMatch) bool {
	if m.host != o.host {
		return m.host < o.host
	}
	if m.path != o.path {
		return m.path < o.path
	}
	return !m.user && o.user
}

// matchURL reports whether pattern stands for url.
func matchURL(url, pattern urlParts) (m urlMatch, ok bool) {
	if url.scheme != pattern.scheme || url.port != pattern.port || !matchHost(url.host, pattern.host) {
		return m, false
	}
	if pattern.hasUser && (!url.hasUser || url.user != pattern.user) {
		return m, false
	}
	m = urlMatch{host: len(pattern.host), user: pattern.hasUser}
	prefix := strings.TrimSuffix(pattern.rest, "/")
	if !strings.HasPrefix(url.rest, prefix) || len(url.rest) > len(prefix) && url.rest[len(prefix)] != '/' {
		return m, false
	}
	m.path = len(prefix) + 1
	return m, true
}

func matchHost(host, pattern string) bool {
	h, p := strings.Split(host, "."), strings.Split(pattern, ".")
	if len(h) != len(p) {
		return false
	}
	for i := range h {
		if p[i] != "*" && p[i] != h[i] {
			return false
		}
	}
	return true
}

// getURL is get --url and --get-urlmatch.
func (c *configCmd) getURL(name, url string) Status {
	want, err := normalizeURL(url, false)
	if err != nil {
		return Fatal(err)
	}
	section, variable, one := strings.Cut(strings.ToLower(name), ".")
	c.showNames = !one
	cfg, err := c.load()
	var unread *errUnread
	if err != nil && !errors.As(err, &unread) {
		return Fatal(err)
	}
	type hit struct {
		entry config.Entry
		match urlMatch
	}
	best := map[string]hit{}
	for i := 0; cfg != nil && i < len(cfg.Entries()); i++ {
		e := cfg.Entries()[i]
		s, sub, hasSub, key := config.SplitKey(e.Key)
		if s != section || one && key != variable {
			continue
		}
		var m urlMatch
		if hasSub {
			pattern, err := normalizeURL(sub, true)
			if err != nil {
				continue
			}
			var ok bool
			if m, ok = matchURL(want, pattern); !ok {
				continue
			}
		}
		e.Key = section + "." + key
		if old, ok := best[e.Key]; !ok || !m.less(old.match) {
			best[e.Key] = hit{e, m}
		}
	}
	keys := make([]string, 0, len(best))
	for k := range best {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		h := best[k]
		text, skip, err := c.format(&h.entry)
		if err != nil {
			return Fatal(err)
		}
		if !skip {
			c.env.Print(text)
		}
	}
	if len(keys) == 0 {
		return Exit(1)
	}
	return OK
}
