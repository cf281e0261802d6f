package diff

import (
	"bytes"
	"slices"
)

// MaxScore is the score of files that are equal.
const MaxScore = 60000

// binaryWindow is how much of a file is searched for a NUL.
const binaryWindow = 8000

// IsBinary reports whether content is no text, as git guesses.
func IsBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryWindow)], 0) >= 0
}

// hashBase is the number of different hashes of a chunk. Part of D3.
const hashBase = 107927

// A span is how many bytes of a file are in chunks of one hash.
type span struct{ hash, count uint32 }

// spans cuts content into lines, of at most 64 bytes, and counts bytes by hash.
func spans(content []byte) []span {
	text := !IsBinary(content)
	counts := make(map[uint32]uint32, len(content)/32+1)
	var a, b, n uint32
	for i, c := range content {
		if text && c == '\r' && i+1 < len(content) && content[i+1] == '\n' {
			continue
		}
		a, b = a<<7^b>>25, b<<7^a>>25
		a += uint32(c)
		if n++; n < 64 && c != '\n' {
			continue
		}
		counts[(a+b*0x61)%hashBase] += n
		a, b, n = 0, 0, 0
	}
	if n > 0 {
		counts[(a+b*0x61)%hashBase] += n
	}
	out := make([]span, 0, len(counts))
	for h, c := range counts {
		out = append(out, span{h, c})
	}
	slices.SortFunc(out, func(x, y span) int { return int(x.hash) - int(y.hash) })
	return out
}

// copied returns how many bytes of src are still in dst.
func copied(src, dst []span) int64 {
	var sum int64
	for len(src) > 0 && len(dst) > 0 {
		switch s, d := src[0], dst[0]; {
		case d.hash < s.hash:
			dst = dst[1:]
			continue
		case d.hash == s.hash:
			sum += int64(min(s.count, d.count))
			dst = dst[1:]
		}
		src = src[1:]
	}
	return sum
}

// A blob is what rename detection keeps of one file.
type blob struct {
	size    int64
	spans   []span
	sized   bool
	counted bool
	failed  bool
}

// score returns how similar two files are, or 0 if it is less than minimum.
func (r *renamer) score(src, dst *File, s, d *blob, minimum int) int {
	if src.Mode&typeMask != modeFile || dst.Mode&typeMask != modeFile {
		return 0
	}
	if !r.measure(src, s) || !r.measure(dst, d) {
		return 0
	}
	most, least := max(s.size, d.size), min(s.size, d.size)
	if most*int64(MaxScore-minimum) < (most-least)*MaxScore {
		return 0
	}
	if !r.count(src, s) || !r.count(dst, d) || d.size == 0 {
		return 0
	}
	return int(copied(s.spans, d.spans) * MaxScore / most)
}

// measure finds the size of a file.
func (r *renamer) measure(f *File, b *blob) bool {
	if b.sized || b.failed {
		return !b.failed
	}
	if f.ID.IsNull() {
		return r.count(f, b)
	}
	_, size, err := r.db.Info(f.ID)
	b.size, b.sized, b.failed = size, true, err != nil
	return err == nil
}

func (r *renamer) count(f *File, b *blob) bool {
	if b.counted || b.failed {
		return !b.failed
	}
	content, err := r.Content(*f)
	if err != nil {
		b.failed = true
		return false
	}
	b.size, b.sized, b.counted = int64(len(content)), true, true
	b.spans = spans(content)
	return true
}
