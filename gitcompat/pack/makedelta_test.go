package pack

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestMakeDelta(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	base := noise(200 << 10)
	changed := bytes.Clone(base)
	for range 50 {
		changed[rnd.IntN(len(changed))]++
	}
	moved := append(bytes.Clone(base[100<<10:]), base[:100<<10]...)
	grown := append(append(bytes.Clone(base[:1000]), "something new"...), base[1000:]...)
	for _, test := range []struct {
		name         string
		base, target []byte
		most         int
	}{
		{"same", base, base, 100},
		{"changed", base, changed, 3000},
		{"moved", base, moved, 200},
		{"grown", base, grown, 200},
		{"empty", base, nil, 20},
		{"from nothing", nil, base[:1000], 1100},
		{"from little", base[:10], base[:1000], 1100},
		{"zeros", make([]byte, 1<<20), make([]byte, 1<<20), 300},
		{"zeros from few", make([]byte, 100), make([]byte, 1<<10), 1100},
		{"text", bytes.Repeat([]byte("one line\nanother line\n"), 100), bytes.Repeat([]byte("another line\none line\n"), 100), 200},
	} {
		x := newDeltaIndex(nil, test.base)
		delta := x.make(nil, test.target, 1<<30)
		got, err := applyDelta(nil, test.base, delta)
		if err != nil || !bytes.Equal(got, test.target) {
			t.Errorf("%s: wrong delta: %v", test.name, err)
		}
		if len(delta) > test.most {
			t.Errorf("%s: %d bytes, want at most %d", test.name, len(delta), test.most)
		}
		if again := newDeltaIndex(x, test.base).make(nil, test.target, len(delta)-1); again != nil {
			t.Errorf("%s: longer than its limit", test.name)
		}
	}
}

func FuzzMakeDelta(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), []byte("x0123456789abcdef0123456789abcdefy"))
	f.Add(make([]byte, 100), make([]byte, 300))
	f.Fuzz(func(t *testing.T, base, target []byte) {
		delta := newDeltaIndex(nil, base).make(nil, target, 1<<30)
		if got, err := applyDelta(nil, base, delta); err != nil || !bytes.Equal(got, target) {
			t.Errorf("%v: %x", err, delta)
		}
	})
}
