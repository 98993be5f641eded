/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_recast.h -- what the twins of recast.h's and
 * conv_check.h's kernels share. */
#ifndef AC_KERNELS_TWINS_RECAST_H
#define AC_KERNELS_TWINS_RECAST_H

#include "kernels/recast/recast_estimate.h"
#include "kernels/twins/twins_inside.h"

/* A tile's elements, and what becomes of them: columns of 32. */
struct ac_twin_tile {
	_Alignas(32) float    from[AC_TILE_SIDE][AC_TILE_SIDE];
	_Alignas(32) uint16_t to[AC_TILE_SIDE][AC_TILE_SIDE];
	float band[AC_RECAST_WORDS]; /* energies, losses by band of K */
};

/* `to` and `band` of elements below the way's limit; whether K runs along the
 * columns' rows. Plainly, or eight lanes at a time. */
void ac_twin_tile_cast(struct ac_twin_tile *tile, struct ac_recast_way way,
    bool along_rows);
/* The largest |x| of a tile as bits, inf and NaN included. */
uint32_t ac_twin_tile_largest(const struct ac_twin_tile *tile);

/* twins_sample.c: the sample of a product, judged, with what was found in the
 * matrices of a batch. `kept` as in ac_recast_facts_of(). */
void ac_twin_sample(const struct ac_recast *r, bool kept,
    struct ac_meter *meter);
/* One matrix: 2 x 2 outputs, or 8 x 8 if `deep`, up to AC_SAMPLE_DEEP while
 * those make it suspect. `old` has what C held at ac_recast_spot_in(.., 0 ..
 * 255) before the product; not read with beta 0. */
void ac_twin_sample_matrix(const struct ac_recast *r, int64_t matrix,
    const float *old, bool deep, struct ac_meter *meter);

/* twins_estimate.c: what settle keeps and adds up, and what finish makes of it;
 * the matrices of a batch are sampled there, if they are suspect or `sample`,
 * and what is known of them is in the state. */
void ac_twin_keep_probes(const struct ac_recast *r, struct ac_meter *meter);
void ac_twin_add_parts(const struct ac_recast *r, struct ac_meter *meter);
struct ac_recast_estimate ac_twin_do_matrices(const struct ac_recast *r,
    bool probes, bool sample, struct ac_meter *meter);

#endif
