#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_launcher.sh -- a launcher that keeps the library from ranks: one line says
# so, and what to type; where nothing is lost there is none.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
pretend_driver
mkdir bin
for name in mpirun srun mpiexec.hydra env-mpi; do
	printf '#!/bin/sh\nenv | grep -c ^LD_PRELOAD= >/dev/null\n' >"bin/$name"
done
chmod +x bin/*
ln -s mpiexec.hydra bin/mpiexec
PATH=$PWD/bin:$PATH

# warns WORD...: what it says of the launcher.
warns()
{
	"$autocast" run "$@" 2>&1 | grep 'ranks' | normal
}
lost="autocast: Open MPI's mpirun forwards no variable to other hosts: ranks on"
added='-x LD_PRELOAD -x AUTOCAST_RUN -x AUTOCAST_STATE'
equal 'another host' "$(warns -- mpirun -host a,b ./x)" \
    "$lost a start without the library, in FP32; type: autocast run -- mpirun $added -host a,b ./x"
equal 'the policy goes, too' "$(warns --policy fp16 -e 'gemm -> keep' -- mpirun --host=localhost,b:4 -np 2 ./x 'a b')" \
    "$lost b start without the library, in FP32; type: autocast run --policy fp16 -e 'gemm -> keep' -- mpirun $added -x AUTOCAST_POLICY -x AUTOCAST_RULES --host=localhost,b:4 -np 2 ./x 'a b'"
printf '# ours\n%s slots=2\nnode7 slots=4\n' "$(hostname)" >hosts
for words in '-H node7' '-hostfile hosts' '--machinefile hosts' '--mca a b --hostfile hosts' \
    '-x OTHER -H node7'; do
	equal "$words" "$(warns -- mpirun $words ./x | grep -o 'ranks on [^ ]*')" 'ranks on node7'
done
typed=$(warns -- mpirun -H node7 ./x | sed 's/.*; type: autocast run -- //')
equal 'what to type is warned of no more' "$(warns -- $typed)" ''
printf '%s\n' "$(hostname)" >here
for words in '-np 4 ./x -H node7' "-H localhost,$(hostname):4 ./x" '-hostfile here ./x' \
    '-hostfile missing ./x' '-x LD_PRELOAD=/lib/y -H node7 ./x' '-H node7 autocast run ./x'; do
	equal "nothing is lost: $words" "$(warns -- mpirun $words)" ''
done
# What can be read but once is the launcher's to read.
mkdir once
printf '#!/bin/sh\ncat "$2"\n' >once/mpirun
chmod +x once/mpirun
reads()
{
	"$autocast" run -- once/mpirun --hostfile "$@" ./x 2>/dev/null
}
mkfifo fifo
equal 'hosts of a process substitution' "$(reads <(echo node7))" node7
equal 'hosts from standard input' "$(echo node7 | reads /dev/stdin)" node7
equal 'hosts of a FIFO' "$(echo node7 >fifo & reads fifo)" node7
equal 'hosts of a FIFO that nobody writes' "$(timeout 60 "$autocast" run -- mpirun -hostfile fifo ./x 2>&1 |
    grep -c 'ranks'; echo "${PIPESTATUS[0]}")" '0
0'
equal 'hosts without end' "$(timeout 60 "$autocast" run -- mpirun -hostfile /dev/zero ./x 2>&1 |
    grep -c 'ranks'; echo "${PIPESTATUS[0]}")" '0
0'
equal 'MPICH forwards all' "$(warns -- mpiexec -host node7 ./x)" ''
equal 'another program is none' "$(warns -- env-mpi -host node7 ./x)" ''
equal 'srun --export=NONE' "$(warns -- srun --export=NONE ./x)" \
    'autocast: srun --export=NONE keeps the library from its ranks: they start in FP32; type --export=ALL'
equal 'srun --export=A,B' "$(warns -- srun -n 2 --export=A,B ./x)" \
    'autocast: srun --export=A,B keeps the library from its ranks: they start in FP32; type --export=ALL,A,B'
equal 'srun --export=ALL,A' "$(warns -- srun --export=ALL,A ./x)" ''
equal 'who wants no notice has none' "$(AUTOCAST_NOTICE=off warns -- mpirun -H node7 ./x)" ''

# ---- In each rank: what to type is for all of them, and starts the launcher.
cp "$counting" counting
mkdir ranks
cat >ranks/mpirun <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift 2; done
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$@"
status=$?
exit $status
END
sed 's/"$@"$/sh -c '\''"$@"; exit $?'\'' proxy "$@"/' ranks/mpirun >ranks/mpiexec
chmod +x ranks/*
PATH=$PWD/ranks:$PATH
# typed WORD...: the last command that it says to type.
typed()
{
	"$@" 2>&1 | sed -n 's/.*type: //p' | tail -n 1 | normal
}
equal 'mpirun autocast run' "$(typed mpirun -n 2 "$autocast" run -- ./counting)" \
    'autocast compare -- PLACE/here/ranks/mpirun -n 2 ./counting'
equal 'with options' "$(typed mpirun -n 2 "$autocast" run --policy=tf32 -e 'gemm -> tf32' ./counting 0)" \
    "autocast compare --policy tf32 -e 'gemm -> tf32' -- PLACE/here/ranks/mpirun -n 2 ./counting 0"
equal 'a process in between, one above' \
    "$(typed timeout 600 mpiexec -n 2 "$autocast" run -- ./counting)" \
    'autocast compare -- timeout 600 mpiexec -n 2 ./counting'
equal 'nothing was seen' "$(typed mpirun -n 2 "$autocast" run -- true 'a b')" \
    "autocast doctor -- PLACE/here/ranks/mpirun -n 2 true 'a b'"
equal 'a launcher that is not to be seen' \
    "$(OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=a typed "$autocast" run -- ./counting)" \
    'autocast compare -- LAUNCHER ./counting, with srun or the like and its options for LAUNCHER'
equal 'no rank' "$(typed timeout 600 "$autocast" run -- ./counting)" \
    'autocast compare -- ./counting'
plan
