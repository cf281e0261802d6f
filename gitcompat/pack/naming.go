package pack

import (
	"sync"

	"github.com/sluicegit/sluice/gitcompat/object"
)

const (
	batchJobs  = 64
	batchBytes = 256 << 10
	inlineSize = 4 << 20 // objects from here on are named at once, so that few are in memory
)

type job struct {
	n    int
	typ  object.Type
	data []byte
}

// naming computes the names of whole objects beside the goroutine that inflates
// them, a batch at a time. Its rows' names are set when wait returns.
type naming struct {
	x     *indexer
	own   *namer
	batch *jobs
	work  chan *jobs
	spare chan *jobs
	wg    sync.WaitGroup
}

// jobs is a batch. The objects of it are in one buffer, which is used again.
type jobs struct {
	list []named
	buf  []byte
}

type named struct {
	job
	raw []byte // where the name goes
}

func (x *indexer) startNaming() *naming {
	m := &naming{x: x, own: newNamer(x.o.Algo)}
	if x.o.Threads < 2 {
		return m
	}
	m.work = make(chan *jobs, x.o.Threads)
	m.spare = make(chan *jobs, 2*x.o.Threads+1)
	for range x.o.Threads - 1 {
		m.wg.Go(m.worker)
	}
	return m
}

func (m *naming) worker() {
	own := newNamer(m.x.o.Algo)
	for b := range m.work {
		if m.x.failed() == nil {
			for _, j := range b.list {
				if err := m.do(own, j); err != nil {
					m.x.fail(err)
					break
				}
			}
		}
		b.list, b.buf = b.list[:0], b.buf[:0]
		select {
		case m.spare <- b:
		default:
		}
	}
}

func (m *naming) do(own *namer, j named) error {
	copy(j.raw, own.of(j.typ, j.data))
	return m.x.accept(m.x.o.Algo.FromBytes(j.raw), j.typ, j.data)
}

// buffer returns room for an object that will be given to add next.
func (m *naming) buffer(size uint64) []byte {
	if size >= inlineSize || m.work == nil {
		if size < inlineSize {
			if m.batch == nil {
				m.batch = &jobs{buf: make([]byte, 0, inlineSize)}
			}
			return m.batch.buf[:0]
		}
		return nil
	}
	if b := m.batch; b != nil && uint64(cap(b.buf)-len(b.buf)) < size {
		m.send()
	}
	if m.batch == nil {
		select {
		case m.batch = <-m.spare:
		default:
			m.batch = &jobs{buf: make([]byte, 0, batchBytes)}
		}
	}
	b := m.batch
	if uint64(cap(b.buf)) < size {
		b.buf = make([]byte, 0, size)
	}
	return b.buf[len(b.buf):]
}

func (m *naming) add(j job) error {
	named := named{j, m.x.t.raw(j.n)}
	if m.work == nil || len(j.data) >= inlineSize {
		return m.do(m.own, named)
	}
	b := m.batch
	b.buf = b.buf[:len(b.buf)+len(j.data)]
	b.list = append(b.list, named)
	if len(b.list) >= batchJobs || len(b.buf) >= batchBytes {
		m.send()
	}
	return nil
}

func (m *naming) send() {
	if m.batch != nil && len(m.batch.list) > 0 {
		m.work <- m.batch
		m.batch = nil
	}
}

// wait ends the workers.
func (m *naming) wait() error {
	if m.work != nil {
		m.send()
		close(m.work)
		m.wg.Wait()
	}
	return m.x.failed()
}
