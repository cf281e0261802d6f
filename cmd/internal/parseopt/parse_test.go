package parseopt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// vars are the variables of the table that the tests parse with.
type vars struct {
	yes, dry             bool
	count, mode, verbose int
	bits                 uint8
	num                  int
	small                int16
	size                 uint16
	abbrev               int
	text                 *string
	when, file           string
	list                 []string
	seen                 []string
}

func (v *vars) parser(flags Flags) *Parser {
	return &Parser{
		Flags:  flags,
		Prefix: "sub/",
		Usage:  []string{"git x [<options>]\n      [more]", "git x --other", "", "Some text."},
		Options: append([]Option{
			Bool('y', "yes", &v.yes, "say yes"),
			Bool(0, "no-color", new(bool), "without colour"),
			CountUp('c', "count", &v.count, "count"),
			Bit('4', "four", &v.bits, "bit 4", 4),
			NegBit(0, "not-four", &v.bits, "no bit 4", 4),
			Group("Values"),
			Integer('i', "integer", &v.num, "a number"),
			Integer(0, "small", &v.small, "a small number"),
			Unsigned('u', "size", &v.size, "a size"),
			StringP('m', "message", &v.text, "message", "the message,\non two lines"),
			String('w', "when", &v.when, "when", "optional").OptArg("always"),
			String(0, "contains", &v.when, "commit", "last").LastArgDefault("HEAD"),
			Filename('F', "file", &v.file, "a file"),
			StringList('o', "option", &v.list, "a|b", "many"),
			Abbrev(&v.abbrev),
			OptCallback('S', "sign", "key", "sign", func(a Arg) error {
				v.seen = append(v.seen, fmt.Sprintf("%q %v %v", a.Value, a.Given, a.Unset))
				if a.Value == "bad" {
					return errors.New("bad key")
				}
				return nil
			}),
			CmdMode(0, "delete", &v.mode, "delete", 1),
			CmdMode(0, "list", &v.mode, "list", 2),
			Group(""),
			Number("a count", func(s string) error { v.seen = append(v.seen, "-"+s); return nil }),
			CountUp('+', "", &v.count, "like -c").NoDash(),
			Noop(0, "old"),
			NotNative(0, "far", "x", "not here"),
			NotNative('N', "near", "", "not here"),
			Alias(0, "memo", "message"),
		}, Verbosity(&v.verbose)...),
	}
}

func (v *vars) String() string {
	var b strings.Builder
	add := func(name string, set bool, value any) {
		if set {
			fmt.Fprintf(&b, "%s=%v ", name, value)
		}
	}
	add("yes", v.yes, v.yes)
	add("count", v.count != 0, v.count)
	add("bits", v.bits != 0, v.bits)
	add("num", v.num != 0, v.num)
	add("small", v.small != 0, v.small)
	add("size", v.size != 0, v.size)
	add("abbrev", v.abbrev != 0, v.abbrev)
	if v.text != nil {
		add("text", true, strconv.Quote(*v.text))
	}
	add("when", v.when != "", v.when)
	add("file", v.file != "", v.file)
	add("list", v.list != nil, v.list)
	add("mode", v.mode != 0, v.mode)
	add("verbose", v.verbose != 0, v.verbose)
	add("seen", v.seen != nil, v.seen)
	return strings.TrimSpace(b.String())
}

// outcome is what a parse came to, in one line.
func outcome(v *vars, flags Flags, argv []string) string {
	rest, err := v.parser(flags).Parse(argv)
	var usage *UsageError
	var answer *Answer
	switch {
	case errors.As(err, &answer):
		return fmt.Sprintf("answer %d", answer.Status)
	case errors.As(err, &usage) && usage.ShowUsage:
		return "usage: " + usage.Msg
	case err != nil:
		return "error: " + err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%s %q", v, rest))
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		argv  string
		flags Flags
		want  string
	}{
		{"", 0, `[]`},
		{"a -y b", 0, `yes=true ["a" "b"]`},
		{"a -y b", StopAtNonOption, `["a" "-y" "b"]`},
		{"-y --no-yes", 0, `[]`},
		{"--ye", 0, `yes=true []`},
		{"-yc -c", 0, `yes=true count=2 []`},
		{"--no-count -c + +", 0, `count=3 []`},
		{"-4", 0, `bits=4 []`},
		{"-4 --not-four", 0, `[]`},
		{"--no-not-four", 0, `bits=4 []`},
		{"--color", 0, `[]`},
		{"--no-no-color", 0, `[]`},
		{"-yi 5", 0, `yes=true num=5 []`},
		{"-i5y", 0, "error: switch `i' expects an integer value with an optional k/m/g suffix"},
		{"-i -2k", 0, `num=-2048 []`},
		{"--integer=0x10", 0, `num=16 []`},
		{"--integer=010", 0, `num=8 []`},
		{"--integer=08", 0, "error: option `integer' expects an integer value with an optional k/m/g suffix"},
		{"--integer=", 0, "error: option `integer' expects a numerical value"},
		{"--integer=3g", 0, "error: value 3g for option `integer' not in range [-2147483648,2147483647]"},
		{"--small=32k", 0, "error: value 32k for option `small' not in range [-32768,32767]"},
		{"--small=-32k", 0, `small=-32768 []`},
		{"-u 64k", 0, "error: value 64k for switch `u' not in range [0,65535]"},
		{"-u -1", 0, "error: switch `u' expects a non-negative integer value with an optional k/m/g suffix"},
		{"-u 65535", 0, `size=65535 []`},
		{"--no-size", 0, "usage: unknown option `no-size'"},
		{"-mfoo", 0, `text="foo" []`},
		{"-m=foo", 0, `text="=foo" []`},
		{"-m foo --no-message", 0, `[]`},
		{"--message=", 0, `text="" []`},
		{"-m", 0, "error: switch `m' requires a value"},
		{"--message", 0, "error: option `message' requires a value"},
		{"--memo x", 0, `text="x" []`},
		{"--mem x", 0, `text="x" []`},
		{"--me x", 0, `text="x" []`}, // message and its alias are no ambiguity
		{"-w no", 0, `when=always ["no"]`},
		{"-wno", 0, `when=no []`},
		{"-ywno", 0, `yes=true when=no []`},
		{"--when=no", 0, `when=no []`},
		{"--when", 0, `when=always []`},
		{"--contains", 0, `when=HEAD []`},
		{"--contains x", 0, `when=x []`},
		{"-F f", 0, `file=sub/f []`},
		{"-F -", 0, `file=- []`},
		{"-F /f", 0, `file=/f []`},
		{"-oa -o b", 0, `list=[a b] []`},
		{"-oa --no-option -o b", 0, `list=[b] []`},
		{"--abbrev", 0, `abbrev=-1 []`},
		{"--abbrev=2", 0, `abbrev=4 []`},
		{"--abbrev=12 --no-abbrev", 0, `[]`},
		{"--abbrev=x", 0, "error: option `abbrev' expects a numerical value"},
		{"-S", 0, `seen=["" false false] []`},
		{"-Sk --no-sign", 0, `seen=["k" true false "" false true] []`},
		{"-Sbad", 0, "error: bad key"},
		{"-12", 0, `seen=[-12] []`},
		{"-y12", 0, `yes=true seen=[-12] []`},
		{"-412", 0, `bits=4 seen=[-12] []`},
		{"--delete --delete", 0, `mode=1 []`},
		{"--delete --list", 0, "error: options '--list' and '--delete' cannot be used together"},
		{"--no-delete", 0, "usage: unknown option `no-delete'"},
		{"--yes=1", 0, "error: option `yes' takes no value"},
		{"--no-yes=1", 0, "error: option `no-yes' takes no value"},
		{"--old", 0, `[]`},
		{"-vvq", 0, `verbose=-1 []`},
		{"-qqv", 0, `verbose=1 []`},
		{"-vv --no-quiet", 0, `[]`},
		{"--far", 0, "error: option '--far' is not implemented"},
		{"--far=3", 0, "error: option '--far' is not implemented"},
		{"-yN", 0, "error: option '-N' is not implemented"},
		{"--no-near", 0, "error: option '--no-near' is not implemented"},
		{"--co", 0, "usage: ambiguous option: co (could be --count or --contains)"},
		{"--n", 0, "usage: ambiguous option: n (could be --no-verbose or --no-quiet)"},
		{"--bogus", 0, "usage: unknown option `bogus'"},
		{"--bogus=x", 0, "usage: unknown option `bogus=x'"},
		{"-Z", 0, "usage: unknown switch `Z'"},
		{"-yZ", 0, "usage: unknown switch `Z'"},
		{"-y\xc3\xa9", 0, "usage: unknown non-ascii option in string: `-\xc3\xa9'"},
		{"-yes", 0, "error: did you mean `--yes` (with two dashes)?"},
		{"-no-yes", 0, "error: did you mean `--no-yes` (with two dashes)?"},
		{"--bogus -yZ -y", KeepUnknownOpt, `yes=true ["--bogus" "-Z"]`},
		{"--ye", KeepUnknownOpt, `["--ye"]`},
		{"-- -y", 0, `["-y"]`},
		{"-- -y", KeepDashDash, `["--" "-y"]`},
		{"--end-of-options -y", 0, `["-y"]`},
		{"--end-of-options -y", KeepUnknownOpt, `["--end-of-options" "-y"]`},
		{"-", 0, `["-"]`},
		{"-h", 0, "answer 129"},
		{"-y -h", 0, "answer 129"},
		{"-yh", 0, "answer 129"},
		{"-h", NoInternalHelp, "usage: unknown switch `h'"},
		{"--help", 0, "answer 129"},
		{"--help-all -y", 0, "answer 129"},
		{"--git-completion-helper", 0, "answer 0"},
		{"--git-completion-helper -y", 0, "usage: unknown option `git-completion-helper'"},
	} {
		if got := outcome(new(vars), c.flags, strings.Fields(c.argv)); got != c.want {
			t.Errorf("%q %b:\n got %s\nwant %s", c.argv, c.flags, got, c.want)
		}
	}
}

func TestNoAbbreviations(t *testing.T) {
	t.Parallel()
	p := new(vars).parser(0)
	p.NoAbbr = true
	var fatal *FatalError
	if _, err := p.Parse([]string{"--ye=3"}); !errors.As(err, &fatal) || err.Error() != "disallowed abbreviated or ambiguous option 'ye'" {
		t.Error(err)
	}
	if _, err := p.Parse([]string{"--yes"}); err != nil {
		t.Error(err)
	}
}

func TestOptionalFile(t *testing.T) {
	t.Parallel()
	v := new(vars)
	p := v.parser(0)
	p.Missing = func(name string) bool { return name == "sub/gone" }
	if _, err := p.Parse([]string{"-F", ":(optional)gone"}); err != nil || v.file != "" {
		t.Error(v.file, err)
	}
	if _, err := p.Parse([]string{"-F", ":(optional)there"}); err != nil || v.file != "sub/there" {
		t.Error(v.file, err)
	}
}

func TestSubcommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		argv  string
		flags Flags
		want  string
	}{
		{"add -v x", 0, `add quiet=false ["-v" "x"]`},
		{"-q add", 0, `add quiet=true []`},
		{"", 0, "need a subcommand"},
		{"-q", 0, "need a subcommand"},
		{"nope", 0, "unknown subcommand: `nope'"},
		{"ad", 0, "unknown subcommand: `ad'"},
		{"far", 0, "option 'far' is not implemented"},
		{"", SubcommandOptional, ` quiet=false []`},
		{"nope -q", SubcommandOptional, ` quiet=false ["nope" "-q"]`},
		{"-x add", SubcommandOptional | KeepUnknownOpt, ` quiet=false ["-x" "add"]`},
		{"-x add", SubcommandOptional, "unknown switch `x'"},
	} {
		var sub string
		var quiet bool
		p := &Parser{Flags: c.flags, Usage: []string{"git x"}, Options: []Option{
			Bool('q', "quiet", &quiet, "less"),
			Subcommand("add", &sub, "add"),
			Subcommand("remove", &sub, "remove"),
			Subcommand("far", &sub, "far").NotNative(),
		}}
		rest, err := p.Parse(strings.Fields(c.argv))
		got := fmt.Sprintf("%s quiet=%v %q", sub, quiet, rest)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q %b:\n got %s\nwant %s", c.argv, c.flags, got, c.want)
		}
	}
}

func TestUsageText(t *testing.T) {
	t.Parallel()
	want := `usage: git x [<options>]
             [more]
   or: git x --other

    Some text.

    -y, --[no-]yes        say yes
    --no-color            without colour
    --color               opposite of --no-color
    -c, --[no-]count      count
    -4, --[no-]four       bit 4
    --[no-]not-four       no bit 4

Values
    -i, --[no-]integer <n>
                          a number
    --[no-]small <n>      a small number
    -u, --size <n>        a size
    -m, --[no-]message <message>
                          the message,
                          on two lines
    -w, --[no-]when[=<when>]
                          optional
    --[no-]contains <commit>
                          last
    -F, --[no-]file <file>
                          a file
    -o, --[no-]option a|b many
    --[no-]abbrev[=<n>]   shorten object names to <n> digits
    -S, --[no-]sign[=<key>]
                          sign
    --delete              delete
    --list                list

    -NUM                  a count
    +                     like -c
    --[no-]far <x>        not here
    -N, --[no-]near       not here
    --[no-]memo <message> alias of --message
    -v, --[no-]verbose    say more
    -q, --[no-]quiet      say less

`
	p := new(vars).parser(0)
	if got := p.UsageText(false); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if full := p.UsageText(true); !strings.Contains(full, "    --[no-]old ") {
		t.Error("the hidden option is not in the full text")
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	_, err := new(vars).parser(0).Parse([]string{"--git-completion-helper"})
	var answer *Answer
	if !errors.As(err, &answer) {
		t.Fatal(err)
	}
	want := "--yes --no-color --count --four --not-four --integer= --small= --size= --message= --when --contains --file=" +
		" --option= --abbrev --sign --delete --list --far= --near --verbose --quiet --color" +
		" -- --no-yes --no-count --no-four --no-not-four --no-integer --no-small --no-message --no-when --no-contains --no-file" +
		" --no-option --no-abbrev --no-sign --no-far --no-near --no-memo --no-verbose --no-quiet\n"
	if answer.Text != want {
		t.Errorf("got  %s\nwant %s", answer.Text, want)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in          string
		n           int64
		inRange, ok bool
	}{
		{"0", 0, true, true}, {" 7", 7, true, true}, {"+7", 7, true, true}, {"-7K", -7168, true, true},
		{"0xfF", 255, true, true}, {"0x", 0, true, false}, {"017", 15, true, true}, {"09", 0, true, false},
		{"", 0, true, false}, {"-", 0, true, false}, {"1kk", 0, true, false}, {"1 k", 0, true, false},
		{"9223372036854775807", 1<<63 - 1, true, true}, {"9223372036854775808", 0, false, true},
		{"9999999999999g", 0, false, true}, {"99999999999999999999999x", 0, false, true},
	} {
		n, inRange, ok := ParseInt(c.in)
		if n != c.n || inRange != c.inRange || ok != c.ok {
			t.Errorf("%q: %d %v %v", c.in, n, inRange, ok)
		}
	}
}
