/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/group.c -- groups: lanes of a warp that are at the same
 * instruction. */
#include "emulator/ptx/run.h"

/* Those that run and are at the same place merge. */
static void
merge(struct frame *f)
{
	for (int i = 0; i < f->groups; i++)
		for (int j = i + 1; j < f->groups;) {
			struct group *a = &f->group[i], *b = &f->group[j];

			if (a->pc != b->pc || a->state || b->state) {
				j++;
				continue;
			}
			a->mask |= b->mask;
			*b = f->group[--f->groups];
			f->favoured = -1;
		}
}

void
ptx_drop_empty(struct frame *f)
{
	for (int i = 0; i < f->groups;)
		if (!f->group[i].mask)
			f->group[i] = f->group[--f->groups];
		else
			i++;
}

int
ptx_pick(struct frame *f, int64_t *next)
{
	int best = -1;

	merge(f);
	*next = INT64_MAX;
	for (int i = 0; i < f->groups; i++)
		if (!f->group[i].state && (best < 0 || f->group[i].pc <
		    f->group[best].pc))
			best = i;
	if (best >= 0 && f->favoured >= 0 && f->favoured < f->groups &&
	    !f->group[f->favoured].state)
		return f->favoured;
	for (int i = 0; i < f->groups; i++)
		if (i != best && !f->group[i].state && f->group[i].pc < *next)
			*next = f->group[i].pc;
	return best;
}

void
ptx_favour(struct frame *f, int instead_of)
{
	for (int i = 1; i < f->groups; i++) {
		const int other = (instead_of + i) % f->groups;

		if (!f->group[other].state) {
			f->favoured = other;
			return;
		}
	}
}

uint32_t
ptx_members(const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask)
{
	const int first = __builtin_ctz(mask);
	int k;

	if (in->op == OP_bar || in->op == OP_barrier)
		k = 1; /* bar.warp.sync */
	else if (in->op >= OP_ldmatrix && in->op <= OP_wmma)
		return UINT32_MAX;
	else if (in->op == OP_shfl)
		k = 4;
	else if (in->op == OP_elect)
		k = 1;
	else if (!(in->flags & FLAG_SYNC))
		return mask;
	else
		k = 2;
	if (in->op == OP_shfl && !(in->flags & FLAG_SYNC))
		return mask;
	return (uint32_t)lane_value(base, &in->operand[k], first);
}

bool
ptx_gather(struct warp *w, struct frame *f, int g, uint32_t members)
{
	struct group *own = &f->group[g];
	const uint32_t wanted = members & w->live;
	uint32_t here = own->mask;

	if ((here & wanted) == wanted)
		return true;
	for (int i = 0; i < f->groups; i++)
		if (i != g && f->group[i].state == GROUP_FOR_LANES &&
		    f->group[i].pc == own->pc)
			here |= f->group[i].mask;
	if ((here & wanted) != wanted) {
		own->state = GROUP_FOR_LANES;
		own->members = members;
		return false;
	}
	for (int i = 0; i < f->groups; i++)
		if (i != g && f->group[i].state == GROUP_FOR_LANES &&
		    f->group[i].pc == own->pc) {
			own->mask |= f->group[i].mask;
			f->group[i].mask = 0;
		}
	return true;
}
