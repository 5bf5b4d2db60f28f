// The one hot loop of the synthetic fingers. It is C so that a debug build of the tests draws a finger in well under
// a second: the four-lane arithmetic below is spelled out and does not wait for an optimiser.
#pragma once
#include <stdint.h>

enum {
    cgabor_radius = 7,
    cgabor_kernel_width = 16,  // 2 * radius + 1, and one column of zeros
    cgabor_kernel_height = 15,
    cgabor_kernel_size = cgabor_kernel_width * cgabor_kernel_height
};

/// Filters `size` x `size` pixels: each pixel of `to` is the kernel that `direction` names for it, laid over `from`.
/// `from` has a rim of `cgabor_radius` pixels before and `cgabor_radius + 1` after in both axes, so its rows are
/// `size + cgabor_kernel_width` floats long; `to` has no rim; `kernels` is one kernel after another.
void cgabor_filter(const float *from, float *to, const uint8_t *direction, const float *kernels, int size);
