#!/bin/sh
# The scripted push: whichever `git` is first on PATH imports a source tree,
# makes branches and tags, and pushes them in every way that scripts use.
#
#   script.sh WORK BARE SOURCE BRANCHES TAGS FSYNC METHOD
#
# WORK and BARE are made; SOURCE is copied into WORK. FSYNC and METHOD are
# written into the config of both repositories; `-` leaves a key unset.
# DEMO_TIMES, where set, is a file that gets a line `seconds step` for each step.

set -eu
work=$1 bare=$2 source=$3 branches=$4 tags=$5 fsync=$6 method=$7
: "${DEMO_TIMES:=/dev/null}"
few=$((branches / 10)) few_tags=$((tags / 10))

now () {
	case $(date +%N) in
	*N*) date +%s ;;
	*) date +%s.%N ;;
	esac
}

step () {
	echo "$(echo "$(now) $began" | awk '{ printf "%.3f", $1 - $2 }') $1" >>"$DEMO_TIMES"
	began=$(now)
}

# branch_names FROM TO
branch_names () {
	i=$1
	while [ "$i" -le "$2" ]; do
		printf 'topic/%04d\n' "$i"
		i=$((i + 1))
	done
}

# move_branches FROM TO COMMIT
move_branches () {
	branch_names "$1" "$2" | sed "s,.*,update refs/heads/& $3," | git update-ref --stdin
}

# Twenty tracked files of the tree get a line more.
touch_files () {
	git ls-files -- '*.go' | awk -v n=20 'NR <= n' | while read -r file; do
		echo "// $1" >>"$file"
	done
}

# The policy holds for init and config, too.
set --
[ "$fsync" = - ] || set -- "$@" -c "core.fsync=$fsync"
[ "$method" = - ] || set -- "$@" -c "core.fsyncMethod=$method"
git "$@" init -q --bare "$bare"
git "$@" init -q "$work"
for repository in "$work" "$bare"; do
	[ "$fsync" = - ] || git "$@" -C "$repository" config core.fsync "$fsync"
	[ "$method" = - ] || git "$@" -C "$repository" config core.fsyncMethod "$method"
done
cp -R "$source/." "$work"
cd "$work"
git remote add origin "$bare"
# What cp left in memory is not for the first flush to pay.
sync

began=$(now)
git add .
step "add"
git commit -q -m 'Import a source tree'
step "commit"

first=$(git rev-parse HEAD)
branch_names 1 "$branches" | sed "s,.*,create refs/heads/& $first," | git update-ref --stdin
step "branches"
i=1
while [ "$i" -le "$tags" ]; do
	git tag -a -m "release $i" "v1.$i"
	i=$((i + 1))
done
step "tags"

git push -q origin 'refs/heads/*:refs/heads/*' 'refs/tags/*:refs/tags/*'
step "push everything"

touch_files second
git commit -q -a -m 'Touch twenty files'
git push -q origin HEAD
step "commit and push"

move_branches 1 $((branches / 5)) "$(git rev-parse HEAD)"
git push -q --atomic origin 'refs/heads/*'
step "push --atomic"

touch_files third
git commit -q -a --amend -m 'Touch twenty files, better'
move_branches 1 "$few" "$(git rev-parse HEAD)"
git push -q --force-with-lease origin 'refs/heads/*'
step "push --force-with-lease"

doomed=$(branch_names 1 "$few")
i=1
doomed_tags=
while [ "$i" -le "$few_tags" ]; do
	doomed_tags="$doomed_tags v1.$i"
	i=$((i + 1))
done
git push -q origin --delete $doomed $doomed_tags
git branch -q -D $doomed
[ -z "$doomed_tags" ] || git tag -d $doomed_tags >/dev/null
step "deletions"
[ -z "$(git status --porcelain)" ]
