package worktree

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

const packetMax = 65516

// filterPool holds the long-running filters, by their command.
type filterPool struct {
	mu    sync.Mutex // one exchange at a time
	procs map[string]*filterProcess
}

// filterProcess speaks version 2 of gitattributes(5)'s long running filter
// process protocol.
type filterProcess struct {
	command string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	caps    filterCap
}

func (p *filterPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.procs {
		f.in.Close()
		f.cmd.Wait()
	}
	p.procs = nil
}

// apply filters one file.
func (p *filterPool) apply(c *Converter, command string, k filterCap, path string, r io.Reader, o ConvertOptions) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.procs[command]
	if f == nil {
		var err error
		if f, err = startFilter(c, command, o); err != nil {
			return nil, false
		}
		if p.procs == nil {
			p.procs = map[string]*filterProcess{}
		}
		p.procs[command] = f
	}
	if f.caps&k == 0 {
		return nil, false
	}
	out, status, err := f.exchange(k, path, r)
	switch {
	case err == nil && status == "success":
		return out, true
	case err == nil && status == "error":
	case err == nil && status == "abort":
		f.caps &^= k
	default:
		// It lost the thread: another one is started for the next file.
		o.report("error: external filter '%s' failed", command)
		f.stop()
		delete(p.procs, command)
	}
	return nil, false
}

func startFilter(c *Converter, command string, o ConvertOptions) (*filterProcess, error) {
	f := &filterProcess{command: command, cmd: c.shell(command)}
	in, out, err := f.start()
	if err != nil {
		o.report("error: cannot run %s: %s", command, errnoText(startErrno(err)))
		o.report("error: cannot fork to run subprocess '%s'", command)
		return nil, err
	}
	f.in, f.out = in, bufio.NewReaderSize(out, packetMax+4)
	if err := f.handshake(); err != nil {
		o.report("error: %s", err)
		o.report("error: initialization for subprocess '%s' failed", command)
		f.stop()
		return nil, err
	}
	return f, nil
}

func (f *filterProcess) start() (io.WriteCloser, io.ReadCloser, error) {
	in, err := f.cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	return in, out, f.cmd.Start()
}

func (f *filterProcess) stop() {
	f.cmd.Process.Signal(syscall.SIGTERM)
	f.in.Close()
	f.cmd.Wait()
}

func (f *filterProcess) handshake() error {
	if err := f.send("git-filter-client", "version=2"); err != nil {
		return errors.New("Could not write client identification")
	}
	line, ok, err := f.line()
	if err != nil {
		return fmt.Errorf("could not read greeting from subprocess '%s'", f.command)
	}
	if line != "git-filter-server" {
		return fmt.Errorf("Unexpected line '%s', expected git-filter-server", shownLine(line, ok))
	}
	if line, ok, err = f.line(); err != nil {
		return fmt.Errorf("could not read version from subprocess '%s'", f.command)
	}
	v, found := strings.CutPrefix(line, "version=")
	n, nerr := strconv.Atoi(v)
	if !found || nerr != nil {
		return fmt.Errorf("Unexpected line '%s', expected version", shownLine(line, ok))
	}
	if line, ok, err = f.line(); err != nil {
		return fmt.Errorf("could not read version flush from subprocess '%s'", f.command)
	}
	if ok {
		return fmt.Errorf("Unexpected line '%s', expected flush", line)
	}
	if n != 2 {
		return fmt.Errorf("Version %d not supported", n)
	}
	if err := f.send("capability=clean", "capability=smudge", "capability=delay"); err != nil {
		return errors.New("Could not write requested capability")
	}
	for {
		line, ok, err := f.line()
		if err != nil {
			return fmt.Errorf("could not read capabilities from subprocess '%s'", f.command)
		}
		if !ok {
			return nil
		}
		switch v, _ := strings.CutPrefix(line, "capability="); v {
		case "clean":
			f.caps |= capClean
		case "smudge":
			f.caps |= capSmudge
		case "delay":
			f.caps |= capDelay
		}
	}
}

func shownLine(line string, ok bool) string {
	if !ok {
		return "<flush packet>"
	}
	return line
}

// exchange sends one file and reads what became of it.
func (f *filterProcess) exchange(k filterCap, path string, r io.Reader) ([]byte, string, error) {
	if len(path) > packetMax-len("pathname=\n") {
		return nil, "", errors.New("path name too long for external filter")
	}
	if err := f.send("command="+k.String(), "pathname="+path); err != nil {
		return nil, "", err
	}
	if err := f.sendContent(r); err != nil {
		return nil, "", err
	}
	status, err := f.status("")
	if err != nil || status != "success" {
		return nil, status, err
	}
	var out []byte
	for {
		data, ok, err := f.packet()
		if err != nil {
			return nil, "", err
		}
		if !ok {
			break
		}
		out = append(out, data...)
	}
	status, err = f.status(status)
	return out, status, err
}

// status reads "status=" lines up to a flush; the last one wins, and none
// leaves what was.
func (f *filterProcess) status(was string) (string, error) {
	for {
		line, ok, err := f.line()
		if err != nil || !ok {
			return was, err
		}
		if v, found := strings.CutPrefix(line, "status="); found {
			was = v
		}
	}
}

// send writes lines and a flush packet.
func (f *filterProcess) send(lines ...string) error {
	var b []byte
	for _, l := range lines {
		b = fmt.Appendf(b, "%04x%s\n", len(l)+5, l)
	}
	_, err := f.in.Write(append(b, "0000"...))
	return err
}

func (f *filterProcess) sendContent(r io.Reader) error {
	buf := make([]byte, 4+packetMax)
	for {
		n, err := io.ReadFull(r, buf[4:])
		if n > 0 {
			copy(buf, fmt.Sprintf("%04x", n+4))
			if _, err := f.in.Write(buf[:4+n]); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			_, err := f.in.Write([]byte("0000"))
			return err
		}
		if err != nil {
			return err
		}
	}
}

// packet reads one packet; ok is false for a flush.
func (f *filterProcess) packet() (data []byte, ok bool, err error) {
	var head [4]byte
	if _, err := io.ReadFull(f.out, head[:]); err != nil {
		return nil, false, err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	if err != nil || n > 0 && n < 4 {
		return nil, false, fmt.Errorf("protocol error: bad line length character: %s", head[:])
	}
	if n == 0 {
		return nil, false, nil
	}
	data = make([]byte, n-4)
	_, err = io.ReadFull(f.out, data)
	return data, true, err
}

func (f *filterProcess) line() (string, bool, error) {
	data, ok, err := f.packet()
	return strings.TrimSuffix(string(data), "\n"), ok, err
}
