package receive

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/wire"
)

// A command is one ref update that the client asks for.
type command struct {
	old, new oid.ID
	ref      string // without the namespace
	err      string // why it is refused, as in "ng <ref> <err>"; "" if it is not
	skip     bool   // an alias of another command
	missing  bool   // the deletion of a ref that is not there
}

func (c *command) deletion() bool { return c.new.IsNull() }

// pending reports whether the command is still to be carried out.
func (c *command) pending() bool { return c.err == "" && !c.skip }

// A request is what the client sends before the pack.
type request struct {
	commands []*command
	caps     wire.Capabilities
	shallow  []oid.ID
	options  []string // push options
}

// readRequest reads commands, capabilities, shallow lines and push options. A
// client that hangs up at once asks for nothing.
func (s *server) readRequest(r *wire.Reader) (*request, error) {
	req := &request{}
	for {
		line, kind, err := r.ReadLine()
		if err == io.EOF && len(req.commands) == 0 {
			return req, nil
		}
		if err == io.EOF {
			return nil, wire.ErrHungUp
		}
		if err != nil {
			return nil, err
		}
		if kind != wire.Data {
			break
		}
		if msg, ok := bytes.CutPrefix(line, []byte("ERR ")); ok {
			return nil, &wire.RemoteError{Msg: string(msg)}
		}
		if err := s.readCommand(req, line); err != nil {
			return nil, err
		}
	}
	if len(req.commands) > 0 && req.caps.Has("push-options") && s.set.pushOptions {
		return req, readOptions(r, req)
	}
	return req, nil
}

func (s *server) readCommand(req *request, line []byte) error {
	if hex, ok := bytes.CutPrefix(line, []byte("shallow ")); ok {
		id, err := s.repo.Algo.FromHex(string(hex))
		if err != nil {
			return &wire.ProtocolError{Msg: fmt.Sprintf("expected shallow sha, got '%s'", hex)}
		}
		req.shallow = append(req.shallow, id)
		return nil
	}
	text, caps, _ := strings.Cut(string(line), "\x00")
	if caps != "" {
		req.caps = wire.ParseCapabilities(caps)
		if err := s.checkFormat(req.caps); err != nil {
			return err
		}
	}
	if text == "push-cert" {
		return &wire.ProtocolError{Msg: "got an unexpected push certificate"}
	}
	n := s.repo.Algo.HexSize()
	bad := &wire.ProtocolError{Msg: fmt.Sprintf("expected old/new/ref, got '%s'", text)}
	if len(text) < 2*n+3 || text[n] != ' ' || text[2*n+1] != ' ' {
		return bad
	}
	old, err1 := s.repo.Algo.FromHex(text[:n])
	new, err2 := s.repo.Algo.FromHex(text[n+1 : 2*n+1])
	if err1 != nil || err2 != nil {
		return bad
	}
	req.commands = append(req.commands, &command{old: old, new: new, ref: text[2*n+2:]})
	return nil
}

func (s *server) checkFormat(caps wire.Capabilities) error {
	format, ok := caps.Value("object-format")
	if !ok {
		format = "sha1"
	}
	if format != s.repo.Algo.String() {
		return fmt.Errorf("error: unsupported object format '%s'", format)
	}
	return nil
}

func readOptions(r *wire.Reader, req *request) error {
	for {
		line, kind, err := r.ReadLine()
		if err == io.EOF {
			err = wire.ErrHungUp
		}
		if err != nil || kind != wire.Data {
			return err
		}
		req.options = append(req.options, string(line))
	}
}

func (req *request) deleteOnly() bool {
	for _, c := range req.commands {
		if !c.deletion() {
			return false
		}
	}
	return true
}

// report answers the commands, in their order, over the data band if there is one.
func (s *server) report(req *request, unpack string) error {
	if !req.caps.Has("report-status") && !req.caps.Has("report-status-v2") {
		return nil
	}
	var buf bytes.Buffer
	w := wire.NewWriter(&buf)
	if unpack == "" {
		unpack = "ok"
	}
	w.Printf("unpack %s\n", unpack)
	for _, c := range req.commands {
		if c.err == "" {
			w.Printf("ok %s\n", c.ref)
		} else {
			w.Printf("ng %s %s\n", c.ref, c.err)
		}
	}
	w.End()
	if err := w.Flush(); err != nil {
		return err
	}
	var out io.Writer = s.out
	if s.mux != nil {
		out = s.mux.Band(wire.BandData)
	}
	_, err := out.Write(buf.Bytes())
	return err
}
