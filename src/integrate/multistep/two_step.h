/* two_step.h: the coefficients of the two-step family and of generalized-alpha. */
#ifndef DAE_INTEGRATE_TWO_STEP_H
#define DAE_INTEGRATE_TWO_STEP_H

/* d_{n+1} = a1 d_n + a2 d_{n-1} + h (b0 p_{n+1} + b1 p_n + b2 p_{n-1});
 * d(t_{n+1}) minus this, all arguments exact: error h^3 d'''. */
typedef struct dae_two_step_formula {
    double a1, a2, b0, b1, b2, error;
} dae_two_step_formula;

/* rho: the spectral radius at infinity, 0 to 1; s = h_n / h_{n+1}, the last step over this one. */
void dae_two_step_make(double rho, double s, dae_two_step_formula *out);

/* Generalized-alpha for first-order systems with the auxiliary derivative a:
 *     alpha_m a_{n+1} + (1 - alpha_m) a_n = alpha_f p_{n+1} + (1 - alpha_f) p_n,
 *     d_{n+1} = d_n + h (gamma a_{n+1} + (1 - gamma) a_n). */
typedef struct dae_alpha_formula {
    double alpha_m, alpha_f, gamma;
    double shift; /* a_n is the derivative at t_n + shift h, up to O(h^2) */
    double error; /* as above */
} dae_alpha_formula;

void dae_alpha_make(double rho, dae_alpha_formula *out);

/* "two-step-0.5", "two-step-0.5-0.2" (of unknowns of level >= 1), "generalized-alpha-0.8"; without
 * a number 0.5. 0: none of these, or a number outside 0 .. 1. */
typedef struct dae_two_step_name {
    int alpha; /* 1: generalized-alpha */
    double rho, rho_algebraic;
} dae_two_step_name;

int dae_two_step_read(const char *name, dae_two_step_name *out);

/* A plain decimal from 0 to 1 with at most 12 digits; NULL: none, otherwise what follows it. */
const char *dae_read_decimal(const char *text, double *value);

#endif
