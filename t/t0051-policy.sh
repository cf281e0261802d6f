#!/bin/sh
# What core.fsync and sluice's own keys mean.

. "$(dirname "$0")/test-lib.sh"

# warned VALUE: what the value of core.fsync is warned of.
warned () {
	git -c core.fsync="$1" hash-object -w a 2>&1 >/dev/null
}

test_expect_success 'a file' '
	echo a >a && git add a && git commit -q -m a
'

test_expect_success 'unknown components are warned of, and do not stop a command' '
	echo "warning: ignoring unknown core.fsync component '\''nonsense'\''" >expect &&
	warned nonsense,all >actual && test_cmp expect actual &&
	echo "warning: ignoring unknown core.fsync component '\''none'\''" >expect &&
	warned none,index >actual && test_cmp expect actual
'

test_expect_success 'names match by prefix, and none alone is no component' '
	for value in ind c -pack all none committed,-loose-object "" derived-metadata; do
		warned "$value" >actual && test_must_be_empty actual || return 1
	done
'

test_expect_success 'a lone minus sign' '
	warned - >actual && test_grep "warning: invalid value for variable core.fsync" actual
'

test_expect_success 'an unknown method is warned of' '
	git -c core.fsyncMethod=nonsense hash-object -w a 2>actual &&
	test_grep "ignoring unknown core.fsyncMethod value" actual
'

test_expect_success 'core.fsyncObjectFiles is deprecated' '
	git -c core.fsyncObjectFiles=true hash-object -w a 2>actual &&
	test_grep "core.fsyncObjectFiles is deprecated" actual
'

test_expect_success 'a key without a value is fatal' '
	printf "[core]\n\tfsync\n" >bad && test_expect_code 128 git -c include.path="$PWD/bad" update-ref refs/heads/v HEAD 2>actual &&
	test_grep "core.fsync" actual
'

test_expect_success STRACE,SLUICE 'order does not matter to what is hardened: all,-reference hardens references' '
	git config sluice.barrier journal && test_when_finished "git config --unset sluice.barrier" &&
	test_flushes 1 git -c core.fsyncMethod=batch -c core.fsync=all,-reference update-ref refs/heads/r1 HEAD &&
	test_flushes 0 git -c core.fsyncMethod=batch -c core.fsync=loose-object update-ref refs/heads/r2 HEAD
'

test_expect_success STRACE,SLUICE 'the last assignment wins; sets do not add up' '
	test_flushes 0 git -c core.fsync=all -c core.fsync=none update-ref refs/heads/last HEAD
'

test_expect_success STRACE,SLUICE 'sluice.settle=false flushes what git would flush' '
	test_flushes 1 git -c core.fsyncMethod=fsync -c core.fsync=reference -c sluice.settle=false update-ref refs/heads/s1 HEAD &&
	test_flushes 0 git -c core.fsyncMethod=fsync -c core.fsync=all -c sluice.settle=false symbolic-ref SYM refs/heads/s1 &&
	test_flushes 0 git -c core.fsyncMethod=fsync -c core.fsync=all -c sluice.settle=false config x.y z
'

test_expect_success STRACE,SLUICE 'sluice.default=git hardens packs only' '
	test_flushes 0 git -c sluice.default=git update-ref refs/heads/g1 HEAD
'

test_expect_success SLUICE 'a wrong value of a key of our own is fatal, by name' '
	for key in default settle barrier; do
		test_expect_code 128 git -c sluice.$key=nonsense update-ref refs/heads/no HEAD 2>actual &&
		test_grep "fatal: invalid value for '\''sluice.$key'\'': '\''nonsense'\''" actual || return 1
	done &&
	test_must_fail git rev-parse --verify -q refs/heads/no
'

test_expect_success SLUICE 'writeout-only writes out and flushes nothing' '
	GIT_TRACE2_EVENT=$PWD/trace git -c core.fsync=all -c core.fsyncMethod=writeout-only update-ref refs/heads/w HEAD &&
	test_grep "\"name\":\"writeout-only\"" trace && test_grep ! "\"name\":\"hardware-flush\"" trace
'

test_expect_success SLUICE 'sluice policy says what is in force, and which file said so' '
	git config core.fsync none && test_when_finished "git config --unset core.fsync" &&
	"$GIT_UNDER_TEST/../sluice" policy >actual &&
	test_grep "^core.fsync  *none" actual && test_grep "config" actual
'

test_done
