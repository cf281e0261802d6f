package refs

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// BenchmarkCreate makes 10,000 branches in one transaction; its twin is git's
// update-ref --stdin.
func BenchmarkCreate(b *testing.B) {
	f := benchFixture(b)
	for n := 0; b.Loop(); n++ {
		changes := make([]Change, 10000)
		for i := range changes {
			changes[i] = Change{Name: fmt.Sprintf("refs/heads/b%d-%05d", n, i), New: OID(f.c[0])}
		}
		if err := f.change(changes...); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		os.RemoveAll(f.path("refs/heads"))
		os.RemoveAll(f.path("logs"))
		os.Mkdir(f.path("refs/heads"), 0o777)
		b.StartTimer()
	}
}

func BenchmarkGitCreate(b *testing.B) {
	f := benchFixture(b)
	for n := 0; b.Loop(); n++ {
		var in strings.Builder
		for i := range 10000 {
			fmt.Fprintf(&in, "update refs/heads/b%d-%05d %s\n", n, i, f.c[0])
		}
		f.run(in.String(), "update-ref", "--stdin")
		b.StopTimer()
		os.RemoveAll(f.path("refs/heads"))
		os.RemoveAll(f.path("logs"))
		os.Mkdir(f.path("refs/heads"), 0o777)
		b.StartTimer()
	}
}

func benchFixture(b *testing.B) *fixture {
	f := newFixture(b)
	return f
}
