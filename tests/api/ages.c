/* SPDX-License-Identifier: Apache-2.0 */
/* tests/api/ages.c -- what a program gets of the library that it finds,
 * whatever its age: tests/api/older.c. Also that all files and threads find the
 * same. */
#include "autocast_scaler.h"

#include <pthread.h>
#include <stdio.h>

/* tests/api/ages.cc */
extern
#ifdef __cplusplus
"C"
#endif
const struct autocast_functions *found_elsewhere(void);

static void *
look(void *unused)
{
	(void)unused;
	return (void *)(uintptr_t)autocast_functions_find();
}

int
main(void)
{
	autocast_scaler *scaler = NULL;
	autocast_group *group = NULL;
	pthread_t threads[8];
	void *found;
	int i, same = 1;

	for (i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, look, NULL) != 0)
			return 99;
	for (i = 0; i < 8; i++) {
		pthread_join(threads[i], &found);
		same &= found == (void *)(uintptr_t)found_elsewhere();
	}
	printf("found %s\n", same ? "once" : "differently");
	printf("push %d, pop %d\n", (int)autocast_region_push("r", 1, NULL),
	    (int)autocast_region_pop());
	printf("create %d", (int)autocast_scaler_create(NULL, &scaler));
	printf(", %s", (uintptr_t)scaler & 1 ? "disabled" : "the library's");
	if (autocast_functions_find()->abi == 2)
		return puts("") < 0; /* the rest of its table is not there */
	printf(", group %d", (int)autocast_group_create(scaler, "g", &group));
	printf(", update %d\n", (int)autocast_scaler_update(scaler, NULL));
	printf("%s\n", autocast_status_string(AUTOCAST_E_ABI));
	autocast_scaler_destroy(scaler);
	return 0;
}
