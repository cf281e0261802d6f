#!/bin/sh
# A full disk and a limit on the size of files: the old content stands, and
# the next command works.

. "$(dirname "$0")/test-lib.sh"

DISK=$TRASH/.small
mkdir "$DISK"
SMALL=
if test_have_prereq ROOT && mount -t tmpfs -o size=2m tmpfs "$DISK" 2>/dev/null; then
	SMALL=t
	trap 'rc=$?; cd /; umount "$DISK"; rm -rf "$TRASH"; exit $rc' EXIT
fi

# fresh: a repository on the small disk, with a commit and an empty file to fill.
fresh () {
	rm -rf "$DISK"/* && stock_git init -q "$DISK/r" && cd "$DISK/r" && echo a >a && stock_git add a && stock_git commit -q -m a
}

# fill BYTES: leave about that much room.
fill () {
	rm -f "$DISK/fill"
	free=$(df -B1 --output=avail "$DISK" | tail -n 1)
	head -c $((free - $1)) /dev/zero >"$DISK/fill" 2>/dev/null
	:
}

# stands: stock git finds the state of before, and nothing is in the way of work.
stands () {
	rm -f "$DISK/fill" &&
	test "$(stock_git rev-parse HEAD)" = "$head" &&
	test_fsck && test_no_leftovers
}

if [ -z "$SMALL" ]; then
	test_expect_success ROOT 'a small disk' false
else

test_expect_success 'add: no room' '
	fresh && head=$(stock_git rev-parse HEAD) && head -c 400000 /dev/urandom >big && cp .git/index ../index &&
	fill 100000 && test_must_fail git add big 2>"$TRASH/err" && test_grep "No space left on device\|unable to write" "$TRASH/err" &&
	cmp ../index .git/index && rm -f "$DISK/fill" && find .git/objects -name "tmp_obj*" -delete && stands && git add big && test_fsck
'

test_expect_success SLUICE 'add leaves no temporary on a full disk' '
	fresh && head=$(stock_git rev-parse HEAD) && head -c 400000 /dev/urandom >big &&
	fill 100000 && test_must_fail git add big && stands
'

test_expect_success 'commit: no room at all' '
	fresh && head=$(stock_git rev-parse HEAD) && echo b >b && stock_git add b &&
	fill 0 && test_must_fail git commit -q -m b && rm -f "$DISK/fill" && find .git/objects -name "tmp_obj*" -delete && stands &&
	git commit -q -m b && test_fsck
'

test_expect_success 'refs: no room for the lock' '
	fresh && head=$(stock_git rev-parse HEAD) && stock_git for-each-ref >"$TRASH/before" &&
	for i in 1 2 3 4 5 6 7 8 9; do echo "create refs/heads/b$i HEAD"; done >"$TRASH/batch" &&
	fill 0 && test_must_fail git update-ref --stdin <"$TRASH/batch" && stands &&
	stock_git for-each-ref >"$TRASH/after" && test_cmp "$TRASH/before" "$TRASH/after" &&
	git update-ref --stdin <"$TRASH/batch" && test_fsck
'

test_expect_success 'config: the old file stands' '
	fresh && head=$(stock_git rev-parse HEAD) && cp .git/config "$TRASH/config" &&
	fill 0 && test_must_fail git config a.b c && cmp "$TRASH/config" .git/config && stands && git config a.b c
'

test_expect_success 'pack-refs: the old packed-refs stands' '
	fresh && head=$(stock_git rev-parse HEAD) && stock_git branch x && stock_git pack-refs --all && stock_git branch y &&
	cp .git/packed-refs "$TRASH/packed-refs" &&
	fill 0 && test_must_fail git pack-refs --all && cmp "$TRASH/packed-refs" .git/packed-refs && stands &&
	stock_git rev-parse x y && git pack-refs --all
'

test_expect_success 'push: the receiving side runs full' '
	fresh && head=$(stock_git rev-parse HEAD) && stock_git init -q --bare ../bare.git &&
	stock_git init -q "$TRASH/src" && cd "$TRASH/src" && head -c 900000 /dev/urandom >big && stock_git add big && stock_git commit -q -m big &&
	fill 300000 && test_must_fail git push -q "$DISK/bare.git" HEAD:refs/heads/main 2>"$TRASH/err" &&
	rm -f "$DISK/fill" && test -z "$(stock_git -C "$DISK/bare.git" for-each-ref)" && test_fsck "$DISK/bare.git" &&
	git push -q "$DISK/bare.git" HEAD:refs/heads/main && test_fsck "$DISK/bare.git"
'

test_expect_success SLUICE 'a failed push leaves no quarantine' '
	cd "$TRASH/src" && rm -rf "$DISK/bare.git" && stock_git init -q --bare "$DISK/bare.git" &&
	fill 300000 && test_must_fail git push -q "$DISK/bare.git" HEAD:refs/heads/main && rm -f "$DISK/fill" &&
	test_no_leftovers "$DISK/bare.git"
'

fi

# limited BLOCKS COMMAND: no file may be larger; a signal of that is no crash of ours.
limited () {
	(ulimit -f $1 && trap "" XFSZ && shift && "$@")
}

test_expect_success 'a limit on the size of files: add' '
	cd "$TRASH/trash" && test_commit one && cp .git/index "$TRASH/index" && head -c 600000 /dev/urandom >large &&
	test_must_fail limited 100 git add large && cmp "$TRASH/index" .git/index && test_path_is_missing .git/index.lock &&
	git add large && test_fsck
'

test_expect_success 'a limit on the size of files: an index that is too large' '
	id=$(stock_git rev-parse HEAD:one.t) && cp .git/index "$TRASH/index" &&
	awk -v id=$id "BEGIN { for (i = 0; i < 3000; i++) print \"100644 \" id \"\tfile-with-a-long-name-\" i }" >list &&
	test_must_fail limited 100 git update-index --index-info <list &&
	cmp "$TRASH/index" .git/index && test_path_is_missing .git/index.lock && git update-index --index-info <list
'

test_expect_success 'a limit on the size of files: packed-refs' '
	for i in 1 2 3 4 5 6 7 8 9; do for j in 0 1 2 3 4 5 6 7 8 9; do echo "create refs/heads/some-name-$i-$j HEAD"; done; done >batch &&
	stock_git update-ref --stdin <batch && stock_git for-each-ref >before &&
	test_must_fail limited 4 git pack-refs --all && stock_git for-each-ref >after && test_cmp before after &&
	git pack-refs --all && stock_git for-each-ref >after && test_cmp before after
'

test_done
