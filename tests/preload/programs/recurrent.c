/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/recurrent.c -- the passes of a recurrent network of
 * cuDNN's: recurrent [THREADS] makes each of them twice in each thread, with
 * nothing to compute, and prints what every call answered. */
#include <cudnn.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PASSES = 3, TURNS = 2, MOST = 16 };

static void *
make_passes(void *answers)
{
	int *answer = answers;

	for (int turn = 0; turn < TURNS; turn++) {
		*answer++ = (int)cudnnRNNForward(NULL, NULL,
		    CUDNN_FWD_MODE_TRAINING, NULL, NULL, NULL, NULL, NULL,
		    NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0,
		    NULL);
		*answer++ = (int)cudnnRNNBackwardData_v8(NULL, NULL, NULL,
		    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
		    NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL);
		*answer++ = (int)cudnnRNNBackwardWeights_v8(NULL, NULL,
		    CUDNN_WGRAD_MODE_ADD, NULL, NULL, NULL, NULL, NULL, NULL,
		    NULL, 0, NULL, 0, NULL, 0, NULL);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	int answers[MOST][TURNS * PASSES];
	pthread_t thread[MOST];

	if (threads < 1 || threads > MOST)
		return 2;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, make_passes, answers[i]))
			return 3;
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		for (int j = 0; j < TURNS * PASSES; j++)
			printf("%d\n", answers[i][j]);
	}
	return 0;
}
