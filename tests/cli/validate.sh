#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# validate.sh -- what autocast policy validate refuses before a run, what it says of
# runs that end badly or make no call, and what it leaves behind: nothing.
# tests/preload/scaling.sh has programs that it tells apart.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
mkdir "$place/tmp"
export TMPDIR=$place/tmp

# stub NAME: a program from standard input.
stub()
{
	{
		echo '#!/bin/bash'
		cat
	} >"$1"
	chmod +x "$1"
}

cat >lines <<'END'
version 2
seed   fn=cublasSscal_v2 n=320 -> scale=2^16
update fn=cublasSaxpy_v2       -> unscale
gemm -> fp16
END

# ---- Refused before the first run
stub never <<'END'
touch started
END
play 9
AUTOCAST_STATE=off show policy validate --policy lines ./never
TMPDIR=/dev/null show policy validate --policy lines ./never
pretend_driver
play 3
cat >other <<'END'
version 2
[program=train*]
seed -> scale=2^4
update -> unscale
END
stub trainer <<'END'
touch started
END
show run --policy other ./trainer
equal 'nothing was started' "$(ls)" 'lines
never
other
trainer'
stub clean <<'END'
echo clean
END
show run --policy other ./clean

# ---- Runs
stub bad <<'END'
exit 7
END
stub killed <<'END'
kill -9 $$
END
stub quiet <<'END'
echo this is not shown
echo "$AUTOCAST_POLICY" >>policies
echo "${AUTOCAST_RULES-unset}" "${AUTOCAST_VALIDATE%%:*}" >>runs
END
play 2
AUTOCAST_RULES='conv -> tf32' show policy validate --policy lines ./quiet
equal 'two runs, without and with the scale' "$(cat runs)" ' plain
 scaled'
equal 'of the lines and nothing else' "$(head -n 4 policies)" 'version 2
seed fn=cublasSscal_v2 n=320 -> scale=2^16
update fn=cublasSaxpy_v2 -> unscale
otherwise off'
equal 'no folder is left' "$(ls "$TMPDIR")" ''
equal 'no stamp is left' "$(ls "$AUTOCAST_STATE/validated" 2>/dev/null)" ''

# ---- As text
play 11
sed 's/_v2//' lines >unknown
show policy check unknown
shown

# ---- The functions that there are
known=$("$autocast" explain --functions | sed -n 's/ *scaled by validated.*//p' | tr '\n' ' ')
equal 'the warning names the calls on vectors of the list, and all of them' \
    "$("$autocast" policy check unknown 2>&1 | sed -n 's/.*only one of: //p' |
    tr ' ' '\n' | sort -u)" "$(echo "$known" | tr ' ' '\n' | sed '/^$/d' | sort)"
for name in $known 'cublasS*' '*'; do
	sed "s/cublasSscal_v2/$name/" lines >pattern
	equal "fn=$name is no slip" "$("$autocast" policy check pattern 2>&1)" \
	    'pattern: ok'
done
plan
