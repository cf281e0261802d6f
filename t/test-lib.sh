# Shared by the scripts of t/; sourced, never run. The names are those that
# readers of git's own tests know; the code is ours.
#
# In:  GIT_UNDER_TEST  the folder whose `git` is tried; default: the git on PATH
#      STOCK_GIT       an independent git that judges; default: the git on PATH
# Options of a script: -v shows what the tests print, -i stops at a failure.

set -u
: "${STOCK_GIT:=$(command -v git)}"
: "${GIT_UNDER_TEST:=$(dirname "$STOCK_GIT")}"
TEST_DIRECTORY=$(cd "$(dirname "$0")" && pwd)
test_name=$(basename "$0" .sh)
test_count=0 test_failed=0 test_verbose= test_immediate= test_cleanup=
for arg; do
	case $arg in
	-v) test_verbose=t ;;
	-i) test_immediate=t ;;
	*) echo "unknown option: $arg" >&2; exit 1 ;;
	esac
done

# A clean environment, so that nobody's configuration decides a test.
for var in $(env | sed -n 's/^\(GIT_[A-Za-z0-9_]*\)=.*/\1/p'); do
	[ "$var" = GIT_UNDER_TEST ] || unset "$var"
done
unset EDITOR VISUAL PAGER EMAIL CDPATH XDG_CONFIG_HOME SSH_ASKPASS 2>/dev/null || :
LC_ALL=C LANG=C TZ=UTC
TRASH=$(mktemp -d "${TMPDIR:-/tmp}/trash-$test_name.XXXXXX") || exit 1
TRASH=$(cd "$TRASH" && pwd -P)
trap 'rc=$?; chmod -R u+rwX "$TRASH"; rm -rf "$TRASH"; exit $rc' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
HOME=$TRASH/.home
mkdir "$HOME"
GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_EDITOR=:
GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
GIT_COMMITTER_NAME='C O Mitter' GIT_COMMITTER_EMAIL=committer@example.com
GIT_AUTHOR_DATE='1112911993 -0700' GIT_COMMITTER_DATE='1112911993 -0700'
SLUICE_DELEGATE=never
export LC_ALL LANG TZ HOME GIT_CONFIG_NOSYSTEM GIT_TERMINAL_PROMPT GIT_EDITOR SLUICE_DELEGATE
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
STOCK_PATH=$PATH
PATH=$GIT_UNDER_TEST:$PATH
export PATH
cat >"$HOME/.gitconfig" <<\EOC
[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
[advice]
	detachedHead = false
EOC
ZERO_OID=0000000000000000000000000000000000000000
EMPTY_TREE=4b825dc642cb6eb9a060e54bf8d69288fbee4904
EMPTY_BLOB=e69de29bb2d1d6434b8b29ae775ad8c2e48c5391
LF='
'
TAB=$(printf '\t')
cd "$TRASH" || exit 1
git init -q trash && cd trash || { echo "Bail out! cannot make a repository"; exit 1; }
case $(git version) in
*sluice*) SLUICE=t ;;
*) SLUICE= ;;
esac

# The judge: stock git, whatever is tried.
stock_git () {
	PATH=$STOCK_PATH "$STOCK_GIT" "$@"
}

# Prerequisites: SLUICE (what stock git does not do), ROOT, STRACE, EXT4 (of the
# trash folder), GIT_<major>_<minor> (the tried git is at least that version).
test_have_prereq () {
	for prereq in $(echo "$1" | tr , ' '); do
		case $prereq in
		SLUICE) [ -n "$SLUICE" ] ;;
		STOCK) [ -z "$SLUICE" ] ;;
		ROOT) [ "$(id -u)" = 0 ] ;;
		NOT_ROOT) [ "$(id -u)" != 0 ] ;;
		STRACE) strace -f -o /dev/null true 2>/dev/null ;;
		EXT4) [ "$(stat -f -c %T "$TRASH" 2>/dev/null)" = ext2/ext3 ] ;;
		GIT_*) at_least "${prereq#GIT_}" ;;
		*) echo "unknown prerequisite $prereq" >&2; return 1 ;;
		esac || { missing_prereq=$prereq; return 1; }
	done
}

at_least () {
	version=$(git version | sed 's/^git version \([0-9]*\)\.\([0-9]*\).*/\1 \2/')
	[ "${version% *}" -gt "${1%_*}" ] || { [ "${version% *}" -eq "${1%_*}" ] && [ "${version#* }" -ge "${1#*_}" ]; }
}

test_expect_success () {
	prereqs=
	[ $# -eq 3 ] && { prereqs=$1; shift; }
	[ $# -eq 2 ] || { echo "Bail out! test_expect_success takes a title and a script"; exit 1; }
	test_count=$((test_count + 1))
	if [ -n "$prereqs" ] && ! test_have_prereq "$prereqs"; then
		echo "ok $test_count - $1 # SKIP missing $missing_prereq"
		return
	fi
	test_cleanup=
	test_out=$TRASH/.out
	if [ -n "$test_verbose" ]; then
		eval "$2" 3>&1 <&-
		test_result=$?
	else
		eval "$2" >"$test_out" 2>&1 <&-
		test_result=$?
	fi
	eval "$test_cleanup" >/dev/null 2>&1
	cd "$TRASH/trash" || exit 1
	if [ $test_result -eq 0 ]; then
		echo "ok $test_count - $1"
		return
	fi
	test_failed=$((test_failed + 1))
	echo "not ok $test_count - $1"
	printf '%s\n' "$2" | sed 's/^/#	/'
	[ -n "$test_verbose" ] || sed 's/^/# /' "$test_out" | tail -n 30
	[ -z "$test_immediate" ] || exit 1
}

# Run at the end of the test in progress, whatever comes of it.
test_when_finished () {
	test_cleanup="$*
$test_cleanup"
}

test_done () {
	echo "1..$test_count"
	[ $test_failed -eq 0 ]
	exit
}

# The command has to fail by its own decision, not by a crash.
test_must_fail () {
	"$@"
	rc=$?
	if [ $rc -eq 0 ]; then
		echo "should have failed: $*" >&2
		return 1
	elif [ $rc -gt 129 ] && [ $rc -le 192 ]; then
		echo "died of signal $((rc - 128)): $*" >&2
		return 1
	elif [ $rc -eq 127 ] || [ $rc -eq 126 ] || [ $rc -eq 125 ]; then
		echo "not to be run ($rc): $*" >&2
		return 1
	fi
}

test_expect_code () {
	want=$1
	shift
	"$@"
	rc=$?
	[ $rc -eq "$want" ] || { echo "exit $rc, wanted $want: $*" >&2; return 1; }
}

test_cmp () {
	diff -u "$1" "$2"
}

test_must_be_empty () {
	[ ! -s "$1" ] || { echo "not empty: $1" >&2; cat "$1" >&2; return 1; }
}

test_grep () {
	if [ "$1" = ! ]; then
		! grep -e "$2" "$3"
	else
		grep -e "$1" "$2" || { echo "no /$1/ in:" >&2; cat "$2" >&2; return 1; }
	fi
}

test_path_is_missing () {
	[ ! -e "$1" ] || { echo "is there: $1" >&2; return 1; }
}

test_line_count () {
	n=$(wc -l <"$3")
	[ "$n" "$1" "$2" ] || { echo "$3 has $n lines, wanted $1 $2" >&2; cat "$3" >&2; return 1; }
}

# The dates go on by a minute, so that each commit is its own.
test_tick () {
	test_time=$((${test_time-1112911993} + 60))
	GIT_AUTHOR_DATE="$test_time -0700" GIT_COMMITTER_DATE="$test_time -0700"
	export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
}

# test_commit NAME [FILE [CONTENT]]: a commit and a tag, made by stock git.
test_commit () {
	test_tick
	echo "${3-$1}" >"${2-$1.t}" &&
	stock_git add -- "${2-$1.t}" &&
	stock_git commit -q -m "$1" &&
	stock_git tag "$1"
}

# What a command must not leave behind.
test_no_leftovers () {
	left=$(find "${1-.git}" \( -name '*.lock' -o -name 'tmp_*' -o -name 'packed-refs.new' \) 2>/dev/null)
	[ -z "$left" ] || { echo "left behind: $left" >&2; return 1; }
}

# Stock git finds nothing wrong.
test_fsck () {
	stock_git -C "${1-.}" fsck --full --strict --no-dangling --no-progress
}

# test_flushes N COMMAND: strace and trace2 both count N flushes of the disk.
# Under stock git the count is printed, not judged: the budget is sluice's.
test_flushes () {
	want=$1
	shift
	rm -f "$TRASH/.strace" "$TRASH/.trace2"
	GIT_TRACE2_EVENT=$TRASH/.trace2 strace -f -o "$TRASH/.strace" -e trace=fsync,fdatasync,syncfs,sync "$@" || return
	made=$(grep -c -E '(fsync|fdatasync|syncfs)\([0-9]+|(^|[ ])sync\(' "$TRASH/.strace")
	if [ -z "$SLUICE" ]; then
		echo "$made flushes: $*"
		return
	fi
	counted=$(sed -n 's/.*"event":"counter".*"category":"fsync","name":"hardware-flush","count":\([0-9]*\).*/\1/p' "$TRASH/.trace2" | awk '{ n += $1 } END { print n + 0 }')
	[ "$made" -eq "$want" ] && [ "$counted" -eq "$want" ] || {
		echo "wanted $want flushes, strace saw $made, trace2 counted $counted: $*" >&2
		cat "$TRASH/.strace" >&2
		return 1
	}
}
