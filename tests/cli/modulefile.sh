#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The modulefiles, where they are installed, find the program from their own
# place, and preload in the tasks of srun only. Read by tclsh with the commands
# of modules made here, so that no module system is needed.
. "$(dirname "$0")/../lint/tap.sh"
command -v tclsh >/dev/null || skip_all 'no tclsh'
work=$(mktemp -d "${TMPDIR:-/tmp}/autocast-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
modules=$work/share/modulefiles
mkdir -p "$work/bin" "$work/lib/pkgconfig" "$modules/autocast" \
    "$modules/autocast-tasks" "$work/share/libautocast"
cp "$root/packaging/modulefile" "$modules/autocast/1"
cp "$root/packaging/modulefile-tasks" "$modules/autocast-tasks/1"
cat >"$work/module.tcl" <<'END'
proc module-whatis { text } { }
proc conflict { name } { puts "conflict $name" }
proc setenv { name value } { puts "$name=$value" }
proc prepend-path { name value } { puts "$name<$value" }
proc append-path { name value } { puts "$name>$value" }
set ModulesCurrentModulefile [lindex $argv 0]
source $ModulesCurrentModulefile
ModulesHelp
END

# load FILE VARIABLES...: what it sets, its prefix as PREFIX.
load()
{
	env "${@:2}" tclsh "$work/module.tcl" "$modules/$1" 2>&1 |
	    sed "s,$work,PREFIX,g"
}

equal 'without the program: one sentence' \
    'autocast: there is no PREFIX/bin/autocast; set prefix in PREFIX/share/modulefiles/autocast/1' \
    "$(load autocast/1 | grep -v '^conflict')"
printf '#!/bin/sh\necho /x/libautocast.so\n' >"$work/bin/autocast"
chmod +x "$work/bin/autocast"
equal 'PATH, MANPATH and PKG_CONFIG_PATH' 'conflict autocast
PATH<PREFIX/bin
MANPATH<PREFIX/share/man
MANPATH>
PKG_CONFIG_PATH<PREFIX/lib/pkgconfig' "$(load autocast/1 | grep '[<>=]\|^conf')"
check 'nothing is preloaded' "$(load autocast/1 | grep PRELOAD)"

equal 'tasks without the prolog: one sentence' 1 \
    "$(load autocast-tasks/1 | grep -c 'there is no .*/task-prolog; set')"
install -m 755 "$root/packaging/task-prolog" "$work/share/libautocast"
equal 'tasks have a prolog' \
    'SLURM_TASK_PROLOG=PREFIX/share/libautocast/task-prolog' \
    "$(load autocast-tasks/1 | grep ^SLURM)"
equal 'twice' 'SLURM_TASK_PROLOG=PREFIX/share/libautocast/task-prolog' \
    "$(load autocast-tasks/1 \
    SLURM_TASK_PROLOG="$work/share/libautocast/task-prolog" | grep ^SLURM)"
equal 'but not in the place of another' 0 \
    "$(load autocast-tasks/1 SLURM_TASK_PROLOG=/y | grep -c ^SLURM)"
prolog=$work/share/libautocast/task-prolog
equal 'which preloads' 'export LD_PRELOAD=/x/libautocast.so' \
    "$(env -u LD_PRELOAD "$prolog")"
equal 'before what is preloaded' 'export LD_PRELOAD=/x/libautocast.so:/z.so' \
    "$(LD_PRELOAD=/z.so "$prolog" 2>/dev/null)"
rm "$work/bin/autocast"
equal 'or says nothing, and the task starts' '0,' \
    "$(env -u LD_PRELOAD "$prolog" 2>/dev/null; echo "$?,")"
plan
