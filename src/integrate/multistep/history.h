/* history.h: the past of a multistep method as modified divided differences.
 *
 *     phi_j = psi_0 ... psi_{j-1} [w_n, w_{n-1}, ..., w_{n-j}],   psi_i = t_n - t_{n-1-i}
 *
 * of w = (x, computed d). The polynomial of degree k through w_n, ..., w_{n-k} at t_n + delta is
 *
 *     P = sum v_j phi_j,   v_0 = 1,  v_j = v_{j-1} (delta + psi_{j-2}) / psi_{j-1},  psi_{-1} = 0,
 *
 * and its derivative the same sum with s_j = v_j'. An attempt only reads the history, so a
 * rejected one restores nothing.
 */
#ifndef DAE_INTEGRATE_HISTORY_H
#define DAE_INTEGRATE_HISTORY_H

#include "integrate/solver.h"

enum { HISTORY_ROWS = 10 };

typedef struct dae_history {
    int n, m, computed; /* of the system */
    int from_d;         /* where d begins in a row */
    int width;          /* of a row: x and d, each followed by zeros up to fours */
    int rows;           /* of phi */
    double *phi[HISTORY_ROWS];
    double psi[HISTORY_ROWS];
    int valid; /* rows 0 .. valid mean something */
    int first; /* 1: no step since the start: phi_1 = psi_0 w' */
} dae_history;

/* v_j and s_j, j = 0 .. k, at t_n + delta. */
typedef struct dae_reach {
    double value[HISTORY_ROWS], slope[HISTORY_ROWS];
} dae_reach;

/* Values of all rows. */
size_t dae_history_size(const dae_system *system, int rows);
/* block: that many. */
void dae_history_open(dae_history *a, const dae_system *system, int rows, double *block);

/* w_n = (s->x, s->d) and w' = s->p (x' of algebraic unknowns and, with a computed d, x' that is
 * not in d: 0). psi_0 is unknown until dae_history_first. */
void dae_history_start(dae_history *a, const dae_solver *s);
/* From `count` past points, newest first. */
dae_status dae_history_load(dae_history *a, dae_solver *s, int count, const double *t,
                            const double *x);
/* Before the first step: psi_0 = h, as if a step of this size had come before. */
void dae_history_first(dae_history *a, double h);

void dae_history_reach(const dae_history *a, double delta, int k, dae_reach *out);

/* w and, into `rate`, the derivative of d, by the polynomial of degree k <= rows - 3. Four entries
 * go at a time: outputs, and e, x, e_d, d of a trial, have room for a multiple of four. */
void dae_history_predict(const dae_history *a, int k, const dae_reach *at, double *w, double *rate);
/* The same at two points, in one pass. */
void dae_history_predict_2(const dae_history *a, int k, const dae_reach at[2], double *const w[2],
                           double *const rate[2]);

/* Takes the point t_n + h with w - P of degree k, and w itself. The rows up to k + 2 are
 * renewed as far as they exist. */
void dae_history_take(dae_history *a, double h, int k, const dae_reach *at, const dae_trial *trial);

/* The polynomial of degree k at t_n + delta; any output may be NULL. */
void dae_history_interpolate(const dae_history *a, int k, double delta, double *x, double *p,
                             double *d);

#endif
