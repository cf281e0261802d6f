#!/bin/sh
# Locks that nobody holds do not block; locks that somebody may hold do.

. "$(dirname "$0")/test-lib.sh"

OLD=@1000000000

test_expect_success 'a repository' '
	: >batch && test_commit one && test_commit two && rm -rf .git/refs/heads/x
'

test_expect_success 'a lock that somebody may hold is respected' '
	test_when_finished "rm -f .git/index.lock .git/refs/heads/x.lock" &&
	: >.git/index.lock && : >.git/refs/heads/x.lock &&
	echo new >new && test_expect_code 128 git add new 2>err &&
	test_grep "Unable to create .*index.lock.: File exists" err &&
	test_expect_code 128 git update-ref refs/heads/x HEAD 2>err &&
	test_grep "Unable to create .*x.lock.: File exists" err &&
	test -e .git/index.lock && test -e .git/refs/heads/x.lock
'

test_expect_success SLUICE 'a lock from before the boot is removed, with a word' '
	: >.git/index.lock && touch -d $OLD .git/index.lock &&
	git add new 2>err && test_grep "removed stale lock .*index.lock.: it is older than this boot" err &&
	test_line_count = 1 err && test_no_leftovers &&
	for lock in HEAD refs/heads/main packed-refs config; do
		: >.git/$lock.lock && touch -d $OLD .git/$lock.lock || return 1
	done &&
	git update-ref HEAD HEAD~1 2>err && git update-ref HEAD @{1} && git pack-refs --all 2>err && git config a.b c 2>err &&
	test_no_leftovers && test_fsck
'

test_expect_success SLUICE 'packed-refs.new from before the boot as well' '
	: >.git/packed-refs.lock && echo garbage >.git/packed-refs.new &&
	touch -d $OLD .git/packed-refs.lock .git/packed-refs.new &&
	git update-ref refs/heads/p HEAD && git pack-refs --all 2>err && test_no_leftovers && test_fsck
'

test_expect_success SLUICE 'sluice.staleLocks=never respects it' '
	test_when_finished "rm -f .git/index.lock" &&
	: >.git/index.lock && touch -d $OLD .git/index.lock &&
	test_expect_code 128 git -c sluice.staleLocks=never add new 2>err &&
	test -e .git/index.lock
'

# killed COMMAND: run it in the background, kill it once it holds a lock.
# The hook keeps it there.
killed () {
	cat >.git/hooks/reference-transaction <<-\EOH
	#!/bin/sh
	[ "$1" = prepared ] || exit 0
	: >".git/held"
	i=0
	while [ $i -lt 200 ] && [ ! -e ".git/go-on" ]; do sleep 0.05; i=$((i + 1)); done
	EOH
	chmod +x .git/hooks/reference-transaction
	rm -f .git/held .git/go-on
	"$@" <"$TRASH/trash/batch" &
	pid=$!
	i=0
	while [ $i -lt 200 ] && [ ! -e .git/held ]; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -9 $pid
	wait $pid
	: >.git/go-on
	rm -f .git/hooks/reference-transaction
}

test_expect_success SLUICE 'locks of a killed transaction do not block' '
	mkdir -p .git/hooks &&
	for i in 1 2 3; do echo "create refs/heads/k$i HEAD"; done >batch &&
	killed git update-ref --stdin &&
	ls .git/refs/heads/k1.lock .git/refs/heads/k3.lock .git/tmp_locks_* &&
	git update-ref refs/heads/k2 HEAD 2>err &&
	test_grep "removed stale lock .*: its owner, process [0-9]*, is dead" err &&
	test_no_leftovers && test_fsck
'

test_expect_success SLUICE 'a killed transaction changed nothing' '
	test_must_fail git rev-parse -q --verify refs/heads/k1 &&
	test_must_fail git rev-parse -q --verify refs/heads/k3
'

test_expect_success SLUICE 'sluice.staleLocks=never respects the dead, too' '
	killed git update-ref refs/heads/dead HEAD &&
	test_expect_code 128 git -c sluice.staleLocks=never update-ref refs/heads/dead HEAD 2>err &&
	test -e .git/refs/heads/dead.lock &&
	git update-ref refs/heads/dead HEAD && test_no_leftovers
'

test_expect_success SLUICE 'a lock of a live process of ours is respected, and named' '
	test_when_finished "rm -f .git/hooks/reference-transaction; : >.git/go-on; wait" &&
	cat >.git/hooks/reference-transaction <<-\EOH &&
	#!/bin/sh
	[ "$1" = prepared ] || exit 0
	: >".git/held"
	i=0
	while [ $i -lt 200 ] && [ ! -e ".git/go-on" ]; do sleep 0.05; i=$((i + 1)); done
	EOH
	chmod +x .git/hooks/reference-transaction && rm -f .git/held .git/go-on &&
	{ git update-ref refs/heads/live HEAD & } &&
	i=0 && while test $i -lt 200 && ! test -e .git/held; do sleep 0.05; i=$((i + 1)); done &&
	rm .git/hooks/reference-transaction &&
	test_expect_code 128 git update-ref refs/heads/live HEAD~1 2>err &&
	test -e .git/refs/heads/live.lock &&
	: >.git/go-on && wait && git rev-parse HEAD >expect && git rev-parse refs/heads/live >actual && test_cmp expect actual
'

test_expect_success SLUICE 'stock git reads the side file of a lock' '
	git config core.lockfilePid true && test_when_finished "git config --unset core.lockfilePid" &&
	killed git update-ref refs/heads/side HEAD &&
	head -c 4 .git/refs/heads/side~pid.lock >actual && printf "pid " >expect && cmp expect actual &&
	git update-ref refs/heads/side HEAD && test_no_leftovers
'

test_done
