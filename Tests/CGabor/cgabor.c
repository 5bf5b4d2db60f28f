#include "CGabor.h"

typedef float lanes __attribute__((vector_size(16), aligned(4)));

void cgabor_filter(const float *from, float *to, const uint8_t *direction, const float *kernels, int size) {
    const int stride = size + cgabor_kernel_width;
    for (int y = 0; y < size; y++) {
        for (int x = 0; x < size; x++) {
            const float *kernel = kernels + direction[y * size + x] * cgabor_kernel_size;
            const float *source = from + y * stride + x;
            lanes sum = {0, 0, 0, 0};
            for (int row = 0; row < cgabor_kernel_height; row++) {
                const lanes *k = (const lanes *)kernel;
                const lanes *s = (const lanes *)source;
                sum += k[0] * s[0] + k[1] * s[1] + k[2] * s[2] + k[3] * s[3];
                kernel += cgabor_kernel_width;
                source += stride;
            }
            to[y * size + x] = sum[0] + sum[1] + sum[2] + sum[3];
        }
    }
}
