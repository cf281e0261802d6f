package object

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A Header is one header of a commit or tag that git does not interpret, such as
// gpgsig or mergetag. Value may have several lines; no LF at its end.
type Header struct {
	Key, Value string
}

// A CommitObject is the content of a commit.
type CommitObject struct {
	Tree      oid.ID
	Parents   []oid.ID
	Author    string // name <email> seconds zone
	Committer string
	Encoding  string   // "" for UTF-8
	Extra     []Header // in their order
	Message   []byte
}

// Append appends the bytes of the commit, as git writes them.
func (c *CommitObject) Append(dst []byte) []byte {
	dst = appendID(dst, "tree ", c.Tree)
	for _, p := range c.Parents {
		dst = appendID(dst, "parent ", p)
	}
	dst = appendLine(dst, "author ", c.Author)
	dst = appendLine(dst, "committer ", c.Committer)
	if c.Encoding != "" {
		dst = appendLine(dst, "encoding ", c.Encoding)
	}
	dst = appendHeaders(dst, c.Extra)
	dst = append(dst, '\n')
	return append(dst, c.Message...)
}

func appendID(dst []byte, key string, id oid.ID) []byte {
	dst = append(dst, key...)
	dst = id.AppendHex(dst)
	return append(dst, '\n')
}

func appendLine(dst []byte, key, value string) []byte {
	dst = append(dst, key...)
	dst = append(dst, value...)
	return append(dst, '\n')
}

func appendHeaders(dst []byte, extra []Header) []byte {
	for _, h := range extra {
		dst = append(dst, h.Key...)
		for line := range strings.SplitSeq(h.Value, "\n") {
			dst = append(dst, ' ')
			dst = append(dst, line...)
			dst = append(dst, '\n')
		}
	}
	return dst
}

// ParseCommit parses the commit that is called id. As git does, it insists on the
// tree and on well-formed parents only.
func ParseCommit(id oid.ID, data []byte) (*CommitObject, error) {
	algo := id.Algo()
	c := &CommitObject{}
	rest := data
	tree, after, ok := idLine(algo, rest, "tree ")
	if !ok || len(after) == 0 {
		if bytes.HasPrefix(rest, []byte("tree ")) && len(rest) > algo.HexSize()+6 && rest[algo.HexSize()+5] == '\n' {
			return nil, fmt.Errorf("bad tree pointer in commit %s", id)
		}
		return nil, fmt.Errorf("bogus commit object %s", id)
	}
	c.Tree, rest = tree, after
	for bytes.HasPrefix(rest, []byte("parent ")) && len(rest) > algo.HexSize()+7 {
		parent, after, ok := idLine(algo, rest, "parent ")
		if !ok || len(after) == 0 {
			return nil, fmt.Errorf("bad parents in commit %s", id)
		}
		c.Parents = append(c.Parents, parent)
		rest = after
	}
	var headers []Header
	headers, c.Message = parseHeaders(rest)
	for _, h := range headers {
		switch {
		case h.Key == "author" && c.Author == "":
			c.Author = h.Value
		case h.Key == "committer" && c.Committer == "":
			c.Committer = h.Value
		case h.Key == "encoding" && c.Encoding == "":
			c.Encoding = h.Value
		default:
			c.Extra = append(c.Extra, h)
		}
	}
	return c, nil
}

// idLine cuts "<key><hex>\n" off data.
func idLine(algo oid.Algo, data []byte, key string) (id oid.ID, rest []byte, ok bool) {
	end := len(key) + algo.HexSize()
	if len(data) <= end || string(data[:len(key)]) != key || data[end] != '\n' {
		return id, data, false
	}
	id, err := algo.FromHex(string(data[len(key):end]))
	return id, data[end+1:], err == nil
}

// parseHeaders splits headers, with their continuation lines, from the message.
func parseHeaders(data []byte) (headers []Header, message []byte) {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		if len(line) == 0 {
			return headers, data
		}
		if line[0] == ' ' && len(headers) > 0 {
			headers[len(headers)-1].Value += "\n" + string(line[1:])
			continue
		}
		key, value, _ := strings.Cut(string(line), " ")
		headers = append(headers, Header{key, value})
	}
	return headers, nil
}

// CommitTime returns the committer's seconds of a commit's bytes, 0 where it has
// none that can be read; for walks that need nothing else.
func CommitTime(data []byte) int64 {
	at := bytes.Index(data, []byte("\nauthor "))
	if at < 0 {
		return 0
	}
	data = data[at+1:]
	eol := bytes.IndexByte(data, '\n')
	if eol < 0 || !bytes.HasPrefix(data[eol+1:], []byte("committer ")) {
		return 0
	}
	data = data[eol+1:]
	if eol = bytes.IndexByte(data, '\n'); eol < 0 {
		return 0
	}
	line := data[:eol]
	gt := bytes.LastIndexByte(line, '>')
	if gt < 0 {
		return 0
	}
	line = bytes.TrimLeft(line[gt+1:], " \t")
	var sec int64
	for _, c := range line {
		if c < '0' || c > '9' {
			break
		}
		if sec > (1<<63-1-9)/10 {
			return 0
		}
		sec = sec*10 + int64(c-'0')
	}
	return sec
}
