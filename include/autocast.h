/* SPDX-License-Identifier: Apache-2.0 */
/* autocast.h -- what a program may say to libautocast itself: status codes,
 * and regions of the program that the policy treats apart.
 *
 * Nothing here is needed: a program that says nothing is recast all the same.
 * C11 and C++11 or later; no CUDA header is needed. Link with
 * -lautocast-api (never with libautocast.so, which is for preloading), or
 * define AUTOCAST_DYNAMIC before including and link nothing: autocast_dynamic.h
 * tells what then happens. Manual: autocast_region(3). */
#ifndef AUTOCAST_H
#define AUTOCAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef AUTOCAST_DYNAMIC
#define AUTOCAST_API static inline
#elif defined __GNUC__
#define AUTOCAST_API extern __attribute__((visibility("default")))
#else
#define AUTOCAST_API extern
#endif

/* ---- Status ------------------------------------------------------------ */

/* Every call returns one. A call that fails changes nothing, unless its own
 * comment says what it does change. STATUS(name, what it means) */
#define AUTOCAST_STATUS_LIST(STATUS)                                          \
STATUS(OK,                  "no error")                                       \
STATUS(E_INVALID,           "an argument is out of range")                    \
STATUS(E_NO_MEMORY,         "out of memory")                                  \
STATUS(E_NO_DRIVER,         "there is no usable CUDA driver")                 \
STATUS(E_CUDA,              "a call of the CUDA driver failed")               \
STATUS(E_DTYPE,                                                               \
    "a tensor has a data type that is not allowed here")                      \
STATUS(E_POINTER,                                                             \
    "a pointer is not memory of the device it should be on")                  \
STATUS(E_DEVICE,                                                              \
    "the device was not prepared, or is not the one that "                    \
    "the call works on")                                                      \
STATUS(E_NOT_SCALED,        "nothing was scaled yet")                         \
STATUS(E_NOT_UNSCALED,      "the group's gradients are not unscaled")         \
STATUS(E_ALREADY_UNSCALED,  "the group was unscaled since the last update")   \
STATUS(E_UNSCALE_AFTER_STEP, "the group was stepped since the last update")   \
STATUS(E_ALREADY_STEPPED,   "the group was stepped since the last update")    \
STATUS(E_NO_CHECKS,         "no group was checked since the last update")     \
STATUS(E_NO_CHECKS_GROUP,                                                     \
    "the group has no gradients that could be checked")                       \
STATUS(E_STATE_EMPTY,       "the saved state is empty")                       \
STATUS(E_STATE_FORMAT,                                                        \
    "the saved state is damaged, or of a newer version")                      \
STATUS(E_BUSY,              "another call is in progress, or an iteration is") \
STATUS(E_CAPTURE,           "not possible while the stream captures")         \
STATUS(E_CALLBACK,          "a function of the program reported a failure")   \
STATUS(E_AT_MINIMUM,        "the scale was to fall below its minimum")        \
STATUS(E_REGION,            "no region is open, or too many are")             \
STATUS(E_ABI,               "the library is older than the header")           \
STATUS(E_ABSENT,            "needs the library, which is not in the process")

typedef enum autocast_status {
#define AUTOCAST_STATUS_VALUE(name, meaning) AUTOCAST_##name,
	AUTOCAST_STATUS_LIST(AUTOCAST_STATUS_VALUE)
#undef AUTOCAST_STATUS_VALUE
	AUTOCAST_STATUS_COUNT
} autocast_status;

/* The meaning of `status` as above; "unknown status" for any other number.
 * Static text. */
AUTOCAST_API const char *autocast_status_string(autocast_status status);

/* What exactly was wrong with the last call of this thread that failed: which
 * tensor, field or CUDA call. "" before the first. Valid until the thread's
 * next failure; never NULL. */
AUTOCAST_API const char *autocast_last_error(void);

/* ---- Regions ----------------------------------------------------------- */

/* Open a region on this thread, inside those that are open; intercepted calls
 * that this thread then makes belong to it until it is closed. Policy lines
 * match it by `region=NAME`, the innermost one's name.
 *
 *   name     1 to 63 characters of A-Z a-z 0-9 _ . / + @ % ~ : - ; copied
 *   enabled  0: calls are kept (reason `region`), unless a policy line names
 *            this region
 *   rung     NULL: as the policy says. "tf32", "fp16", "bf16", ... or several,
 *            "fp16,tf32", or "auto": where the policy would allow any rung and
 *            its line does not name this region, allow these instead. What a
 *            policy line keeps stays kept; tolerance and guard stay too
 *
 * A thread that never opened a region is ruled by the policy alone, and so is
 * every thread that the program starts inside one. E_INVALID: a bad name or
 * rung; E_REGION: more than 64 are open on this thread, or more than 4000
 * different ones were in the process. Allocates at a thread's first region and
 * at each new one; no CUDA call. Without libautocast.so in the process this
 * does all of that, and nothing comes of it. */
AUTOCAST_API autocast_status autocast_region_push(const char *name,
    int enabled, const char *rung);

/* Close this thread's innermost region. E_REGION: none is open. */
AUTOCAST_API autocast_status autocast_region_pop(void);

#ifdef __cplusplus
} /* extern "C" */

namespace autocast {

/* A region that is open as long as the object lives: one without a name is
 * closed at once, which C++17 warns of. Opening it does not throw; status()
 * tells how it went. */
class region {
public:
#if __cplusplus >= 201703L
#if __has_cpp_attribute(nodiscard) >= 201907L
	[[nodiscard]]
#endif
#endif
	explicit region(const char *name, bool enabled = true,
	    const char *rung = nullptr) noexcept
	    : status_(autocast_region_push(name, enabled, rung)) {}
	~region() { if (status_ == AUTOCAST_OK) (void)autocast_region_pop(); }
	region(const region &) = delete;
	region &operator=(const region &) = delete;
	autocast_status status() const noexcept { return status_; }
private:
	autocast_status status_;
};

} /* namespace autocast */
#endif

#ifdef AUTOCAST_DYNAMIC
#include "autocast_dynamic.h"
#endif

#endif
