package config

import (
	"errors"
	"fmt"
	"math"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// LookupEnv looks a variable up in the environment of the command.
type LookupEnv func(name string) (value string, ok bool)

// Environ returns a LookupEnv over a list of NAME=value.
func Environ(list []string) LookupEnv {
	return func(name string) (string, bool) {
		for _, kv := range list {
			if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
				return kv[len(name)+1:], true
			}
		}
		return "", false
	}
}

// Prefix stands for "%(prefix)" in paths of the configuration.
const Prefix = "/usr"

// systemFile is where git's packages keep the system's configuration.
const systemFile = "/etc/gitconfig"

// ExpandPath expands "~", "~user" and "%(prefix)" at the front of a path.
func ExpandPath(path string, env LookupEnv) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "%(prefix)/"); ok {
		return Prefix + "/" + rest, true
	}
	if !strings.HasPrefix(path, "~") {
		return path, true
	}
	name, rest := path[1:], ""
	if i := strings.IndexByte(name, '/'); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	if name == "" {
		home, ok := env("HOME")
		return home + rest, ok
	}
	u, err := user.Lookup(name)
	if err != nil {
		return "", false
	}
	return u.HomeDir + rest, true
}

// SystemFile returns the path of the system's configuration file.
func SystemFile(env LookupEnv) string {
	if path, ok := env("GIT_CONFIG_SYSTEM"); ok {
		return path
	}
	return systemFile
}

// GlobalFiles returns the paths of the user's configuration files, "" for none:
// ~/.gitconfig, or what GIT_CONFIG_GLOBAL names; and git/config of the XDG folder.
func GlobalFiles(env LookupEnv) (user, xdg string) {
	if path, ok := env("GIT_CONFIG_GLOBAL"); ok {
		return path, ""
	}
	home, ok := env("HOME")
	if ok {
		user = home + "/.gitconfig"
	}
	if dir, _ := env("XDG_CONFIG_HOME"); dir != "" {
		xdg = dir + "/git/config"
	} else if ok {
		xdg = home + "/.config/git/config"
	}
	return user, xdg
}

// envBool reads a boolean variable of the environment.
func envBool(env LookupEnv, name string) (bool, error) {
	value, ok := env(name)
	if !ok {
		return false, nil
	}
	b, ok := ParseBool(value, true)
	if !ok {
		return false, &Error{Msg: fmt.Sprintf("bad boolean environment value '%s' for '%s'", value, name)}
	}
	return b, nil
}

// fromEnvironment reads GIT_CONFIG_COUNT and then GIT_CONFIG_PARAMETERS.
func fromEnvironment(env LookupEnv) ([]Entry, error) {
	origin := &Origin{Kind: OriginCommandLine, Scope: ScopeCommand}
	var list []Entry
	if text, ok := env("GIT_CONFIG_COUNT"); ok {
		count, err := parseCount(text)
		if err != nil {
			return nil, err
		}
		for i := 0; i < count; i++ {
			n := strconv.Itoa(i)
			key, ok := env("GIT_CONFIG_KEY_" + n)
			if !ok {
				return nil, &Error{Msg: "missing config key GIT_CONFIG_KEY_" + n}
			}
			value, ok := env("GIT_CONFIG_VALUE_" + n)
			if !ok {
				return nil, &Error{Msg: "missing config value GIT_CONFIG_VALUE_" + n}
			}
			if list, err = appendPair(list, origin, key, value, true); err != nil {
				return nil, err
			}
		}
	}
	if text, ok := env("GIT_CONFIG_PARAMETERS"); ok {
		return parseParameters(list, origin, text)
	}
	return list, nil
}

func parseCount(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	digits := strings.TrimLeft(text, " \t\n\v\f\r")
	digits, negative := strings.CutPrefix(digits, "-") // strtoul(3) makes a huge number of it
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && (n > math.MaxInt32 || negative && n > 0):
		return 0, &Error{Msg: "too many entries in GIT_CONFIG_COUNT"}
	case err != nil:
		return 0, &Error{Msg: "bogus count in GIT_CONFIG_COUNT"}
	}
	return int(n), nil
}

func appendPair(list []Entry, origin *Origin, key, value string, hasValue bool) ([]Entry, error) {
	if key == "" {
		return nil, &Error{Msg: "empty config key"}
	}
	canonical, _, err := ParseKey(key)
	if err != nil {
		return nil, err
	}
	return append(list, Entry{Key: canonical, Value: value, HasValue: hasValue, Origin: origin, Line: -1}), nil
}

// parseParameters reads GIT_CONFIG_PARAMETERS: 'key'='value', 'key'= and the old 'key=value'.
func parseParameters(list []Entry, origin *Origin, text string) ([]Entry, error) {
	bogus := &Error{Msg: "bogus format in GIT_CONFIG_PARAMETERS"}
	for text != "" {
		key, rest, ok := dequote(text)
		if !ok {
			return nil, bogus
		}
		value, hasValue := "", false
		switch {
		case rest == "" || isSpace(rest[0]):
			key, value, hasValue = strings.Cut(key, "=")
			if key == "" {
				return nil, &Error{Msg: "bogus config parameter: " + key + oldRest(value, hasValue)}
			}
		case rest[0] != '=':
			return nil, bogus
		case len(rest) > 1 && rest[1] == '\'':
			value, rest, ok = dequote(rest[1:])
			if !ok || rest != "" && !isSpace(rest[0]) {
				return nil, bogus
			}
			hasValue = true
		case len(rest) == 1 || isSpace(rest[1]):
			rest = rest[1:]
		default:
			return nil, bogus
		}
		var err error
		if list, err = appendPair(list, origin, key, value, hasValue); err != nil {
			return nil, err
		}
		for rest != "" && isSpace(rest[0]) {
			rest = rest[1:]
		}
		text = rest
	}
	return list, nil
}

func oldRest(value string, hasValue bool) string {
	if hasValue {
		return "=" + value
	}
	return ""
}

// dequote reads one single-quoted word of a shell off the front of s.
func dequote(s string) (word, rest string, ok bool) {
	if s == "" || s[0] != '\'' {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; ; {
		end := strings.IndexByte(s[i:], '\'')
		if end < 0 {
			return "", "", false
		}
		b.WriteString(s[i : i+end])
		i += end + 1
		// Outside the quotes only \' and \! may stand, with a new quote after.
		if i+2 < len(s) && s[i] == '\\' && (s[i+1] == '\'' || s[i+1] == '!') && s[i+2] == '\'' {
			b.WriteByte(s[i+1])
			i += 3
			continue
		}
		return b.String(), s[i:], true
	}
}

// Quote puts s in single quotes as git does for a shell.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' || s[i] == '!' {
			b.WriteString(`'\`)
			b.WriteByte(s[i])
			b.WriteByte('\'')
			continue
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('\'')
	return b.String()
}

// AppendParameter adds what "-c text" means to a value of GIT_CONFIG_PARAMETERS.
func AppendParameter(parameters, text string) string {
	key, value, hasValue := strings.Cut(text, "=")
	return AppendPair(parameters, key, value, hasValue)
}

// AppendPair adds one key to a value of GIT_CONFIG_PARAMETERS.
func AppendPair(parameters, key, value string, hasValue bool) string {
	if parameters != "" {
		parameters += " "
	}
	parameters += Quote(key) + "="
	if hasValue {
		parameters += Quote(value)
	}
	return parameters
}

// ParseConfigEnv splits the argument of --config-env and looks its variable up.
func ParseConfigEnv(spec string, env LookupEnv) (key, value string, err error) {
	i := strings.LastIndexByte(spec, '=')
	if i < 0 {
		return "", "", &Error{Msg: "invalid config format: " + spec}
	}
	key, name := spec[:i], spec[i+1:]
	if name == "" {
		return "", "", &Error{Msg: fmt.Sprintf("missing environment variable name for configuration '%s'", key)}
	}
	value, ok := env(name)
	if !ok {
		return "", "", &Error{Msg: fmt.Sprintf("missing environment variable '%s' for configuration '%s'", name, key)}
	}
	return key, value, nil
}

// abs returns path as seen from dir.
func abs(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
