package oid

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		algo       Algo
		blob, tree string
		size       int
		name       string
	}{
		{SHA1, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", 20, "sha1"},
		{SHA256, "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321", 32, "sha256"},
	} {
		if c.algo.EmptyBlob().String() != c.blob || c.algo.EmptyTree().String() != c.tree || c.algo.Size() != c.size || c.algo.String() != c.name {
			t.Errorf("%s: %s %s", c.algo, c.algo.EmptyBlob(), c.algo.EmptyTree())
		}
		id, err := c.algo.FromHex(strings.ToUpper(c.blob))
		if err != nil || id != c.algo.EmptyBlob() || id.Algo() != c.algo {
			t.Error(id, err)
		}
		if back := c.algo.FromBytes(id.Append(nil)); back != id || string(id.AppendHex(nil)) != c.blob {
			t.Error(back)
		}
		if a, ok := ParseAlgo(c.name); !ok || a != c.algo {
			t.Error(a, ok)
		}
		for _, bad := range []string{"", "zz", c.blob + "0", "g" + c.blob[1:]} {
			if _, err := c.algo.FromHex(bad); err == nil {
				t.Errorf("%q is taken", bad)
			}
		}
	}
	// O2: the zero value is SHA-1's null name.
	if (ID{}) != SHA1.Null() || !SHA256.Null().IsNull() || SHA1.Null() == SHA256.Null() {
		t.Error("null names")
	}
	if a, b := SHA1.EmptyTree(), SHA1.EmptyBlob(); a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 {
		t.Error("order")
	}
}

func FuzzFromHex(f *testing.F) {
	f.Add("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := SHA1.FromHex(s); err == nil && id.String() != strings.ToLower(s) {
			t.Error(s)
		}
	})
}
