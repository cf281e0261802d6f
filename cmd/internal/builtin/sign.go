package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/ident"
)

// foreignSigning names the way of signing that only real git knows, or "".
func foreignSigning(env *Env) string {
	switch v, _ := env.Config.Get("gpg.format"); v {
	case "", "openpgp", "x509":
		return ""
	default:
		return "gpg.format=" + v
	}
}

// signBuffer has the configured program sign data, and returns the signature.
// key is "" for the one that the configuration, or the committer, stands for.
func signBuffer(env *Env, data []byte, key string) ([]byte, error) {
	program, format := "gpg", "openpgp"
	if v, _ := env.Config.Get("gpg.format"); v == "x509" {
		program, format = "gpgsm", v
	}
	if v, ok, err := env.Config.Path("gpg." + format + ".program"); err != nil {
		return nil, err
	} else if ok {
		program = v
	} else if v, ok, err := env.Config.Path("gpg.program"); err == nil && ok && format == "openpgp" {
		program = v
	}
	key, err := signingKey(env, key)
	if err != nil {
		return nil, err
	}
	if err := env.Flush(); err != nil {
		return nil, err
	}
	var signature, status bytes.Buffer
	cmd := exec.Command(program, "--status-fd=2", "-bsau", key)
	cmd.Dir, cmd.Env = env.Repo.Dir, env.Environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), &signature, &status
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		env.Error(fmt.Errorf("cannot run %s: %s", program, ErrnoText(err)))
	}
	created := strings.Contains("\n"+status.String(), "\n[GNUPG:] SIG_CREATED ")
	if err != nil || !created {
		text := status.String()
		if text == "" {
			text = "(no gpg output)"
		}
		return nil, fmt.Errorf("gpg failed to sign the data:\n%s", text)
	}
	return bytes.ReplaceAll(signature.Bytes(), []byte("\r\n"), []byte{'\n'}), nil
}

// signingKey is the key to sign with, where key does not say.
func signingKey(env *Env, key string) (string, error) {
	if key != "" {
		return key, nil
	}
	if v, ok, err := env.Config.String("user.signingkey"); ok || err != nil {
		return v, err
	}
	source, err := env.Repo.Ident()
	if err != nil {
		return "", err
	}
	who, err := source.Get(ident.Committer, true)
	return who.Name + " <" + who.Email + ">", err
}

// signCommit puts a signature into the header of a commit.
func signCommit(env *Env, commit []byte, key string) ([]byte, error) {
	signature, err := signBuffer(env, commit, key)
	if err != nil {
		return nil, err
	}
	header := "gpgsig"
	if env.Repo.Algo.Size() != 20 {
		header = "gpgsig-sha256"
	}
	at := bytes.Index(commit, []byte("\n\n")) + 1
	out := append(make([]byte, 0, len(commit)+len(signature)+200), commit[:at]...)
	out = append(out, header...)
	for _, line := range bytes.Split(bytes.TrimSuffix(signature, []byte{'\n'}), []byte{'\n'}) {
		out = append(append(append(out, ' '), line...), '\n')
	}
	return append(out, commit[at:]...), nil
}
