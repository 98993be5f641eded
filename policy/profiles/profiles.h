/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profiles/profiles.h -- the texts of policy/profiles/, as profiles.S
 * embeds them, each with a NUL behind it. */
#ifndef AC_POLICY_PROFILES_H
#define AC_POLICY_PROFILES_H

extern const char ac_profile_off[], ac_profile_tf32[], ac_profile_fp16[],
    ac_profile_bf16[], ac_profile_accurate[], ac_profile_amp[];

#endif
