/* SPDX-License-Identifier: Apache-2.0 */
/* tests/api/late.c -- a program that opens the library itself (its argument),
 * and makes its first call of CUDA through it. Prints what a scaler says. */
#define AUTOCAST_DYNAMIC
#include <autocast_scaler.h>

#include <stdio.h>

int
main(int argc, char **argv)
{
	autocast_scaler *scaler = NULL;
	autocast_status status;

	if (argc != 2 || !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
		return 2;
	status = autocast_scaler_create(NULL, &scaler);
	if (!status)
		status = autocast_scaler_prepare(scaler, 0, NULL);
	if (!status)
		status = autocast_scaler_scale(scaler, NULL, 0, NULL);
	printf("%s: %s\n", autocast_status_string(status),
	    autocast_last_error());
	autocast_scaler_destroy(scaler);
	return 0;
}
