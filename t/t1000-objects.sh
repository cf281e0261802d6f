#!/bin/sh
# Single objects: hash-object, cat-file, commit-tree. Most tests run a command with
# the tried git and with stock git, and compare what comes out.

. "$(dirname "$0")/test-lib.sh"

# same [<file] <args>: stdout, exit status and the first line of stderr agree.
same () {
	stdin=/dev/null
	[ -f .stdin ] && stdin=.stdin
	git "$@" <$stdin >.out1 2>.err1
	rc1=$?
	stock_git "$@" <$stdin >.out2 2>.err2
	rc2=$?
	test $rc1 = $rc2 || { echo "$*: exit $rc1, stock git $rc2"; cat .err1 .err2; return 1; }
	cmp .out1 .out2 || { echo "$*: stdout differs"; diff -a .out1 .out2; return 1; }
	head -n 1 .err1 >.e1
	head -n 1 .err2 >.e2
	cmp .e1 .e2 || { echo "$*: stderr differs"; cat .err1 .err2; return 1; }
}

with_stdin () {
	printf "$1" >.stdin
	shift
	same "$@"
	rc=$?
	rm -f .stdin
	return $rc
}

test_expect_success 'a history' '
	mkdir -p dir/sub &&
	echo one >a && printf "x\r\ny\r\n" >crlf && echo deep >dir/sub/file && ln -s dir/sub/file link &&
	ln -s ../a dir/up && ln -s /abs abs && ln -s nowhere broken && ln -s loop loop && ln -s sub dir/s2 &&
	printf "*.crlf text\n" >.gitattributes &&
	stock_git add . && stock_git commit -q -m first &&
	stock_git tag -a -m tag v1 && stock_git tag -a -m "tag of blob" blobtag HEAD:a &&
	echo two >>a && stock_git commit -q -a -m second &&
	stock_git repack -q -a -d && echo three >>a && stock_git commit -q -a -m third
'

test_expect_success 'hash-object names what stock git names' '
	same hash-object a crlf &&
	same hash-object -t blob -- a &&
	same hash-object --no-filters crlf &&
	same hash-object --path=x.crlf crlf &&
	with_stdin "hello" hash-object --stdin &&
	with_stdin "a\r\n" hash-object --stdin --path=b.crlf &&
	with_stdin "a\ncrlf\n\"dir/sub/file\"\n" hash-object --stdin-paths &&
	(cd dir && same hash-object ../a sub/file)
'

test_expect_success 'hash-object -w stores it, and says it when it is there' '
	printf "new content" >new &&
	id=$(git hash-object -w new) &&
	printf "new content" >expect &&
	stock_git cat-file blob $id >actual &&
	test_cmp expect actual &&
	test "$(ls -l .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-) | cut -c1-10)" = "-r--r--r--" &&
	for i in 1 2 3 4 5; do echo $i >n$i && echo n$i || return 1; done >names &&
	git hash-object -w --stdin-paths <names >ids &&
	stock_git cat-file --batch-check <ids >actual && ! grep missing actual &&
	! ls -d .git/objects/tmp_* 2>/dev/null
'

test_expect_success 'hash-object refuses what is no object' '
	with_stdin "bogus" hash-object -t commit --stdin --literally &&
	test_must_fail git hash-object -t commit -w --stdin <a &&
	test_must_fail git hash-object -t nonsense a &&
	same hash-object no-such-file &&
	with_stdin "\"bad\n" hash-object --stdin-paths &&
	test_must_fail git hash-object --stdin --stdin-paths </dev/null &&
	test_must_fail git hash-object --stdin-paths a </dev/null &&
	test_must_fail git hash-object --path=x --no-filters a
'

test_expect_success 'a damaged object is mended by writing it again' '
	id=$(echo mend | git hash-object -w --stdin) &&
	file=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-) &&
	chmod u+w $file && : >$file &&
	test_must_fail stock_git cat-file -e $id:x &&
	test_must_fail git cat-file -p $id 2>err && grep "is empty" err &&
	test_when_finished "test -n \"$SLUICE\" || rm -f $file"
'
test_expect_success SLUICE '... which stock git would not do' '
	test "$(echo mend | git hash-object -w --stdin)" = $id &&
	test "$(stock_git cat-file -p $id)" = mend
'

test_expect_success 'cat-file of one object' '
	for o in HEAD HEAD~1 HEAD~2 v1 blobtag HEAD: HEAD:a HEAD:dir HEAD:link $EMPTY_TREE; do
		for f in -t -s -p -e; do same cat-file $f $o || return 1; done
		for t in blob tree commit tag; do same cat-file $t $o || return 1; done
	done
'

test_expect_success 'cat-file of none' '
	same cat-file -p nonsense &&
	same cat-file -e nonsense &&
	same cat-file -e $ZERO_OID &&
	same cat-file -t $ZERO_OID &&
	same cat-file -s $ZERO_OID &&
	same cat-file -p $ZERO_OID &&
	same cat-file blob $ZERO_OID &&
	same cat-file nonsense HEAD &&
	same cat-file -p HEAD:nowhere &&
	same cat-file -p HEAD HEAD
'

test_expect_success 'cat-file --batch' '
	{ echo HEAD; echo v1; echo HEAD:a; echo nonsense; echo $ZERO_OID; stock_git rev-parse HEAD~2:; stock_git rev-parse --short HEAD~1; } >.stdin &&
	same cat-file --batch && same cat-file --batch-check && same cat-file --batch --buffer &&
	same cat-file --batch-check="%(objectname)|%(objecttype)|%(objectsize)|%(objectsize:disk)|%(deltabase)|%%|%(rest)" &&
	test_must_fail git cat-file --batch-check="%(nonsense)" </dev/null &&
	rm .stdin &&
	with_stdin "HEAD:a some text\nHEAD\ttab\nnonsense rest\n" cat-file --batch-check="%(objecttype) %(rest)" &&
	with_stdin "" cat-file --batch
'

test_expect_success 'cat-file --batch-all-objects' '
	same cat-file --batch-all-objects --batch-check &&
	same cat-file --batch-all-objects --batch-check="%(objectname) %(objectsize:disk) %(deltabase)" &&
	same cat-file --batch-all-objects --batch-check="%(objectname)" &&
	git cat-file --batch-all-objects --batch-check --unordered | sort >actual &&
	stock_git cat-file --batch-all-objects --batch-check | sort >expect &&
	test_cmp expect actual
'

test_expect_success 'cat-file --batch-command' '
	with_stdin "info HEAD\ncontents HEAD:a\ninfo nonsense\n" cat-file --batch-command &&
	with_stdin "info HEAD\nflush\ncontents HEAD:a\n" cat-file --batch-command --buffer &&
	with_stdin "flush\n" cat-file --batch-command &&
	with_stdin "nonsense\n" cat-file --batch-command &&
	with_stdin "info\n" cat-file --batch-command &&
	with_stdin " info HEAD\n" cat-file --batch-command &&
	with_stdin "\n" cat-file --batch-command
'

test_expect_success 'cat-file --follow-symlinks' '
	for p in a link dir/up abs broken loop dir/s2/file dir/s2 dir/s2/../up a/x dir/.. dir/../a dir nowhere ""; do echo HEAD:$p; done >.stdin &&
	same cat-file --batch-check --follow-symlinks && same cat-file --batch --follow-symlinks &&
	rm .stdin
'

test_expect_success 'cat-file --filters' '
	printf "*.txt eol=crlf\n" >.gitattributes && printf "1\n2\n" >f.txt && stock_git add -f f.txt .gitattributes && stock_git commit -q -m txt &&
	same cat-file --filters HEAD:f.txt && same cat-file --filters --path=f.txt HEAD:a && same cat-file --filters HEAD:a &&
	with_stdin "HEAD:a x.txt\nHEAD:a x\nHEAD x.txt\n" cat-file --batch --filters
'

test_expect_success 'cat-file respects replacements' '
	blob=$(stock_git rev-parse HEAD:a) && other=$(echo instead | stock_git hash-object -w --stdin) &&
	stock_git replace $blob $other &&
	same cat-file -p $blob && same cat-file -s HEAD:a && with_stdin "HEAD:a\n" cat-file --batch &&
	GIT_NO_REPLACE_OBJECTS=1 same cat-file -p $blob &&
	same cat-file --batch-all-objects --batch-check &&
	stock_git replace -d $blob
'

test_expect_success 'commit-tree makes the bytes that stock git makes' '
	tree=$(stock_git rev-parse HEAD:) && head=$(stock_git rev-parse HEAD) &&
	with_stdin "message\n" commit-tree $tree &&
	with_stdin "no newline" commit-tree $tree -p HEAD -p HEAD~1 &&
	with_stdin "" commit-tree $tree &&
	same commit-tree -m one -m "two${LF}lines" -p HEAD $tree &&
	echo "from a file" >msg && same commit-tree -F msg -m more $tree &&
	with_stdin "in" commit-tree -F - $tree &&
	same commit-tree -p HEAD -p HEAD -m dup $tree &&
	same -c i18n.commitEncoding=ISO-8859-1 commit-tree -m "$(printf "caf\351")" $tree &&
	same commit-tree -m "$(printf "caf\351")" $tree &&
	same commit-tree -m "caf\303\251" $tree
'

test_expect_success 'commit-tree refuses' '
	test_must_fail git commit-tree &&
	same commit-tree -m x nonsense &&
	same commit-tree -m x HEAD: HEAD: &&
	same commit-tree -m x HEAD:a &&
	same commit-tree -m x -p nonsense HEAD: &&
	same commit-tree -m x -p HEAD: HEAD: &&
	printf "nul\0here" >nul && test_must_fail git commit-tree HEAD: <nul 2>err && grep "NUL byte" err &&
	GIT_AUTHOR_EMAIL= GIT_AUTHOR_NAME= same commit-tree -m x HEAD: &&
	GIT_AUTHOR_DATE=nonsense same commit-tree -m x HEAD:
'

test_expect_success 'mktree' '
	stock_git ls-tree HEAD >.stdin && same mktree && same mktree --missing && rm .stdin &&
	stock_git ls-tree -z HEAD >.stdin && same mktree -z && rm .stdin &&
	{ stock_git ls-tree HEAD | sort -r; echo; stock_git ls-tree HEAD:dir; } >.stdin && same mktree --batch && same mktree && rm .stdin &&
	with_stdin "" mktree && with_stdin "" mktree --batch &&
	with_stdin "100644 blob $ZERO_OID\tx\n" mktree &&
	with_stdin "100644 blob 1111111111111111111111111111111111111111\tx\n" mktree --missing &&
	with_stdin "160000 commit $(stock_git rev-parse HEAD:a)\tx\n" mktree &&
	with_stdin "100644 tree $EMPTY_TREE\tx\n" mktree &&
	with_stdin "100644 blob $EMPTY_TREE\tx\n" mktree &&
	with_stdin "100644 blob $(stock_git rev-parse HEAD:a)\tx/y\n" mktree &&
	with_stdin "100644 blob $(stock_git rev-parse HEAD:a)\t\"x\\\\ty\"\n" mktree &&
	with_stdin "nonsense\n" mktree && with_stdin "100644 blob 12\tx\n" mktree
'

test_expect_success 'stock git is content with it all' '
	stock_git fsck --full --strict
'

test_done
