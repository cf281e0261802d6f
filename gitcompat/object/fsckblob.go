package object

import (
	"bytes"
	"strings"
)

// What git refuses to read as .gitattributes (attr.h).
const (
	attrMaxFile = 100 << 20
	attrMaxLine = 2048
)

func (f *Fsck) checkBlob(data []byte) {
	if f.skipCurrent {
		return
	}
	if _, is := f.modules[f.id]; is {
		f.modules[f.id] = true
		if data == nil {
			f.report(MsgGitmodulesLarge, ".gitmodules too large to parse")
			return
		}
		f.checkModules(data)
	}
	if _, is := f.attributes[f.id]; is {
		f.attributes[f.id] = true
		if data == nil || len(data) > attrMaxFile {
			f.report(MsgGitattributesLarge, ".gitattributes too large to parse")
			return
		}
		if nul := bytes.IndexByte(data, 0); nul >= 0 {
			data = data[:nul]
		}
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			if len(line) >= attrMaxLine {
				f.report(MsgGitattributesLineLength, ".gitattributes has too long lines to parse")
				break
			}
		}
	}
}

func (f *Fsck) checkModules(data []byte) {
	if f.EachConfig == nil {
		return
	}
	err := f.EachConfig(data, func(key, value string, valueless bool) {
		name, ok := strings.CutPrefix(key, "submodule.")
		last := strings.LastIndexByte(name, '.')
		if !ok || last < 0 {
			return
		}
		name, key = name[:last], name[last+1:]
		if !ValidSubmoduleName(name) {
			f.report(MsgGitmodulesName, "disallowed submodule name: %s", name)
		}
		switch {
		case valueless:
		case key == "url" && !ValidSubmoduleURL(value):
			f.report(MsgGitmodulesUrl, "disallowed submodule url: %s", value)
		case key == "path" && strings.HasPrefix(value, "-"):
			f.report(MsgGitmodulesPath, "disallowed submodule path: %s", value)
		case key == "update" && strings.HasPrefix(value, "!"):
			f.report(MsgGitmodulesUpdate, "disallowed submodule update setting: %s", value)
		}
	})
	if err != nil {
		f.report(MsgGitmodulesParse, "could not parse gitmodules blob")
	}
}

// ValidSubmoduleName reports whether name may become a directory below modules/:
// not empty, and no component of it is "..".
func ValidSubmoduleName(name string) bool {
	for c := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if c == ".." {
			return false
		}
	}
	return name != ""
}

// ValidSubmoduleURL reports whether url cannot smuggle an option or a newline into
// a transport, nor climb out of the host when it is relative.
func ValidSubmoduleURL(url string) bool {
	if strings.HasPrefix(url, "-") {
		return false
	}
	if strings.HasPrefix(url, "./") || strings.HasPrefix(url, "../") || strings.HasPrefix(url, "git://") {
		if strings.Contains(decodeURL(url), "\n") {
			return false
		}
		rest, up := url, 0
		for {
			if after, ok := strings.CutPrefix(rest, "../"); ok {
				rest, up = after, up+1
			} else if after, ok := strings.CutPrefix(rest, "./"); ok {
				rest = after
			} else {
				break
			}
		}
		return up == 0 || rest == "" || rest[0] != ':' && rest[0] != '/'
	}
	for _, scheme := range [...]string{"http", "https", "ftp", "ftps"} {
		if rest, ok := strings.CutPrefix(url, scheme+"::"); ok {
			return validHTTP(rest)
		}
		if strings.HasPrefix(url, scheme+"://") {
			return validHTTP(url)
		}
	}
	return true
}

// decodeURL undoes %XX where it is well-formed, outside of the scheme.
func decodeURL(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c, ok := unescape(s[i:]); ok {
			b.WriteByte(c)
			i += 2
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func unescape(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	hi, lo := unhex(s[1]), unhex(s[2])
	return hi<<4 | lo, hi < 16 && lo < 16
}

func unhex(c byte) byte {
	switch c = lower(c); {
	case isDigit(c):
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// validHTTP is the validity of git's url_normalize, and no newline in any form.
func validHTTP(url string) bool {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || scheme == "" || !validScheme(scheme) {
		return false
	}
	for i := range len(rest) {
		if rest[i] == '\n' {
			return false
		}
		if rest[i] == '%' {
			if c, ok := unescape(rest[i:]); !ok || c == '\n' || c == 0 {
				return false
			}
		}
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, path := rest[:end], rest[end:]
	if _, after, ok := strings.Cut(host, "@"); ok {
		host = after
	}
	return validHost(host, strings.EqualFold(scheme, "file")) && validPath(path)
}

func validScheme(s string) bool {
	for i := range len(s) {
		c := lower(s[i])
		alpha := 'a' <= c && c <= 'z'
		if !alpha && (i == 0 || !isDigit(c) && c != '+' && c != '.' && c != '-') {
			return false
		}
	}
	return true
}

func validHost(host string, file bool) bool {
	name, port := host, ""
	if at := strings.LastIndexAny(host, ":]"); at > 0 && host[at] == ':' {
		name, port = host[:at], strings.TrimLeft(host[at+1:], "0")
		if port == "" && strings.HasSuffix(host, "0") {
			return false
		}
	}
	if name == "" || name[0] == ':' {
		return file && name == ""
	}
	for i := range len(name) {
		c := lower(name[i])
		if !('a' <= c && c <= 'z') && !isDigit(c) && !strings.ContainsRune(".-_[:]", rune(c)) {
			return false
		}
	}
	n := 0
	for i := range len(port) {
		if !isDigit(port[i]) || i > 4 {
			return false
		}
		n = n*10 + int(port[i]-'0')
	}
	return n <= 65535
}

func validPath(path string) bool {
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	depth := 0
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		switch decodeURL(segment) {
		case ".":
		case "..":
			if depth--; depth < 0 {
				return false
			}
		default:
			depth++
		}
	}
	return true
}
