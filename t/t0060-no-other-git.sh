#!/bin/sh
# Scripts that put sluice first on PATH are run by sluice alone: neither a
# command nor what it starts executes another git.

. "$(dirname "$0")/test-lib.sh"

# executions COMMAND: strace writes a file for each process, so that no call is
# cut in two by another's. Calls that failed executed nothing.
executions () {
	rm -rf "$TRASH/trace" &&
	mkdir "$TRASH/trace" &&
	strace -ff -s 4096 -e trace=execve -o "$TRASH/trace/p" "$@" &&
	cat "$TRASH"/trace/* |
	sed -n 's/^execve("\([^"]*\)", \(\[.*\]\), .*= 0$/\1 \2/p' >executed
}

# no_other_git: whatever calls itself git is the git that is tried.
no_other_git () {
	grep "^$GIT_UNDER_TEST/git" executed >ours &&
	! grep -v "^$GIT_UNDER_TEST/" executed | grep -E '(^|/)git(-[a-z-]*)? \[|\["([^"]*/)?git'
}

# traced COMMAND: its programs, judged.
traced () {
	executions "$@" &&
	no_other_git
}

test_expect_success 'a tree to work on' '
	mkdir ../source ../source/dir &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
		echo "package p$i" >../source/dir/f$i.go || return 1
	done
'

test_expect_success STRACE,SLUICE 'the check sees another git' '
	executions sh -c "git version && PATH=\"$STOCK_PATH\" git version" &&
	test_line_count = 3 executed &&
	! no_other_git &&
	ln -s "$(command -v env)" ../git-push &&
	executions sh -c "git version && ../git-push" &&
	test_line_count = 3 executed &&
	! no_other_git
'

test_expect_success STRACE,SLUICE 'the script of the demo runs no other git' '
	traced sh "$TEST_DIRECTORY/demo/script.sh" \
		"$TRASH/work" "$TRASH/bare.git" "$TRASH/source" 50 10 - - &&
	test_line_count -ge 32 ours &&
	test_fsck "$TRASH/work" &&
	test_fsck "$TRASH/bare.git"
'

test_expect_success 'the script of the demo, whatever git runs it' '
	sh "$TEST_DIRECTORY/demo/script.sh" \
		"$TRASH/work2" "$TRASH/bare2.git" "$TRASH/source" 50 10 all batch &&
	stock_git -C ../work2 for-each-ref refs/heads refs/tags >here &&
	stock_git -C ../bare2.git for-each-ref refs/heads refs/tags >there &&
	test_cmp here there &&
	test_line_count = 55 here &&
	test_fsck ../work2 &&
	test_fsck ../bare2.git
'

test_expect_success STRACE,SLUICE 'a push of many objects to a file URL, kept as a pack' '
	git init -q --bare ../kept.git &&
	git -C ../kept.git config receive.unpackLimit 1 &&
	git -C ../work2 remote add kept "file://$TRASH/kept.git" &&
	( cd ../work2 && traced git push -q kept --all ) &&
	ls ../kept.git/objects/pack/*.pack &&
	test_fsck ../kept.git
'

test_expect_success STRACE,SLUICE 'a push to a receiver that was named' '
	git init -q --bare ../named.git &&
	( cd ../work2 && traced git push -q --receive-pack=git-receive-pack ../named.git --all ) &&
	test_fsck ../named.git
'

test_done
