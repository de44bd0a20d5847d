/* rk_lab_quad.c: the laboratory of rk_lab.h in quadruple precision. */
#include "rk_lab.h"

#include <math.h>

#define REAL      dae_quad
#define LAB(name) name##_q

#include "rk_lab_body.h"
