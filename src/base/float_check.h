/* float_check.h: Daedalus needs IEEE arithmetic: NaN must compare as NaN. */
#ifndef DAE_BASE_FLOAT_CHECK_H
#define DAE_BASE_FLOAT_CHECK_H

#include <float.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "Daedalus cannot be built with -ffast-math or -Ofast: NaN detection would be compiled away."
#endif

#if FLT_EVAL_METHOD != 0
#error                                                                                             \
    "Daedalus needs arithmetic in plain double (FLT_EVAL_METHOD 0); on 32-bit x86 use -msse2 -mfpmath=sse."
#endif

#endif
