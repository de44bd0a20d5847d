/* norm.c: the optional root-mean-square norm. */
#include "base/norm.h"
#include "base/float_check.h"

double dae_norm_rms(int n, const double *v, const double *w, int *where)
{
    double largest = dae_norm_max(n, v, w, where), sum = 0;
    if (largest == 0 || !isfinite(largest)) return largest;
    for (int i = 0; i < n; i++) { /* scaled, so that squares neither over- nor underflow */
        double a = v[i] * w[i] / largest;
        sum += a * a;
    }
    return largest * sqrt(sum / n);
}
