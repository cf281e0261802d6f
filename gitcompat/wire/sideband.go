package wire

import (
	"bytes"
	"io"
	"sync"
)

// Bands of side-band-64k.
const (
	BandData     = 1
	BandProgress = 2
	BandFatal    = 3
)

// A Mux sends several streams over one, packet by packet. Safe for concurrent use.
type Mux struct {
	mu sync.Mutex
	w  *Writer
}

// NewMux returns a Mux over w.
func NewMux(w *Writer) *Mux { return &Mux{w: w} }

// Band returns a writer of one band. Each Write goes out at once.
func (m *Mux) Band(band byte) io.Writer { return &bandWriter{m, band} }

// End sends the flush packet after the last of all bands.
func (m *Mux) End() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.w.End()
	return m.w.Flush()
}

// KeepAlive sends an empty packet of the data band.
func (m *Mux) KeepAlive() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.w.Packet([]byte{BandData})
	return m.w.Flush()
}

type bandWriter struct {
	m    *Mux
	band byte
}

func (b *bandWriter) Write(p []byte) (int, error) {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	buf := make([]byte, 0, min(len(p), MaxData-1)+1)
	for rest := p; len(rest) > 0; {
		n := min(len(rest), MaxData-1)
		buf = append(append(buf[:0], b.band), rest[:n]...)
		b.m.w.Packet(buf)
		rest = rest[n:]
	}
	if err := b.m.w.Flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A Demux reads the data band of a multiplexed stream, and copies what comes on
// the progress band, line by line with "remote: " before it, to progress.
type Demux struct {
	r        *Reader
	progress *progress
	data     []byte
	err      error
}

// NewDemux returns a Demux of r. progress may be nil.
func NewDemux(r *Reader, w io.Writer) *Demux {
	return &Demux{r: r, progress: &progress{w: w}}
}

// Read reads from the data band, until the flush packet.
func (d *Demux) Read(p []byte) (int, error) {
	for len(d.data) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.err = d.next()
	}
	n := copy(p, d.data)
	d.data = d.data[n:]
	return n, nil
}

func (d *Demux) next() error {
	data, kind, err := d.r.Read()
	switch {
	case err == io.EOF:
		err = ErrHungUp
		fallthrough
	case err != nil:
		d.progress.flush()
		return err
	case kind != Data:
		d.progress.flush()
		return io.EOF
	case len(data) == 0:
		return &ProtocolError{"no band designator"}
	}
	switch data[0] {
	case BandData:
		d.data = data[1:]
	case BandProgress:
		d.progress.add(data[1:])
	case BandFatal:
		d.progress.flush()
		return &RemoteError{string(bytes.TrimRight(data[1:], "\n"))}
	default:
		return &ProtocolError{"bad band #" + string('0'+rune(data[0]%10))}
	}
	return nil
}

// progress prints complete lines with git's prefix; blanks at the end overwrite
// what a terminal shows from before (sideband.c).
type progress struct {
	w    io.Writer
	part []byte
}

func (p *progress) add(data []byte) {
	if p.w == nil {
		return
	}
	var out []byte
	for len(data) > 0 {
		i := bytes.IndexAny(data, "\r\n")
		if i < 0 {
			p.part = append(p.part, data...)
			break
		}
		line := append(p.part, data[:i]...)
		if len(line) > 0 {
			out = append(append(append(out, "remote: "...), line...), "        "...)
		} else {
			out = append(out, "remote: "...)
			out = append(out, "        "...)
		}
		out = append(out, data[i])
		p.part = p.part[:0]
		data = data[i+1:]
	}
	if len(out) > 0 {
		p.w.Write(out)
	}
}

func (p *progress) flush() {
	if p.w != nil && len(p.part) > 0 {
		p.w.Write(append(append([]byte("remote: "), p.part...), '\n'))
		p.part = nil
	}
}
