package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		kind Kind
		data string
		err  string
	}{
		{"0006a\n", Data, "a\n", ""},
		{"0000", Flush, "", ""},
		{"0001", Delim, "", ""},
		{"0002", ResponseEnd, "", ""},
		{"0004", Data, "", ""},
		{"000Aabcdef", Data, "abcdef", ""},
		{"", 0, "", "EOF"},
		{"00", 0, "", ErrHungUp.Error()},
		{"0009ab", 0, "", ErrHungUp.Error()},
		{"zzzz", 0, "", "protocol error: bad line length character: zzzz"},
		{"0003", 0, "", "protocol error: bad line length 3"},
		{"fff1", 0, "", "protocol error: bad line length 65521"},
	} {
		data, kind, err := NewReader(strings.NewReader(c.in)).Read()
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if string(data) != c.data || kind != c.kind || msg != c.err {
			t.Errorf("%q: %q %v %q", c.in, data, kind, msg)
		}
	}
}

// TestSideband sends three bands through a Mux and reads them back (W1: a write
// longer than a packet is split).
func TestSideband(t *testing.T) {
	t.Parallel()
	var wire, progress bytes.Buffer
	mux := NewMux(NewWriter(&wire))
	long := bytes.Repeat([]byte("x"), 3*MaxData)
	mux.Band(BandData).Write(long)
	io.WriteString(mux.Band(BandProgress), "half a ")
	io.WriteString(mux.Band(BandProgress), "line\nand the rest")
	if err := mux.KeepAlive(); err != nil {
		t.Fatal(err)
	}
	if err := mux.End(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(NewDemux(NewReader(&wire), &progress))
	if err != nil || !bytes.Equal(got, long) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if want := "remote: half a line        \nremote: and the rest\n"; progress.String() != want {
		t.Errorf("progress %q", progress.String())
	}
}

func TestDemux_fatal(t *testing.T) {
	t.Parallel()
	_, err := io.ReadAll(NewDemux(NewReader(strings.NewReader("0009\x03boo\n")), nil))
	var remote *RemoteError
	if !errors.As(err, &remote) || remote.Msg != "boo" {
		t.Error(err)
	}
	if _, err := io.ReadAll(NewDemux(NewReader(strings.NewReader("0009\x01boo\n")), nil)); err != ErrHungUp {
		t.Error(err)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"0006a\n0000", "0004", "fff0", "00010002", "0009\x02boo\n0000"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in))
		for {
			data, _, err := r.Read()
			if err != nil {
				break
			}
			if len(data) > MaxData {
				t.Fatal("W1")
			}
		}
		io.Copy(io.Discard, NewDemux(NewReader(bytes.NewReader(in)), io.Discard))
	})
}
