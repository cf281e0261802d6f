#!/bin/sh
# Damaged files: git's message, its status, and nothing is written.

. "$(dirname "$0")/test-lib.sh"

# state: every file below .git, with its content.
state () {
	find .git -type f -exec cksum {} + | sort
}

# refused PATTERN ARGS: status 128 with a message that matches, and not a byte changes.
refused () {
	pattern=$1
	shift
	state >../before
	test_expect_code 128 git "$@" 2>../err >../out </dev/null || return
	state >../after
	test_grep "^\(fatal\|error\): .*$pattern" ../err && test_cmp ../before ../after
}

# cut_to FILE BYTES, nuls FILE, garbage FILE: damage.
cut_to () {
	head -c "$2" "$1" >"$1.cut" && cat "$1.cut" >"$1" && rm "$1.cut"
}

nuls () {
	size=$(wc -c <"$1") && head -c $size /dev/zero >"$1"
}

garbage () {
	awk 'BEGIN { for (i = 0; i < 500; i++) printf "%c", 33 + i * 7 % 90 }' >"$1"
}

restore () {
	chmod -R u+w .git && rm -rf .git && cp -R ../clean .git
}

test_expect_success 'a repository' '
	echo a >a && echo b >b && stock_git add a b && test_commit one && test_commit two &&
	stock_git branch x && stock_git pack-refs --all && cp -R .git ../clean && echo new >new
'

test_expect_success 'a truncated index' '
	test_when_finished restore &&
	for n in 0 1 11 12 100; do
		restore && cut_to .git/index $n && refused "index" add new && refused "index" ls-files || return 1
	done
'

test_expect_success 'an index of garbage, and one of NULs' '
	test_when_finished restore &&
	garbage .git/index && refused "index file corrupt" add new && grep "bad signature" ../err &&
	refused "index file corrupt" commit -m no &&
	nuls .git/index && refused "index file corrupt" add new && refused "index file corrupt" write-tree
'

test_expect_success 'an index with a number of entries that cannot be' '
	test_when_finished restore &&
	printf "DIRC\000\000\000\002\377\377\377\377" >.git/index && head -c 40 /dev/zero >>.git/index &&
	refused "" ls-files && refused "" add new
'

test_expect_success 'an index of an unknown version, and with an unknown required extension' '
	test_when_finished restore &&
	printf "DIRC\000\000\000\011\000\000\000\000" >.git/index && head -c 20 /dev/zero >>.git/index &&
	refused "bad index version 9\|index file corrupt" ls-files &&
	printf "DIRC\000\000\000\002\000\000\000\000zzzz\000\000\000\000" >.git/index && head -c 20 /dev/zero >>.git/index &&
	refused "index uses zzzz extension, which we do not understand\|index file corrupt" add new
'

test_expect_success 'packed-refs of garbage, NULs, or cut off' '
	test_when_finished restore &&
	echo garbage >.git/packed-refs && refused "unexpected line in .*packed-refs: garbage" show-ref &&
	refused "unexpected line in .*packed-refs: garbage" update-ref -d refs/heads/x &&
	restore && nuls .git/packed-refs && refused "packed-refs" show-ref &&
	refused "packed-refs" pack-refs --all &&
	restore && cut_to .git/packed-refs 70 && refused "packed-refs" show-ref
'

test_expect_success 'a loose ref that is no object name' '
	test_when_finished restore &&
	id=$(stock_git rev-parse HEAD) &&
	for text in "" garbage "$(printf %.20s $id)" "ref: "; do
		restore && mkdir -p .git/refs/heads && printf "%s\n" "$text" >.git/refs/heads/x &&
		test_must_fail git rev-parse --verify refs/heads/x 2>err && rm err &&
		refused "cannot lock ref .refs/heads/x.\|bad ref" update-ref refs/heads/x HEAD || return 1
	done
'

test_expect_success 'a loose ref of NULs' '
	test_when_finished restore &&
	mkdir -p .git/refs/heads && head -c 41 /dev/zero >.git/refs/heads/x &&
	test_must_fail git rev-parse --verify refs/heads/x 2>err && rm err &&
	refused "cannot lock ref" update-ref refs/heads/x HEAD
'

test_expect_success 'HEAD of NULs is no repository' '
	test_when_finished restore &&
	nuls .git/HEAD && refused "not a git repository" rev-parse HEAD && refused "not a git repository" add new
'

# damaged NAME: the file of an object, writable.
damaged () {
	id=$(stock_git rev-parse "$1") && file=.git/objects/$(echo $id | sed "s,^..,&/,") && chmod u+w $file
}

test_expect_success 'loose objects: empty, cut off, garbage, NULs' '
	test_when_finished restore &&
	damaged HEAD:a && : >$file && refused "object file .* is empty\|Not a valid object name\|loose object .* is corrupt" cat-file blob $id &&
	restore && damaged HEAD:a && cut_to $file 8 && refused "" cat-file blob $id &&
	restore && damaged HEAD:a && garbage $file && refused "" cat-file blob $id &&
	restore && damaged HEAD:a && nuls $file && refused "" cat-file blob $id &&
	restore && damaged HEAD && nuls $file && refused "" commit --allow-empty -m no
'

test_expect_success SLUICE 'writing an object again repairs an empty or damaged one' '
	test_when_finished restore &&
	for how in ": >" garbage nuls; do
		restore && damaged HEAD:a && eval "$how \$file" && git hash-object -w a >out && rm out &&
		test_fsck || return 1
	done
'

test_expect_success 'packs: NULs, cut off, an index of garbage' '
	test_when_finished restore &&
	stock_git repack -q -a -d && cp -R .git ../packed && id=$(stock_git rev-parse HEAD:a) &&
	pack=$(echo .git/objects/pack/*.pack) && idx=${pack%.pack}.idx &&
	chmod u+w $pack && nuls $pack && test_must_fail git cat-file blob $id &&
	chmod -R u+w .git && rm -rf .git && cp -R ../packed .git && chmod u+w $pack && cut_to $pack 40 && test_must_fail git cat-file blob $id &&
	chmod -R u+w .git && rm -rf .git && cp -R ../packed .git && chmod u+w $idx && garbage $idx && test_must_fail git cat-file blob $id &&
	chmod -R u+w .git && rm -rf .git && cp -R ../packed .git && chmod u+w $idx && cut_to $idx 1000 && test_must_fail git cat-file blob $id
'

test_expect_success 'a stream that is no pack' '
	test_expect_code 128 git index-pack --stdin 2>../err </dev/null && grep "early EOF" ../err && stock_git rev-parse HEAD | stock_git pack-objects --revs --stdout -q >../pack &&
	head -c 100 ../pack >../short && rm -f .git/objects/pack/tmp_pack_* && state >../before &&
	test_expect_code 128 git index-pack --stdin <../short && test_expect_code 128 git unpack-objects -q <../short &&
	head -c 3000 /dev/zero >../zero && test_expect_code 128 git unpack-objects -q <../zero &&
	printf "PACK\000\000\000\002\377\377\377\377" >../many && test_expect_code 128 git index-pack --stdin <../many &&
	rm -f .git/objects/pack/tmp_pack_* && state >../after && test_cmp ../before ../after
'

test_expect_success 'config: garbage, NULs, a section that does not end' '
	test_when_finished restore &&
	echo "[garbage" >.git/config && refused "bad config line 1 in file .git/config" config --get a.b &&
	refused "bad config line 1 in file .git/config" add new &&
	nuls .git/config && refused "bad config line 1 in file .git/config" rev-parse HEAD &&
	printf "[core]\n\tbare = false\n[unfinished\n" >.git/config && refused "bad config line 3 in file .git/config" config --get a.b &&
	printf "[core]\n\tfilemode = nonsense\n" >.git/config && refused "bad boolean config value .nonsense. for .core.filemode." add new
'

test_expect_success 'what a push sends to receive-pack' '
	for input in "" "0000" "ffff" "0003" "zzzz" "00100000 garbage"; do
		printf "%s" "$input" >../in && state >../before &&
		{ git receive-pack . <../in >../out 2>../err; rc=$?; } && test $rc = 0 -o $rc = 128 &&
		state >../after && test_cmp ../before ../after || return 1
	done
'

test_expect_success 'names of refs that cannot be' '
	for name in "refs/heads/a..b" "refs/heads/.a" "refs/heads/a.lock" "refs/heads/a b" "refs/heads/a~" "refs/../x" "refs/heads/"; do
		state >../before && test_must_fail git update-ref "$name" HEAD 2>../err && state >../after && test_cmp ../before ../after || return 1
	done
'

test_expect_success 'paths that cannot be in an index' '
	id=$(stock_git rev-parse HEAD:a) &&
	for path in .git/x a/../b ../x /x .GIT/config a/.git/x "git~1/x"; do
		state >../before && test_must_fail git -c core.protectNTFS=true update-index --add --cacheinfo 100644,$id,"$path" 2>../err &&
		state >../after && test_cmp ../before ../after || return 1
	done
'

test_done
