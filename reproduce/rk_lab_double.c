/* rk_lab_double.c: the laboratory of rk_lab.h in double precision. */
#include "rk_lab.h"

#include <math.h>

#define REAL      double
#define LAB(name) name##_d

#include "rk_lab_body.h"
