// Package wire speaks git's pkt-line framing and what is built on it: side-band
// multiplexing and capability lists.
//
// Source: pkt-line.c, sideband.c of git 2.55; gitprotocol-common(5), gitprotocol-pack(5).
//
// Invariants:
//
//	W1  no length from the wire is trusted: a packet holds at most MaxData bytes,
//	    and memory for it is bounded by that.
//	W2  a Reader never reads past the packet it returns, as seen by Rest.
package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxData is the largest payload of a packet in bytes (LARGE_PACKET_DATA_MAX).
const MaxData = 65516

// A Kind tells a packet with data from the special ones.
type Kind uint8

// Kinds of packets.
const (
	Data Kind = iota
	Flush
	Delim
	ResponseEnd
)

// ErrHungUp says that the stream ended where a packet had to come.
var ErrHungUp = errors.New("the remote end hung up unexpectedly")

// A ProtocolError is a broken framing, in git's words.
type ProtocolError struct{ Msg string }

// Error returns git's message.
func (e *ProtocolError) Error() string { return "protocol error: " + e.Msg }

// A RemoteError is an ERR packet.
type RemoteError struct{ Msg string }

// Error returns git's message.
func (e *RemoteError) Error() string { return "remote error: " + e.Msg }

// A Reader reads packets.
type Reader struct {
	r   *bufio.Reader
	buf []byte
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 65536)}
}

// Rest returns what follows the packets read so far, such as a pack.
func (r *Reader) Rest() *bufio.Reader { return r.r }

// Read returns the next packet. Its data is valid until the next call. At the
// end of the stream before a packet it returns io.EOF, within one ErrHungUp.
func (r *Reader) Read() ([]byte, Kind, error) {
	var head [4]byte
	if n, err := io.ReadFull(r.r, head[:]); err != nil {
		if n == 0 && err == io.EOF {
			return nil, 0, io.EOF
		}
		return nil, 0, hungUp(err)
	}
	size, ok := hexLength(head)
	switch {
	case !ok:
		return nil, 0, &ProtocolError{fmt.Sprintf("bad line length character: %.4s", head[:])}
	case size == 0:
		return nil, Flush, nil
	case size == 1:
		return nil, Delim, nil
	case size == 2:
		return nil, ResponseEnd, nil
	case size < 4 || size-4 > MaxData:
		return nil, 0, &ProtocolError{fmt.Sprintf("bad line length %d", size)}
	}
	if r.buf == nil {
		r.buf = make([]byte, MaxData)
	}
	data := r.buf[:size-4]
	if _, err := io.ReadFull(r.r, data); err != nil {
		return nil, 0, hungUp(err)
	}
	return data, Data, nil
}

// ReadLine is Read without a line feed at the end of the data.
func (r *Reader) ReadLine() ([]byte, Kind, error) {
	data, kind, err := r.Read()
	if n := len(data); n > 0 && data[n-1] == '\n' {
		data = data[:n-1]
	}
	return data, kind, err
}

func hungUp(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return ErrHungUp
	}
	return err
}

func hexLength(head [4]byte) (int, bool) {
	n := 0
	for _, c := range head {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | int(c-'0')
		case 'a' <= c && c <= 'f':
			n = n<<4 | int(c-'a'+10)
		case 'A' <= c && c <= 'F':
			n = n<<4 | int(c-'A'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// A Writer writes packets. Errors stick, so that only Flush need be checked.
type Writer struct {
	w   *bufio.Writer
	err error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 65536)} }

// Packet writes one packet with data, which is at most MaxData bytes.
func (w *Writer) Packet(data []byte) {
	if len(data) > MaxData {
		w.fail(&ProtocolError{fmt.Sprintf("packet of %d bytes is too long", len(data))})
		return
	}
	w.head(len(data) + 4)
	_, err := w.w.Write(data)
	w.fail(err)
}

// Printf writes one packet with formatted data.
func (w *Writer) Printf(format string, args ...any) {
	w.Packet(fmt.Appendf(nil, format, args...))
}

// End writes a flush packet. It does not empty the buffer.
func (w *Writer) End() { w.head(0) }

const hexDigits = "0123456789abcdef"

func (w *Writer) head(n int) {
	_, err := w.w.Write([]byte{hexDigits[n>>12&15], hexDigits[n>>8&15], hexDigits[n>>4&15], hexDigits[n&15]})
	w.fail(err)
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Flush empties the buffer and returns the first error so far.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// Raw empties the buffer and returns the stream below it, for a pack.
func (w *Writer) Raw() (io.Writer, error) { return w.w, w.Flush() }
