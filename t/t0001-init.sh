#!/bin/sh
# Making repositories, and finding them.

. "$(dirname "$0")/test-lib.sh"

# same <args>: init by both gives the same tree and the same bytes.
same () {
	rm -rf ours theirs &&
	git init -q --template= "$@" ours && stock_git init -q --template= "$@" theirs &&
	(cd ours && find . -printf "%p %m\n" | sort) >a &&
	(cd theirs && find . ! -name branches -printf "%p %m\n" | sort) >b &&
	test_cmp b a &&
	diff -r -x branches ours theirs
}

test_expect_success 'as stock git makes them' '
	same && same --bare && same --shared && same --shared=0640 && same -b topic/x && same --shared=all --bare
'

test_expect_success 'templates' '
	mkdir -p tpl/sub && echo t >tpl/sub/file && ln -s file tpl/sub/link && printf "#!/bin/sh\n" >tpl/run && chmod +x tpl/run &&
	printf "[from]\n\ttemplate = yes\n" >tpl/config &&
	git init -q --template=tpl ours && stock_git init -q --template=tpl theirs &&
	diff -r ours theirs &&
	test -x ours/.git/run && test -L ours/.git/sub/link &&
	rm -rf ours theirs
'

test_expect_success 'again: what is there stays' '
	git init again >out && test_grep "^Initialized empty Git repository in" out &&
	git -C again config keep.me 1 &&
	git init again >out && test_grep "^Reinitialized existing Git repository in" out &&
	test "$(git -C again config keep.me)" = 1
'

test_expect_success 'the git directory somewhere else' '
	git init -q --separate-git-dir real work &&
	echo "gitdir: $PWD/real" >expect && test_cmp expect work/.git &&
	stock_git -C work rev-parse --git-dir >actual && echo "$PWD/real" >expect && test_cmp expect actual &&
	git init -q --separate-git-dir moved work && test_path_is_missing real &&
	stock_git -C work status >/dev/null
'

test_expect_success 'what cannot be is refused' '
	test_expect_code 128 git init -b "a..b" bad 2>err && test_grep "invalid initial branch name" err &&
	test_expect_code 128 git init --shared=0400 bad && test_expect_code 128 git init --object-format=md5 bad &&
	>file && test_expect_code 128 git init file 2>err && test_grep "cannot mkdir file: File exists" err &&
	GIT_WORK_TREE=. test_expect_code 128 git init
'

test_expect_success 'unknown formats are refused' '
	git init -q fmt &&
	git -C fmt config core.repositoryformatversion 99 &&
	test_expect_code 128 git -C fmt rev-parse HEAD 2>err && test_grep "Expected git repo version <= 1, found 99" err &&
	printf "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnope = 1\n" >fmt/.git/config &&
	test_expect_code 128 git -C fmt rev-parse HEAD 2>err && test_grep nope err
'

test_expect_success SLUICE 'no flush where the policy has none, one on a journal where it has all' '
	GIT_TRACE2_EVENT="$PWD/trace" git -c core.fsync=none init -q quiet &&
	! grep hardware-flush trace &&
	rm trace &&
	GIT_TRACE2_EVENT="$PWD/trace" git -c core.fsync=all -c core.fsyncMethod=batch -c sluice.barrier=journal init -q loud &&
	grep -q "\"name\":\"hardware-flush\",\"count\":1}" trace
'

test_done
