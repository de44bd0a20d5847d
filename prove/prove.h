/* prove.h: manufactured problems with known solutions, and their judge.
 *
 *   draw.c       random numbers from a seed
 *   curve.c      the functions of time of which exact solutions are made
 *   kernel.c     equations in hidden unknowns z: blocks of index 0 to 3 and their couplings
 *   dress.c      z = phi(x): scales, mixing and bending of unknowns and rows; the exact x and x'
 *   forms.c      the same equations as a dae_problem: every form, pattern and kind of Jacobian
 *   judge.c      one run: problem, method, tolerance
 *   texts.c      the same in Modelica, of any index; judged on every variable given out
 *   processes.c  runs in processes that may crash or hang
 *   tally.c      counts, tables, the verdict
 */
#ifndef PROVE_H
#define PROVE_H

#include <daedalus.h>

#include <stdint.h>
#include <stdio.h>

/* ------------------------------------------------------------------ draw.c ------------ */

typedef struct draw {
    uint64_t state;
} draw;

draw draw_of(uint64_t seed, uint64_t stream);
double draw_unit(draw *d);                          /* uniform in [0, 1) */
double draw_in(draw *d, double low, double high);   /* uniform */
double draw_log(draw *d, double low, double high);  /* the logarithm is uniform */
double draw_sign(draw *d, double low, double high); /* uniform size, either sign */
int draw_below(draw *d, int count);                 /* 0 ... count - 1 */
int draw_chance(draw *d, double probability);

/* ------------------------------------------------------------------ curve.c ----------- */

/* s(t) = a + b sin(omega t + phase) + c exp(-mu t) + e tanh((t - middle) / width) */
typedef struct curve {
    double a, b, omega, phase, c, mu, e, middle, width;
} curve;

curve curve_draw(draw *d, double span, double turns, int lively);
double curve_value(const curve *s, double t);
double curve_slope(const curve *s, double t);
double curve_slope_bound(const curve *s);
double curve_bend_bound(const curve *s);

/* ------------------------------------------------------------------ kernel.c ---------- */

typedef enum outline { SHAPE_DENSE, SHAPE_BAND, SHAPE_SPARSE } outline;

/* One part a * bend(z_j) * z_k of row i; k = -1: without the factor. */
typedef enum bend { BEND_NONE, BEND_SIN, BEND_COS, BEND_SQUARE, BEND_COUNT } bend;
typedef struct term {
    int row, j, k;
    bend bend;
    double a;
} term;

typedef struct hidden {
    int differential; /* the row holds z_i' */
    int level;
    int seen;    /* other rows may depend on it */
    double rate; /* contraction of row i; rows are divided by max(1, rate) */
    double room; /* what couplings of the row may sum up to */
    curve s;     /* the exact solution */
} hidden;

enum { KERNEL_MOST = 256, TERM_MOST = 16 * KERNEL_MOST };
typedef struct kernel {
    int n, index, stiff;
    int gentle; /* models: multipliers are judged by tolerances, so what is in
                               constraints is slow */
    outline shape;
    int reach;          /* band: what lies further apart is not coupled */
    double span, turns; /* the interval is [0, span]; the phase that sines run through */
    hidden z[KERNEL_MOST];
    int terms;
    term term[TERM_MOST];
} kernel;

void kernel_draw(kernel *k, draw *d, int n, int index, outline shape);
void kernel_draw_model(kernel *k, draw *d, int n, int index);
double bend_value(bend b, double z);
double bend_slope(bend b, double z);
/* g_i = z_i' + sum of terms(z) - the same at the exact solution, over max(1, rate_i) */
void kernel_rows(const kernel *k, const double *drive, const double *z, const double *zp,
                 double *g);
void kernel_drive(const kernel *k, double t, double *drive);
/* The derivatives of terms by z_j and z_k at a point, and of the rows along (vz, vzp) there. */
typedef struct term_slope {
    double j, k;
} term_slope;
void kernel_linearize(const kernel *k, const double *z, term_slope *slopes);
void kernel_tangent(const kernel *k, const term_slope *slopes, const double *vz, const double *vzp,
                    double *vg);

/* ------------------------------------------------------------------ dress.c ----------- */

/* I + N, the absolute values of a row of N sum up to at most MIX. */
typedef struct mix {
    int on;
    int start[KERNEL_MOST + 1];
    int *column;
    double *value;
} mix;

typedef enum form {
    FORM_IMPLICIT,
    FORM_LEADING,
    FORM_IDENTITY,
    FORM_DIAGONAL,
    FORM_CONSTANT,
    FORM_FUNCTION,
    FORM_COUNT
} form;

typedef struct dress {
    form form;
    double t0, unit;           /* t = t0 + unit * time of the kernel */
    double scale[KERNEL_MOST]; /* x = scale * y */
    double row[KERNEL_MOST];   /* of the equations */
    int place[KERNEL_MOST];    /* y_i is x[place[i]] */
    int line[KERNEL_MOST];     /* row i is r[line[i]] */
    mix columns, rows;         /* w = (I + N) y;  r = (I + N) h */
    int full;                  /* 1: differential equations are added to constraints */
    int bent[KERNEL_MOST];     /* z_i = w_i + beta_i sin(w_bent[i]), bent < i; -1: none */
    double beta[KERNEL_MOST];
    int swell[KERNEL_MOST]; /* h_i = (1 + 0.3 sin z_swell[i]) psi(g_i); -1: without */
    double kink;            /* psi(g) = g + kink g / (1 + g^2) */
} dress;

enum { PATTERN_AUTO, PATTERN_GIVEN };
enum { JACOBIAN_NONE, JACOBIAN_COMBINED, JACOBIAN_PARTS };

typedef struct problem {
    uint64_t seed;
    kernel kernel;
    dress dress;
    int jacobian, pattern, with_slope, levels, scaled, by_steps, log;
    double atol_over_rtol; /* 0: an array, atol_part * scale; else for all, or the default */
    double atol_part[KERNEL_MOST];
    double end;
    int m; /* how many values x' or d' has */
    int column_colours, *colour;
    unsigned char *mask, *mass_mask; /* n x n, column after column: where entries are */
    int64_t *start, *mass_start;
    int *entry, *mass_entry;
    double *mass_values;
    unsigned char level[KERNEL_MOST];
    dae_problem api;
    /* scratch of the callbacks */
    double drive_time;
    int drive_known;
    double drive[KERNEL_MOST], y[KERNEL_MOST], w[KERNEL_MOST], z[KERNEL_MOST], zp[KERNEL_MOST],
        g[KERNEL_MOST], h[KERNEL_MOST], vx[KERNEL_MOST], vp[KERNEL_MOST], vy[KERNEL_MOST],
        vw[KERNEL_MOST], vz[KERNEL_MOST], vzp[KERNEL_MOST], vg[KERNEL_MOST], vr[KERNEL_MOST],
        wp[KERNEL_MOST], bow[KERNEL_MOST], swollen[KERNEL_MOST];
    term_slope slopes[TERM_MOST];
} problem;

void dress_draw(problem *p, draw *d);
void dress_close(dress *c);
void mix_apply(const mix *m, int n, const double *y, double *w);
void dress_exact(problem *p, double t, double *x, double *slope);

/* ------------------------------------------------------------------ forms.c ----------- */

problem *problem_draw(uint64_t seed);
void problem_close(problem *p);
void problem_describe(const problem *p, char *words, size_t room);
int problem_check(problem *p, char *words, size_t room); /* 1: the exact solution solves it, and the
                                                            Jacobians are right */

/* ------------------------------------------------------------------ judge.c ----------- */

enum { READS = 100, METHODS = 7, TOLERANCES = 4 };
extern const char *const method_names[METHODS]; /* the last is NULL: the default */
extern const double tolerances[TOLERANCES];

typedef enum outcome {
    OUTCOME_OK,
    OUTCOME_REFUSED,
    OUTCOME_FAILED,
    OUTCOME_CRASHED,
    OUTCOME_SLOW,
    OUTCOME_BEGUN
} outcome;

/* What became of a run. Errors are in tolerances. */
typedef struct verdict {
    uint64_t seed;
    int is_model, method, tolerance, index;
    outcome outcome;
    int status;
    double error; /* unknowns of levels 0 and 1 */
    int unknown;
    double at;
    double slope_error[2]; /* of x' times the last step: differential, algebraic unknowns */
    double high_error[2];  /* levels 2 and 3 */
    int high_unknown[2];
    double high_share[2];   /* error over estimate, the largest; -1: no estimate */
    double high_caution[2]; /* the largest estimate over the largest error; -1: none */
    double steps, residuals, seconds;
    char name[32];
    char words[280];
    char about[200]; /* what kind of problem it is */
} verdict;

void judge_problem(problem *p, int method, int tolerance, verdict *v);

/* ------------------------------------------------------------------ texts.c ----------- */

typedef struct prove_text prove_text;
prove_text *text_draw(uint64_t seed);
void text_close(prove_text *m);
const char *text_of(const prove_text *m);
int text_index(const prove_text *m);
void judge_text(prove_text *m, int method, int tolerance, verdict *v);

/* ------------------------------------------------------------------ tally.c ----------- */

typedef struct tally tally;
tally *tally_open(int verbose);
void tally_add(tally *t, const verdict *v);
int tally_close(tally *t); /* prints the tables; 1: something is wrong */

/* ------------------------------------------------------------------ processes.c ------- */

typedef struct prove_plan {
    uint64_t first;
    int problems, models, jobs, verbose, by_steps, log;
    int method[METHODS], tolerance[TOLERANCES]; /* 1: asked for */
    double seconds;                             /* of processor time for one run */
} prove_plan;

int processes_run(const prove_plan *plan, tally *t);

#endif
