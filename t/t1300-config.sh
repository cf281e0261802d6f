#!/bin/sh
# Configuration: scopes, includes, the environment, and writing with comments kept.

. "$(dirname "$0")/test-lib.sh"

test_expect_success 'set, get, unset' '
	git config sec.key one &&
	git config --add sec.key two &&
	test "$(git config sec.key)" = two &&
	printf "%s\n" one two >expect &&
	git config --get-all sec.key >actual &&
	test_cmp expect actual &&
	test_expect_code 5 git config sec.key three &&
	git config --replace-all sec.key three &&
	test "$(stock_git config --get-all sec.key)" = three &&
	git config --unset sec.key &&
	test_expect_code 1 git config sec.key &&
	test_expect_code 5 git config --unset sec.key
'

test_expect_success 'comments, blanks and line ends survive, modes too' '
	printf "# top\n[a]\n\tb = 1 ; note\n\n   c   =   2   \n[d \"E.f\"]\r\n\tg = h\r\n" >cfg &&
	chmod 640 cfg &&
	git config -f cfg a.c 3 &&
	git config -f cfg d.E.f.g "x; y" &&
	git config -f cfg new.key " v " &&
	printf "# top\n[a]\n\tb = 1 ; note\n\n\tc = 3\n[d \"E.f\"]\r\n\tg = \"x; y\"\n[new]\n\tkey = \" v \"\n" >expect &&
	test_cmp expect cfg &&
	test "$(stat -c %a cfg)" = 640
'

test_expect_success 'a symbolic link is followed, not replaced' '
	ln -s cfg link &&
	git config -f link via.link yes &&
	test -L link &&
	test "$(stock_git config -f cfg via.link)" = yes
'

test_expect_success 'scopes and their order' '
	git config --global who.am global &&
	test "$(git config who.am)" = global &&
	git config who.am local &&
	test "$(git config who.am)" = local &&
	test "$(git -c who.am=command config who.am)" = command &&
	test "$(GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=who.am GIT_CONFIG_VALUE_0=env git config who.am)" = env &&
	printf "[who]\n\tam = file\n" >g &&
	test "$(GIT_CONFIG_GLOBAL=$PWD/g git config --global who.am)" = file &&
	test "$(git config --global who.am)" = global
'

test_expect_success 'includes, with and without a condition' '
	printf "[inc]\n\tk = plain\n" >.git/plain &&
	printf "[inc]\n\tk = gitdir\n" >.git/cond &&
	printf "[inc]\n\tk = branch\n" >.git/branch &&
	git config include.path plain &&
	test "$(git config inc.k)" = plain &&
	git config "includeIf.gitdir:$PWD/.path" cond &&
	test "$(git config inc.k)" = gitdir &&
	git config "includeIf.onbranch:other/.path" branch &&
	test "$(git config inc.k)" = gitdir &&
	git symbolic-ref HEAD refs/heads/other/x &&
	test "$(git config inc.k)" = branch &&
	git symbolic-ref HEAD refs/heads/main &&
	git config --unset-all include.path &&
	git config --remove-section "includeIf.gitdir:$PWD/" &&
	git config --remove-section "includeIf.onbranch:other/"
'

test_expect_success 'an include that includes itself ends' '
	printf "[include]\n\tpath = loop\n" >loop &&
	test_expect_code 128 git config -f loop --includes --list 2>err &&
	test_grep "exceeded maximum include depth" err
'

test_expect_success 'types' '
	git config t.b yes && git config t.n 3k && git config t.bad 3x &&
	test "$(git config --type=bool t.b)" = true &&
	test "$(git config --type=int t.n)" = 3072 &&
	test_expect_code 128 git config --type=int t.bad 2>err &&
	test_grep "bad numeric config value .3x. for .t.bad. in file .git/config: invalid unit" err
'

test_expect_success 'what is broken is reported, and nothing is written' '
	for text in "[a" "[a]\nb" "garbage" "[a]\n\tb = \"open" "[a]\n\tb = \\x"; do
		printf "$text" >broken && cp broken saved &&
		test_expect_code "$(stock_git config -f broken x.y z 2>/dev/null; echo $?)" git config -f broken x.y z 2>/dev/null &&
		cp saved broken || return 1
	done &&
	printf "\0\0\0" >broken &&
	test_expect_code 128 git config -f broken x.y z &&
	test_path_is_missing broken.lock
'

test_expect_success 'a lock that is held' '
	>.git/config.lock &&
	test_expect_code 255 git -c core.configLockTimeout=10 config a.b c 2>err &&
	test_grep "could not lock config file .git/config: File exists" err &&
	rm .git/config.lock
'

test_expect_success GIT_2_46 'the new syntax' '
	git config set new.k 1 &&
	git config set --append new.k 2 &&
	test "$(git config get new.k)" = 2 &&
	git config unset --all new.k &&
	test_expect_code 1 git config get new.k
'

test_expect_success SLUICE 'two writers lose nothing' '
	for i in 1 2 3 4 5 6 7 8; do
		git -c core.configLockTimeout=-1 config race.k$i $i &
	done &&
	wait &&
	stock_git config --get-regexp race >actual &&
	test_line_count = 8 actual
'

test_done
