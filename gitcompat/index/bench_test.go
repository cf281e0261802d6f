package index

import (
	"fmt"
	"io"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// manyEntries is an index of n entries of 104 bytes each on disk.
func manyEntries(n int) *Index {
	x := New(oid.SHA1, Options{})
	block := make([]Entry, n)
	for i := range block {
		e := &block[i]
		e.Name = fmt.Sprintf("directory%04d/subdir%02d/file%07d.go", i/1000, i/100%10, i)
		e.Mode, e.ID = ModeFile, oid.SHA1.EmptyBlob()
		e.Stat = Stat{MTimeSec: uint32(i), Ino: uint32(i), Size: uint32(i)}
		x.Entries = append(x.Entries, e)
	}
	return x
}

func BenchmarkEncodeMillion(b *testing.B) {
	x := manyEntries(1000000)
	for b.Loop() {
		if err := x.Encode(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseMillion(b *testing.B) {
	var buf sink
	x := manyEntries(1000000)
	if err := x.Encode(&buf); err != nil {
		b.Fatal(err)
	}
	x = nil
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(buf, oid.SHA1, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

type sink []byte

func (w *sink) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

func BenchmarkAddSorted(b *testing.B) {
	src := manyEntries(10000)
	for b.Loop() {
		x := New(oid.SHA1, Options{})
		for _, e := range src.Entries {
			if err := x.Add(e, OKToAdd); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkAddReversed(b *testing.B) {
	src := manyEntries(10000)
	for b.Loop() {
		x := New(oid.SHA1, Options{})
		for i := len(src.Entries) - 1; i >= 0; i-- {
			if err := x.Add(src.Entries[i], OKToAdd); err != nil {
				b.Fatal(err)
			}
		}
	}
}
