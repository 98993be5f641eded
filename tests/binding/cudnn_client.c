/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/cudnn_client.c -- linked to libcudnn: two of its functions,
 * with arguments that it refuses. */
#include <stddef.h>
#include <stdio.h>

extern int cudnnBackendExecute(void *, void *, void *);
extern int cudnnConvolutionForward(void *, void *, void *, void *, void *,
    void *, void *, int, void *, size_t, void *, void *, void *);

int
main(void)
{
	dprintf(1, "execute %d\n", cudnnBackendExecute(NULL, NULL, NULL));
	dprintf(1, "forward %d\n", cudnnConvolutionForward(NULL, NULL, NULL,
	    NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL));
	return 0;
}
