/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profiles/profiles.c -- the built-in profiles by name. Constant
 * data. */
#include "policy/profiles/profiles.h"

#include "policy/language/names.h"
#include "policy/policy.h"

#include <string.h>

const char *
ac_policy_profile_text(const char *name)
{
	static const char *const texts[AC_PROFILE_COUNT] = {
		[AC_PROFILE_OFF] = ac_profile_off,
		[AC_PROFILE_TF32] = ac_profile_tf32,
		[AC_PROFILE_FP16] = ac_profile_fp16,
		[AC_PROFILE_BF16] = ac_profile_bf16,
		[AC_PROFILE_AMP] = ac_profile_amp,
	};
	const int which = ac_name_find(name, strlen(name), ac_profile_names,
	    AC_PROFILE_COUNT);

	return which < 0 ? NULL : texts[which];
}
