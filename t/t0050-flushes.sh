#!/bin/sh
# How often a command flushes the disk: once, whatever it writes. On an ext4
# image where that can be mounted; elsewhere the same barrier is asked for.

. "$(dirname "$0")/test-lib.sh"

DISK=$TRASH/.disk
mkdir "$DISK"
if test_have_prereq ROOT && truncate -s 96M "$TRASH/.image" && mke2fs -q -F -t ext4 "$TRASH/.image" >/dev/null 2>&1 &&
	mount -o loop "$TRASH/.image" "$DISK" 2>/dev/null; then
	trap 'rc=$?; cd /; umount "$DISK"; rm -rf "$TRASH"; exit $rc' EXIT
else
	stock_git config --global sluice.barrier journal
fi

# new NAME: a repository on the disk with a commit and a few files to add.
new () {
	rm -rf "$DISK/$1" && stock_git init -q "$DISK/$1" && cd "$DISK/$1" && stock_git commit -q --allow-empty -m root &&
	mkdir d e && for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >d/$i && echo e$i >e/$i || return 1; done
}

# many_refs: 1,000 new branches at HEAD.
many_refs () {
	id=$(stock_git rev-parse HEAD) &&
	awk -v id=$id 'BEGIN { for (i = 0; i < 1000; i++) printf "create refs/heads/b/%03d %s\n", i, id }' >../refs &&
	"$@" update-ref --stdin <../refs
}

with_bare () {
	new work && many_refs stock_git && stock_git add . && stock_git commit -q -m files &&
	rm -rf ../bare && stock_git init -q --bare ../bare
}

test_expect_success STRACE 'add of 20 files: 1' '
	new add && test_flushes 1 git add . && test_fsck
'

test_expect_success STRACE 'commit: 1' '
	new commit && stock_git add . && test_flushes 1 git commit -q -m second && test_fsck &&
	echo more >>d/1 && test_flushes 1 git commit -q -a -m third && test_fsck
'

test_expect_success STRACE 'update-ref --stdin of 1,000 refs: 1 to create, 1 to delete' '
	new updates && many_refs true &&
	test_flushes 1 git update-ref --stdin <../refs &&
	stock_git for-each-ref refs/heads/b >list && test_line_count = 1000 list &&
	sed -e "s/^create/delete/" ../refs >../gone &&
	test_flushes 1 git update-ref --stdin <../gone && test -z "$(stock_git for-each-ref refs/heads/b)"
'

test_expect_success STRACE 'push of 1,000 refs: 1' '
	with_bare && test_flushes 1 git push -q ../bare --all &&
	stock_git ls-remote ../bare >list && test_line_count -ge 1001 list && test_fsck ../bare
'

test_expect_success STRACE 'push --atomic of 1,000 refs: 1' '
	with_bare && test_flushes 1 git push -q --atomic ../bare --all && test_fsck ../bare
'

test_expect_success STRACE 'push whose pack is kept: 1' '
	with_bare && stock_git -C ../bare config receive.unpackLimit 1 &&
	test_flushes 1 git push -q ../bare --all &&
	ls ../bare/objects/pack/*.pack && test_fsck ../bare
'

test_expect_success STRACE 'push with a pre-receive hook: 2' '
	with_bare && mkdir -p ../bare/hooks && printf "#!/bin/sh\nexit 0\n" >../bare/hooks/pre-receive &&
	chmod +x ../bare/hooks/pre-receive && test_flushes 2 git push -q ../bare --all && test_fsck ../bare
'

test_expect_success STRACE 'pack-refs --all: 1' '
	new pack && many_refs stock_git && test_flushes 1 git pack-refs --all &&
	test_path_is_missing .git/refs/heads/b/000 && test_fsck
'

test_expect_success STRACE 'config: 1' '
	new config && test_flushes 1 git config a.b c && test "$(stock_git config a.b)" = c
'

test_expect_success STRACE 'symbolic-ref, tag, branch: 1' '
	new names && test_flushes 1 git symbolic-ref HEAD refs/heads/other &&
	stock_git symbolic-ref HEAD refs/heads/main &&
	test_flushes 1 git tag -a -m tag v1 && test_flushes 1 git branch topic && test_flushes 1 git branch -D topic && test_fsck
'

test_expect_success STRACE 'core.fsync=none: 0 for everything' '
	with_bare && stock_git config --global core.fsync none &&
	test_when_finished "stock_git config --global --unset core.fsync" &&
	git add . && echo x >>d/1 &&
	test_flushes 0 git commit -q -a -m none &&
	test_flushes 0 git push -q ../bare --all &&
	test_flushes 0 git config a.b c &&
	test_flushes 0 git pack-refs --all &&
	test_flushes 0 git update-ref refs/heads/new HEAD
'

test_expect_success STRACE,SLUICE 'sluice.default=git: 0 for a commit, which git does not harden' '
	new plain && git add . && test_flushes 0 git -c sluice.default=git commit -q -m plain
'

test_done
