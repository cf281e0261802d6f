package builtin

import (
	"fmt"
	"io"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/diff"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// unmergedWords are the letters for the sides that a conflict has.
var unmergedWords = [8]string{"??", "DD", "AU", "UD", "UA", "DU", "AA", "UU"}

func (s *wtStatus) write(parts ...string) {
	for _, p := range parts {
		io.WriteString(s.out, p)
	}
}

func (s *wtStatus) eol() string {
	if s.nul {
		return "\x00"
	}
	return "\n"
}

// printShort prints the short format, which is also version 1 of the format for
// programs.
func (s *wtStatus) printShort() error {
	if s.branchHeader > 0 {
		if err := s.shortTracking(); err != nil {
			return err
		}
	}
	for _, c := range s.changes {
		if c.stages != 0 {
			s.shortPath(unmergedWords[c.stages], c.path)
			continue
		}
		s.write(letter(c.index, " "), letter(c.work, " "), " ")
		switch {
		case s.nul:
			s.write(c.path, "\x00")
			if c.renameFrom != "" {
				s.write(c.renameFrom, "\x00")
			}
		case c.renameFrom != "":
			s.write(s.quote(c.renameFrom, true), " -> ", s.quote(c.path, true), "\n")
		default:
			s.write(s.quote(c.path, true), "\n")
		}
	}
	for _, p := range s.untracked {
		s.shortPath("??", p)
	}
	for _, p := range s.ignored {
		s.shortPath("!!", p)
	}
	return nil
}

func letter(c byte, none string) string {
	if c == 0 {
		return none
	}
	return string(rune(c))
}

func (s *wtStatus) shortPath(how, path string) {
	if !s.nul {
		path = s.quote(path, true)
	}
	s.write(how, " ", path, s.eol())
}

func (s *wtStatus) shortTracking() error {
	s.write("## ")
	if s.branch == "" {
		return nil
	}
	defer s.write(s.eol())
	if s.initial {
		s.write("No commits yet on ")
	}
	if s.branch == "HEAD" {
		s.write("HEAD (no branch)")
		return nil
	}
	branch := strings.TrimPrefix(s.branch, "refs/heads/")
	s.write(branch)
	up, err := s.res.Upstream(branch)
	if err != nil {
		return nil
	}
	t, err := s.track(branch, up, s.aheadBehind != 0)
	if err != nil {
		return err
	}
	s.write("...", s.res.Shorten(up, false))
	switch {
	case t.gone:
		s.write(" [gone]")
	case t.same:
	case s.aheadBehind == 0:
		s.write(" [different]")
	case t.ahead == 0:
		s.write(fmt.Sprintf(" [behind %d]", t.behind))
	case t.behind == 0:
		s.write(fmt.Sprintf(" [ahead %d]", t.ahead))
	default:
		s.write(fmt.Sprintf(" [ahead %d, behind %d]", t.ahead, t.behind))
	}
	return nil
}

// printV2 prints version 2 of the format for programs.
func (s *wtStatus) printV2() error {
	if s.branchHeader > 0 {
		if err := s.v2Tracking(); err != nil {
			return err
		}
	}
	if s.showStash {
		if n := s.stashCount(); n > 0 {
			s.write(fmt.Sprintf("# stash %d", n), s.eol())
		}
	}
	for _, c := range s.changes {
		if c.stages == 0 {
			s.v2Change(c)
		}
	}
	for _, c := range s.changes {
		if c.stages != 0 {
			s.v2Unmerged(c)
		}
	}
	for _, p := range s.untracked {
		s.v2Other("?", p)
	}
	for _, p := range s.ignored {
		s.v2Other("!", p)
	}
	return nil
}

func (s *wtStatus) v2Other(sign, path string) {
	if !s.nul {
		path = s.quote(path, false)
	}
	s.write(sign, " ", path, s.eol())
}

func (s *wtStatus) v2Tracking() error {
	id := "(initial)"
	if !s.initial {
		id = s.commit.String()
	}
	s.write("# branch.oid ", id, s.eol())
	if s.branch == "" {
		s.write("# branch.head (unknown)", s.eol())
		return nil
	}
	if s.branch == "HEAD" {
		s.write("# branch.head (detached)", s.eol())
		return nil
	}
	branch := strings.TrimPrefix(s.branch, "refs/heads/")
	s.write("# branch.head ", branch, s.eol())
	up, err := s.res.Upstream(branch)
	if err != nil {
		return nil
	}
	s.write("# branch.upstream ", s.res.Shorten(up, false), s.eol())
	t, err := s.track(branch, up, s.aheadBehind != 0)
	switch {
	case err != nil:
		return err
	case t.gone:
	case t.same:
		s.write("# branch.ab +0 -0", s.eol())
	case s.aheadBehind == 0:
		s.write("# branch.ab +? -?", s.eol())
	default:
		s.write(fmt.Sprintf("# branch.ab +%d -%d", t.ahead, t.behind), s.eol())
	}
	return nil
}

// submoduleWord is the field of version 2 that tells of submodules.
func submoduleWord(c *wtChange) string {
	const gitlink = 0o160000
	if c.headMode&0o170000 != gitlink && c.indexMode&0o170000 != gitlink && c.workMode&0o170000 != gitlink {
		return "N..."
	}
	word := []byte("S...")
	for i, d := range [3]diff.Dirt{diff.NewCommits, diff.ModifiedContent, diff.UntrackedContent} {
		if c.dirt&d != 0 {
			word[i+1] = "CMU"[i]
		}
	}
	return string(word)
}

func (s *wtStatus) v2Change(c *wtChange) {
	if c.index == 0 {
		c.headMode, c.headID = c.indexMode, c.indexID
	}
	if c.work == 0 {
		c.workMode = c.indexMode
	}
	kind, from := "1", ""
	path := c.path
	if !s.nul {
		path = s.quote(path, false)
	}
	if c.renameFrom != "" {
		from = c.renameFrom
		sep := "\x00"
		if !s.nul {
			from, sep = s.quote(from, false), "\t"
		}
		kind, from = "2", sep+from
		path = fmt.Sprintf("%c%d %s", c.renameStatus, c.renameScore, path)
	}
	s.write(fmt.Sprintf("%s %s%s %s %06o %06o %06o %s %s ", kind, letter(c.index, "."), letter(c.work, "."), submoduleWord(c),
		c.headMode, c.indexMode, c.workMode, c.headID, c.indexID), path, from, s.eol())
}

func (s *wtStatus) v2Unmerged(c *wtChange) {
	var modes [3]uint32
	ids := [3]oid.ID{s.env.Repo.Algo.Null(), s.env.Repo.Algo.Null(), s.env.Repo.Algo.Null()}
	for i := range modes {
		if e := s.files.Index.Find(c.path, uint8(i+1)); e != nil {
			modes[i], ids[i] = e.Mode, e.ID
		}
	}
	path := c.path
	if !s.nul {
		path = s.quote(path, false)
	}
	s.write(fmt.Sprintf("u %s %s %06o %06o %06o %06o %s %s %s ", unmergedWords[c.stages], submoduleWord(c),
		modes[0], modes[1], modes[2], c.workMode, ids[0], ids[1], ids[2]), path, s.eol())
}
