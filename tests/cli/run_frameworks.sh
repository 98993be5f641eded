#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_frameworks.sh -- what TensorFlow and PyTorch look for before CUDA is there
# on the emulated GPU: the management library, by C, and NVIDIA's other
# libraries in the folders of the Python that is started.
. "$(dirname "$0")/transcript.sh"
[ -f "$build/libautocast.so" ] || skip_all 'libautocast.so is not built'
[ -z "${SANITIZERS:-}" ] || skip_all 'a sanitized library loads into sanitized programs only'
[ -f "$build/emulator/libnvidia-ml.so.1" ] || skip_all 'no emulated GPU was built'
export AUTOCAST_NOTICE=off

# compile NAME: the program on stdin.
compile()
{
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -x c -o "$1" - -ldl || exit 99
}

compile asks <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *library;
static int
absent(void)
{
	return -1;
}
/* Any of them: integers and pointers go the same way. */
static int
call(const char *name, const void *a, const void *b, unsigned long c)
{
	int (*at)(const void *, const void *, unsigned long) =
	    (int (*)(const void *, const void *, unsigned long))
	    dlsym(library, name);

	return at ? at(a, b, c) : absent();
}
#define NUMBER(n) ((const void *)(unsigned long)(n))

static void
show(unsigned index)
{
	char name[96] = "", uuid[96] = "", id[] = "00000000:01:00.0";
	void *device = NULL, *again = NULL;
	int major = 0, minor = 0, same;
	unsigned long long memory[3] = { 0 };
	struct { unsigned version; unsigned long long of[4]; } two =
	    { 40 | 2u << 24, { 0 } };
	unsigned place = 99, count = 8, none[48];
	int listed;

	printf("%d", call("nvmlDeviceGetHandleByIndex_v2", NUMBER(index),
	    &device, 0));
	printf(" %d", call("nvmlDeviceGetName", device, name, sizeof name));
	call("nvmlDeviceGetUUID", device, uuid, sizeof uuid);
	same = !call("nvmlDeviceGetHandleByUUID", uuid, &again, 0) &&
	    again == device;
	id[10] = (char)('1' + index);
	same += !call("nvmlDeviceGetHandleByPciBusId_v2", id, &again, 0) &&
	    again == device;
	call("nvmlDeviceGetIndex", device, &place, 0);
	call("nvmlDeviceGetMemoryInfo", device, memory, 0);
	call("nvmlDeviceGetMemoryInfo_v2", device, &two, 0);
	listed = call("nvmlDeviceGetComputeRunningProcesses_v3", device,
	    &count, (unsigned long)none);
	call("nvmlDeviceGetCudaComputeCapability", device, &major,
	    (unsigned long)&minor);
	printf(" %s: %.40s same %d place %u sm_%d%d %llu %llu %llu, %d, "
	    "power %d\n", name, uuid, same, place, major, minor, memory[0],
	    memory[2], two.of[2] == memory[1] ? two.of[0] : 0,
	    listed + (int)count,
	    call("nvmlDeviceGetPowerUsage", device, none, 0));
}

int
main(void)
{
	int (*reset)(void), (*take)(void **, size_t), status = 0, version = 0;
	struct { unsigned pid; unsigned long long used; } process = { 0, 0 };
	void *runtime, *memory, *first = NULL;
	char text[80] = "";
	unsigned count = 0;

	library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	if (!library)
		return 1;
	printf("%d", call("nvmlDeviceGetCount_v2", &count, NULL, 0));
	printf(" %d", call("nvmlInit_v2", NULL, NULL, 0));
	printf("%d", call("nvmlInitWithFlags", NULL, NULL, 0));
	printf("%d", call("nvmlShutdown", NULL, NULL, 0));
	printf("%d", call("nvmlSystemGetNVMLVersion", text, NUMBER(80), 0));
	printf(" %s", text);
	printf("%d", call("nvmlSystemGetCudaDriverVersion", &version, NULL, 0));
	printf(" %d", version);
	printf(" %d", call("nvmlSystemGetDriverVersion", text, NUMBER(80), 0));
	printf(" %d", call("nvmlDeviceGetCount_v2", &count, NULL, 0));
	printf(" %s %u %d %d\n", text, count,
	    call("nvmlSystemGetDriverVersion", text, NUMBER(3), 0),
	    call("nvmlDeviceGetHandleByIndex_v2", NUMBER(count), text, 0));
	for (unsigned i = 0; i < count; i++)
		show(i);
	printf("%s, %s\n", ((const char *(*)(int))dlsym(library,
	    "nvmlErrorString"))(3), ((const char *(*)(int))dlsym(library,
	    "nvmlErrorString"))(77));
	/* It was asked, but not brought up: a child may still start. */
	runtime = dlopen("libcudart.so.13", RTLD_NOW);
	reset = (int (*)(void))dlsym(runtime, "cudaDeviceReset");
	take = (int (*)(void **, size_t))dlsym(runtime, "cudaMalloc");
	fflush(stdout);
	if (!fork())
		_exit(reset());
	wait(&status);
	call("nvmlDeviceGetHandleByIndex_v2", NUMBER(0), &first, 0);
	count = 1;
	printf("%d, ", take(&memory, 1 << 20));
	printf("%d, ", call("nvmlDeviceGetComputeRunningProcesses", first,
	    &count, (unsigned long)&process));
	printf("%d %llu\n", process.pid == (unsigned)getpid(), process.used);
	printf("child %d, end %d", WEXITSTATUS(status),
	    call("nvmlShutdown", NULL, NULL, 0));
	printf(" %d\n",
	    call("nvmlShutdown", NULL, NULL, 0));
	return 0;
}
END
equal 'the management library says what the models say' \
    "$(AUTOCAST_EMU_MODEL=h100,rtx5090 "$autocast" run --emulate ./asks 2>&1)" \
    '1 0000 13.580.65.060 13000 0 0 580.65.06 2 7 2
0 0 NVIDIA H100 80GB HBM3 (emulated): GPU-656d756c-6174-6564-2064-657669636530 same 2 place 0 sm_90 80000000000 0 80000000000, 0, power 3
0 0 NVIDIA GeForce RTX 5090 (emulated): GPU-656d756c-6174-6564-2064-657669636531 same 2 place 1 sm_120 32000000000 0 32000000000, 0, power 3
Not Supported, Unknown Error
0, 0, 1 1048576
child 0, end 0 1'
equal 'of a model that is none it says that there is no driver' \
    "$(AUTOCAST_EMU_MODEL=none LD_LIBRARY_PATH=$build/emulator ./asks 2>/dev/null |
        cut -d' ' -f-2 | head -n 1)" '1 9911'

# A Python in an environment of its own: a link to one that lies elsewhere.
mkdir -p elsewhere env/bin env/lib/python3.99/site-packages/nvidia/{cusolver,nvjitlink,cu13,cufft}/lib \
    home/.local/lib/python3.99/site-packages/nvidia/cusparse/lib
compile elsewhere/python3.99 <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void) { return puts(getenv("LD_LIBRARY_PATH")) < 0; }
END
ln -s "$PWD/elsewhere/python3.99" env/bin/python
printf '#!%s\n' "$PWD/env/bin/python" >script
chmod +x script
site=$PWD/env/lib/python3.99/site-packages/nvidia
wanted="$build/emulator:/of/the/user:$site/cusolver/lib:$site/nvjitlink/lib:$site/cu13/lib:$PWD/home/.local/lib/python3.99/site-packages/nvidia/cusparse/lib"
export LD_LIBRARY_PATH=/of/the/user HOME=$PWD/home
equal 'what pip brought to a Python is found, last' \
    "$("$autocast" run --emulate env/bin/python)" "$wanted"
equal 'and to the Python of a script' "$("$autocast" run --emulate ./script)" \
    "$wanted"
equal 'not without the emulated GPU' "$("$autocast" run env/bin/python)" \
    /of/the/user
mv elsewhere/python3.99 program
equal 'nor for another program' "$("$autocast" run --emulate ./program)" \
    "$build/emulator:/of/the/user"
plan
