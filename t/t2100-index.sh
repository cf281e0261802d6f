#!/bin/sh
# The index and the plumbing over it: update-index, ls-files, write-tree, read-tree.

. "$(dirname "$0")/test-lib.sh"

test_expect_success 'a world of files' '
	mkdir -p dir/sub &&
	for f in a b dir/c dir/sub/d; do echo $f >$f || return 1; done &&
	git update-index --add a b dir/c dir/sub/d &&
	stock_git ls-files >actual &&
	printf "%s\n" a b dir/c dir/sub/d >expect &&
	test_cmp expect actual &&
	stock_git diff-files --exit-code &&
	rm expect actual
'

test_expect_success 'stock git finds what was stored' '
	echo "dir/sub/d" >expect &&
	stock_git cat-file blob :dir/sub/d >actual &&
	test_cmp expect actual
'

for version in 2 4; do
	test_expect_success "an index of version $version is written as stock git writes it" '
		stock_git update-index --index-version $version &&
		cp .git/index saved &&
		git update-index --force-write-index &&
		cmp saved .git/index
	'
done

test_expect_success 'flags that need version 3, and back to 2' '
	git update-index --index-version 2 &&
	git update-index --skip-worktree a &&
	test "$(od -An -t u1 -j 7 -N 1 .git/index | tr -d " ")" = 3 &&
	git update-index --no-skip-worktree a &&
	test "$(od -An -t u1 -j 7 -N 1 .git/index | tr -d " ")" = 2
'

test_expect_success 'write-tree gives the tree that stock git gives' '
	git write-tree >actual &&
	stock_git write-tree >expect &&
	test_cmp expect actual &&
	stock_git ls-tree -r --name-only $(cat actual) >names &&
	test_line_count = 4 names &&
	git write-tree --prefix=dir/ >actual &&
	stock_git rev-parse $(cat expect):dir >expect &&
	test_cmp expect actual
'

test_expect_success 'cached trees do not outlive a change' '
	test_when_finished "git update-index --force-remove dir/sub/empty; rm -f scratch" &&
	stock_git hash-object -w --stdin </dev/null &&
	git update-index --add --cacheinfo 100644,$EMPTY_BLOB,dir/sub/empty &&
	git ls-files -s >list &&
	GIT_INDEX_FILE=scratch stock_git update-index --index-info <list &&
	GIT_INDEX_FILE=scratch stock_git write-tree >expect &&
	git write-tree >actual &&
	test_cmp expect actual
'

test_expect_success 'write-tree refuses what it has no objects for' '
	test_when_finished "git update-index --force-remove gone" &&
	git update-index --add --cacheinfo 100644,1111111111111111111111111111111111111111,gone &&
	test_expect_code 128 git write-tree 2>err &&
	test_grep "invalid object 100644 1111111111111111111111111111111111111111 for .gone." err &&
	git write-tree --missing-ok
'

test_expect_success 'a file takes the place of a directory only with --replace' '
	test_must_fail git update-index --add --cacheinfo 100644,$EMPTY_BLOB,dir 2>err &&
	test_grep "appears as both a file and as a directory" err &&
	cp .git/index saved &&
	git update-index --add --replace --cacheinfo 100644,$EMPTY_BLOB,dir &&
	git ls-files >actual &&
	printf "%s\n" a b dir >expect &&
	test_cmp expect actual &&
	mv saved .git/index
'

test_expect_success 'paths that no tree may have are refused' '
	for path in .git/x dir/../x ./x a//b .GIT/config; do
		test_must_fail git update-index --add --cacheinfo "100644,$EMPTY_BLOB,$path" || return 1
	done
'

test_expect_success 'a change that stat data cannot show is not lost' '
	stock_git config core.checkStat minimal &&
	stock_git config core.trustctime false &&
	test_when_finished "stock_git config --unset core.checkStat; stock_git config --unset core.trustctime" &&
	echo one >racy && touch -d "2035-01-01 00:00:00" racy &&
	git update-index --add racy &&
	echo two >racy && touch -d "2035-01-01 00:00:00" racy &&
	git update-index --add --cacheinfo 100644,$EMPTY_BLOB,other &&
	stock_git diff-files --name-only >actual &&
	test_grep racy actual &&
	git update-index --force-remove racy other
'

test_expect_success 'refresh tells what differs' '
	echo changed >a &&
	test_expect_code 1 git update-index --refresh >actual &&
	echo "a: needs update" >expect &&
	test_cmp expect actual &&
	git update-index -q --refresh &&
	git ls-files -m >actual &&
	echo a >expect &&
	test_cmp expect actual
'

test_expect_success 'somebody else has the lock' '
	test_when_finished "rm -f .git/index.lock" &&
	: >.git/index.lock &&
	cp .git/index saved &&
	test_expect_code 128 git update-index a 2>err &&
	test_grep "index.lock.: File exists" err &&
	test_grep "Another git process" err &&
	cmp saved .git/index &&
	test -f .git/index.lock &&
	git ls-files >/dev/null
'

test_expect_success 'a damaged index is refused and kept' '
	test_when_finished "cp good .git/index" &&
	cp .git/index good &&
	for damage in "head -c 20 good" "head -c 100 /dev/zero" "echo" "cat /dev/null"; do
		eval "$damage" >.git/index &&
		cp .git/index bad &&
		test_expect_code 128 git update-index --add b &&
		test_expect_code 128 git ls-files &&
		test_expect_code 128 git write-tree &&
		cmp bad .git/index &&
		test_path_is_missing .git/index.lock || return 1
	done
'

test_expect_success 'conflicts: listed, resolved, brought back' '
	test_when_finished "git update-index --force-remove f" &&
	printf "100644 $EMPTY_BLOB %s\tf\n" 1 2 3 | git update-index --index-info &&
	git ls-files -u >actual &&
	test_line_count = 3 actual &&
	test_expect_code 128 git write-tree 2>err &&
	test_grep "f: unmerged" err &&
	echo resolved >f &&
	git update-index f &&
	git ls-files -u >actual &&
	test_must_be_empty actual &&
	git ls-files --resolve-undo >actual &&
	test_line_count = 3 actual
'

test_expect_success 'read-tree: stat data of what stays is kept with -m' '
	stock_git update-index --add a b dir/c dir/sub/d &&
	tree=$(git write-tree) &&
	git ls-files --debug >expect &&
	git read-tree -m $tree &&
	git ls-files --debug >actual &&
	test_cmp expect actual &&
	git read-tree $tree &&
	stock_git diff-index --cached --exit-code $tree &&
	git read-tree --empty &&
	git ls-files >actual &&
	test_must_be_empty actual &&
	git read-tree $tree &&
	git update-index --refresh
'

test_expect_success 'the hook hears of it' '
	mkdir -p .git/hooks &&
	printf "%s\n" "#!/bin/sh" "echo \"\$@\" >>hooked" >.git/hooks/post-index-change &&
	chmod +x .git/hooks/post-index-change &&
	test_when_finished "rm -f .git/hooks/post-index-change hooked" &&
	git update-index --add --cacheinfo 100644,$EMPTY_BLOB,hooked-on &&
	echo "0 1" >expect &&
	test_cmp expect hooked &&
	git update-index --force-remove hooked-on
'

test_expect_success SLUICE 'a split index is refused by name' '
	test_when_finished "stock_git update-index --no-split-index" &&
	stock_git update-index --split-index &&
	cp .git/index saved &&
	test_expect_code 125 git update-index --add b 2>err &&
	test_grep "split index" err &&
	cmp saved .git/index
'

test_expect_success STRACE 'core.fsync=none flushes nothing, index does' '
	echo more >>b &&
	strace -f -e trace=fsync,fdatasync,syncfs -o log git -c core.fsync=none update-index b &&
	test_grep ! "sync" log &&
	echo more >>b &&
	strace -f -e trace=fsync,fdatasync,syncfs -o log git -c core.fsync=index -c core.fsyncMethod=fsync update-index b &&
	test_grep "fsync" log
'

test_expect_success SLUICE,STRACE,EXT4 'many files, one flush' '
	mkdir many &&
	for i in 1 2 3 4 5 6 7 8 9; do echo $i >many/$i || return 1; done &&
	strace -f -e trace=fsync,fdatasync,syncfs -o log git -c core.fsync=all -c core.fsyncMethod=batch -c sluice.barrier=journal update-index --add many/* &&
	test "$(grep -c "sync(" log)" = 1 &&
	stock_git fsck
'

test_done
