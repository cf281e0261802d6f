package revision

import (
	"errors"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// FuzzNames resolves anything.
func FuzzNames(f *testing.F) {
	for _, n := range names {
		f.Add(n)
	}
	for _, n := range []string{"^", "..", "...", "a..", "..b", "@{", "@{-1", "@{-0}", "@{99999999999}", "HEAD@{0x10}", ":3:", ":/", "^{/}", "HEAD^{/(}", "HEAD~99999999999", "x^-0", "@{u}@{u}"} {
		f.Add(n)
	}
	s := newStock(f)
	s.script(history)
	repository := s.open()
	f.Fuzz(func(t *testing.T, name string) {
		r := New(repository)
		_, err := r.Resolve(name, Any)
		if err != nil && errors.Is(err, ErrUnknown) && err.Error() == "" {
			t.Error("an error without words")
		}
		_, _ = r.Arg(name, ArgOptions{NotFile: true})
		_ = r.Explain(name)
	})
}

// FuzzHeader reads any commit.
func FuzzHeader(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nm"))
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent 4b"))
	f.Add([]byte("\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		h, err := scanHeader(oid.SHA1, body)
		if err == nil && len(h.parents) > len(body)/48 {
			t.Errorf("%d parents in %d bytes", len(h.parents), len(body))
		}
		tagTarget(oid.SHA1, body)
		headerLine(body, "tag ")
		subject(body)
	})
}
