#!/bin/sh
# SIGTERM and SIGKILL at moments: the state is the old one or the new one, and the
# next command works. A hook or a filter holds the command at a known place.

. "$(dirname "$0")/test-lib.sh"

HOLD=$TRASH/.hold
cat >"$HOLD" <<EOH
#!/bin/sh
# Says that it is there, then waits until it may go on (at most ten seconds).
: >"${HOLD}ing"
i=0
while [ \$i -lt 200 ] && [ ! -e "$HOLD-on" ]; do
	sleep 0.05
	i=\$((i + 1))
done
cat >/dev/null
exit 0
EOH
chmod +x "$HOLD"

# struck SIGNAL COMMAND: the command is started and gets the signal when it is held.
struck () {
	signal=$1
	shift
	rm -f "${HOLD}ing" "$HOLD-on"
	"$@" </dev/null >"$TRASH/.struck" 2>&1 &
	pid=$!
	i=0
	while [ $i -lt 200 ] && [ ! -e "${HOLD}ing" ]; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -$signal $pid
	wait $pid
	rc=$?
	: >"$HOLD-on"
	[ -e "${HOLD}ing" ] || { echo "never held"; cat "$TRASH/.struck"; return 1; }
}

hook () {
	mkdir -p "${2-.git}/hooks" && rm -f "${2-.git}/hooks/$1" && ln -s "$HOLD" "${2-.git}/hooks/$1" &&
	test_when_finished "rm -f \"${2-.git}/hooks/$1\""
}

unhook () {
	rm -f "${2-.git}/hooks/$1"
}

test_expect_success 'a repository' '
	test_commit one && test_commit two && echo new >new && stock_git init -q --bare "$TRASH/bare.git" &&
	stock_git push -q "$TRASH/bare.git" one:refs/heads/main && rm -rf "$TRASH/bare.git/hooks" .git/hooks
'

test_expect_success 'SIGTERM during a ref transaction: locks are gone, nothing changed' '
	printf "#!/bin/sh\n[ \"\$1\" != prepared ] || exec %s\n" "$HOLD" >"$TRASH/.prepared" && chmod +x "$TRASH/.prepared" &&
	mkdir -p .git/hooks && cp "$TRASH/.prepared" .git/hooks/reference-transaction &&
	test_when_finished "rm -f .git/hooks/reference-transaction" &&
	stock_git for-each-ref >before &&
	struck TERM git update-ref refs/heads/t HEAD && test $rc = 143 &&
	stock_git for-each-ref >after && test_cmp before after && test_no_leftovers
'

test_expect_success SLUICE 'SIGKILL during a ref transaction: the next one works' '
	mkdir -p .git/hooks && cp "$TRASH/.prepared" .git/hooks/reference-transaction &&
	stock_git for-each-ref >before &&
	struck KILL git update-ref refs/heads/t HEAD && test $rc = 137 && rm .git/hooks/reference-transaction &&
	stock_git for-each-ref >after && test_cmp before after &&
	git update-ref refs/heads/t HEAD && test_no_leftovers && test_fsck
'

test_expect_success 'SIGTERM in pre-commit: the index and HEAD stand' '
	head=$(stock_git rev-parse HEAD) && stock_git add new && cp .git/index "$TRASH/index" &&
	hook pre-commit && struck TERM git commit -q -m three && test $rc = 143 &&
	test "$(stock_git rev-parse HEAD)" = $head && stock_git diff --cached --name-only >staged &&
	echo new >expect && test_cmp expect staged && test_no_leftovers
'

test_expect_success SLUICE 'SIGKILL in pre-commit: the next commit works' '
	hook pre-commit && struck KILL git commit -q -m three && unhook pre-commit && test "$(stock_git rev-parse HEAD)" = $head &&
	git commit -q -m three && test "$(stock_git rev-parse HEAD~1)" = $head && test_fsck
'

test_expect_success 'SIGTERM while add runs a filter: the index stands' '
	stock_git config filter.hold.clean "$HOLD" && test_when_finished "stock_git config --remove-section filter.hold; rm -f .gitattributes" &&
	echo "held filter=hold" >.gitattributes && echo held >held && cp .git/index "$TRASH/index" &&
	struck TERM git add held && test $rc = 143 && cmp "$TRASH/index" .git/index &&
	find .git/objects -name "tmp_obj*" -delete && test_no_leftovers
'

test_expect_success SLUICE 'SIGKILL while add runs a filter: the next add works' '
	stock_git config filter.hold.clean "$HOLD" && test_when_finished "stock_git config --remove-section filter.hold; rm -f .gitattributes" &&
	echo "held filter=hold" >.gitattributes && cp .git/index "$TRASH/index" &&
	struck KILL git add held && cmp "$TRASH/index" .git/index &&
	rm .gitattributes && git add held && stock_git ls-files --error-unmatch held && test_fsck
'

test_expect_success 'SIGTERM in pre-receive: nothing was pushed' '
	stock_git -C "$TRASH/bare.git" for-each-ref >before &&
	hook pre-receive "$TRASH/bare.git" && struck TERM git push -q "$TRASH/bare.git" two:refs/heads/main &&
	i=0 && while test $i -lt 100 && test -d "$(echo "$TRASH"/bare.git/objects/tmp_objdir-*)" && test -z "$SLUICE"; do sleep 0.05; i=$((i + 1)); done &&
	test_fsck "$TRASH/bare.git"
'

test_expect_success SLUICE 'SIGTERM in pre-receive leaves the old refs and no quarantine' '
	stock_git -C "$TRASH/bare.git" update-ref refs/heads/main one~0 2>/dev/null || : &&
	stock_git -C "$TRASH/bare.git" for-each-ref >before &&
	hook pre-receive "$TRASH/bare.git" && struck TERM git push -q "$TRASH/bare.git" two:refs/heads/other && test $rc = 143 &&
	stock_git -C "$TRASH/bare.git" for-each-ref >after && test_cmp before after && test_no_leftovers "$TRASH/bare.git"
'

test_expect_success SLUICE 'SIGKILL in pre-receive: the same push works the next time' '
	hook pre-receive "$TRASH/bare.git" && struck KILL git push -q "$TRASH/bare.git" two:refs/heads/other && unhook pre-receive "$TRASH/bare.git" &&
	stock_git -C "$TRASH/bare.git" for-each-ref >after && test_cmp before after &&
	git push -q "$TRASH/bare.git" two:refs/heads/other && test_fsck "$TRASH/bare.git" &&
	find "$TRASH/bare.git" -name "*.lock" >left && test_must_be_empty left
'

test_expect_success SLUICE 'SIGKILL at any moment of a run of commands' '
	stock_git init -q storm && cd storm && n=0 &&
	while test $n -lt 20; do
		n=$((n + 1)) && echo $n >f$n &&
		if test $((n % 2)) = 1; then git add . & else git commit -q -a --allow-empty -m $n & fi && pid=$! &&
		sleep 0.00$((n % 10)) && { kill -9 $pid 2>/dev/null || :; } && { wait $pid || :; } || return 1
	done &&
	git add . && git commit -q --allow-empty -m end && test_fsck && test -z "$(stock_git status --porcelain)"
'

test_done
