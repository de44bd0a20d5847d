/* daedalus.h: differential-algebraic equations, solved.
 *
 * A problem is a plain struct you fill in; a solver is opaque; options are a plain struct
 * whose zero value means "the good default". No global state; the library never prints and
 * never exits. Five calls are enough:
 *
 *     dae_solver *s = dae_open(&problem, &options);      (always returns an object)
 *     dae_start(s, t0, x0, xdot0);                       (xdot0 may be NULL)
 *     dae_advance(s, t);  dae_read(s, t, x, xdot);       (as often as you like)
 *     dae_close(s);
 *
 * Tier 1: problem, options, the calls above.        Read this to solve a problem.
 * Tier 2: consistent start, single steps, log.      Read this to look inside a run.
 * Tier 3: prescribed steps, histories, checking.    Read this to study methods.
 *
 * Every call returns a status; after a failure dae_message() says what, where, why and what
 * to try, and the last accepted state can still be read.
 */
#ifndef DAEDALUS_H
#define DAEDALUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAE_VERSION 100 /* major * 10000 + minor * 100 + patch */

/* ------------------------------------------------------------------ status ---------- */

/* Every status has a row in one table (src/base/status.c): name, code in messages, exit
 * code of the command line, one sentence. dae_status_name() reads it. */
typedef enum dae_status {
    DAE_OK = 0,
    DAE_RETRY = 1, /* a callback's answer: not here, try a smaller step */
    DAE_STOP = 2,  /* a callback's answer: give up; any other nonzero value means the same,
                      and is passed on in dae_statistics.user_code */
    DAE_EVENT = 3, /* dae_advance, dae_step: an event function changed sign; see dae_event */

    DAE_E_ARG = -1,             /* a NULL or senseless argument */
    DAE_E_STATE = -2,           /* a call out of order, e.g. advance before start */
    DAE_E_DIM = -3,             /* a size or length that does not fit */
    DAE_E_OPTION = -4,          /* an option out of range, an unknown method or backend */
    DAE_E_TOL = -5,             /* tolerances that cannot be met or mean nothing */
    DAE_E_TIME = -6,            /* a time that is not finite, not resolvable or behind us */
    DAE_E_STEP = -7,            /* contradictory step bounds */
    DAE_E_PATTERN = -8,         /* a sparsity pattern that is malformed or misses an entry */
    DAE_E_ALIAS = -9,           /* two arguments share memory */
    DAE_E_VERSION = -10,        /* built against another header */
    DAE_E_STALE_HANDLE = -11,   /* a closed solver, or memory that never was one */
    DAE_E_REENTRANT = -12,      /* the solver was called from inside its own callback */
    DAE_E_NOMEM = -13,          /* the allocator refused */
    DAE_E_LIMIT = -14,          /* too large for the index types or the limits set */
    DAE_E_NONFINITE = -15,      /* a NaN or Inf from the residual, an event or initial value */
    DAE_E_NONFINITE_JAC = -16,  /* a NaN or Inf in a Jacobian */
    DAE_E_JACOBIAN = -17,       /* the Jacobian given contradicts difference quotients */
    DAE_E_SINGULAR = -18,       /* the iteration matrix is singular */
    DAE_E_INCONSISTENT = -19,   /* no consistent initial values were found */
    DAE_E_CONVERGENCE = -20,    /* Newton's iteration keeps failing */
    DAE_E_STEP_UNDERFLOW = -21, /* t + h == t */
    DAE_E_SINGULARITY = -22,    /* the solution grows without bound */
    DAE_E_IMPASSE = -23,        /* the leading matrix loses rank: no solution beyond */
    DAE_E_WORK = -24,           /* max_steps reached */
    DAE_E_REFUSED = -25,        /* a callback answered DAE_RETRY however small the step */
    DAE_E_USER = -26,           /* a callback answered DAE_STOP or a code of its own */
    DAE_E_UNSET = -27,          /* careful mode: a callback left part of its output unset */
    DAE_E_OVERRUN = -28,        /* careful mode: a callback wrote past the end */
    DAE_E_WROTE_INPUT = -29,    /* a callback changed its input */
    DAE_E_NONDET = -30,         /* careful mode: same input, different output */
    DAE_E_IO = -31,             /* a file could not be read or written */
    DAE_E_INTERNAL = -32,       /* a bug in Daedalus */
    DAE_E_CHATTER = -33,        /* the solution is held at a jump of the equations */
    DAE_E_SYNTAX = -34,         /* a model's text does not follow the grammar */
    DAE_E_MODEL = -35,          /* a name, type, size or value in a model is wrong */
    DAE_E_STRUCTURE = -36,      /* too many, too few or contradictory equations */
    DAE_E_UNSUPPORTED = -37,    /* understood, but not possible here (yet) */
    DAE_E_ASSERT = -38,         /* an assertion of the model failed */
    DAE_E_COMPILER = -39        /* native code could not be made or loaded */
} dae_status;

const char *dae_status_name(int status);     /* "E_SINGULAR"; "E_UNKNOWN" if there is none */
const char *dae_status_sentence(int status); /* one sentence */
int dae_status_exit_code(int status);        /* the exit code of the command line */

/* ------------------------------------------------------------------ problem ---------- */

/* Where the derivatives of the equations may be nonzero, and so how the arrays that a
 * Jacobian callback fills are laid out (0-based i = row = equation, j = column = unknown):
 *   dense   J[i + j * n]
 *   band    J[upper + i - j + j * (lower + upper + 1)],   -lower <= j - i <= upper
 *   sparse  the entries of column j are start[j] <= k < start[j + 1], in rows row[k]
 *           (ascending, no duplicates), value J[k]
 * DAE_PATTERN_AUTO: dense for small problems, otherwise found by probing the residual. */
typedef enum dae_pattern_kind {
    DAE_PATTERN_AUTO = 0,
    DAE_PATTERN_DENSE,
    DAE_PATTERN_BAND,
    DAE_PATTERN_SPARSE
} dae_pattern_kind;

typedef struct dae_pattern {
    dae_pattern_kind kind;
    int lower, upper;     /* band: number of sub- and superdiagonals */
    const int64_t *start; /* sparse: n + 1 offsets */
    const int *row;       /* sparse: start[n] row numbers */
} dae_pattern;

/* What an unknown is. Without a declaration an unknown is differential when its derivative
 * occurs, algebraic otherwise; method auto also finds the index-2 unknowns of systems that have none
 * of index 3 (at most 10,000 unknowns, no leading term). Declare them for other methods, and always
 * where there are index-3 unknowns (a Lagrange multiplier of a position constraint is DAE_INDEX3,
 * velocities beside it DAE_INDEX2): their error counts with a factor h or h^2, as theory demands. */
enum { DAE_DIFFERENTIAL = 0, DAE_ALGEBRAIC = 1, DAE_INDEX2 = 2, DAE_INDEX3 = 3 };

typedef enum dae_mass_kind {
    DAE_MASS_IDENTITY = 0, /* x' = rhs */
    DAE_MASS_DIAGONAL,     /* mass_values holds n numbers; zeros allowed */
    DAE_MASS_CONSTANT,     /* mass_values on mass_pattern (dense, band or sparse) */
    DAE_MASS_FUNCTION      /* mass(t, x, M) fills M on mass_pattern */
} dae_mass_kind;

/* Fill in exactly one of `residual` and `rhs`.
 *
 *   implicit      .residual                     F(t, x, x') = 0
 *   leading term  .residual, .d, .d_size        f(t, x, d') = 0 with d = d(t, x), e.g.
 *                                               A(t, x) (d(t, x))' + b(t, x) = 0
 *   mass          .rhs, .mass_kind, ...         M(t, x) x' = rhs(t, x), M may be singular
 *
 * Callbacks answer DAE_OK, DAE_RETRY ("not defined here: a smaller step please") or DAE_STOP.
 * They must set every output, must not change an input, and may not call the same solver. */
struct dae_motion;
typedef struct dae_problem {
    int size; /* n: unknowns = equations; 0 is allowed */

    int (*residual)(double t, const double *x, const double *xdot, double *r, void *user);
    int (*d)(double t, const double *x, double *d, void *user); /* leading term only */
    int d_size;                                                 /* m, the length of d */

    int (*rhs)(double t, const double *x, double *f, void *user);
    dae_mass_kind mass_kind;
    dae_pattern mass_pattern;
    const double *mass_values;
    int (*mass)(double t, const double *x, double *M, void *user);

    /* Derivatives; all optional. Either the combined callback J = F_x + c F_x' or the parts
     * K = F_x and C = F_x' (leading term: C = f_d' d_x, n x n). For the mass form
     * jacobian_x is d rhs / d x and nothing else is needed. What is missing comes from
     * differences. Arrays arrive zeroed, laid out by `pattern`; with DAE_PATTERN_AUTO a
     * Jacobian callback fills dense arrays. */
    int (*jacobian)(double t, const double *x, const double *xdot, double c, double *J, void *user);
    int (*jacobian_x)(double t, const double *x, const double *xdot, double *K, void *user);
    int (*jacobian_xdot)(double t, const double *x, const double *xdot, double *C, void *user);
    dae_pattern pattern;
    int jacobian_trusted; /* 1: these callbacks are differences of the equations themselves:
                             when Newton keeps failing they are not suspected */

    /* Optional: a bound r_i >= 0 of what rounding may have done to row i of the residual (implicit form). Asked where
     * Newton's iteration gets no further: is that rounding, or failure? Without it the sizes of K x and C x' tell,
     * which leave out terms of time and what cancels inside a row. Answers as the residual does. */
    int (*rounding)(double t, const double *x, const double *xdot, double *r, void *user);

    /* Events: sign changes of g are located and reported. */
    int (*event)(double t, const double *x, const double *xdot, double *g, void *user);
    int event_count;

    /* Projection: brings x, as near as possible, to what is known of the solution beside the
     * equations: invariants, constraints that were differentiated (daedalus/invariants.h and
     * mechanics.h fill it in). Called before a step is accepted, and for values read between
     * steps; a step that would have to be moved by more than its tolerance is rejected.
     * weight[i] is 1 / tolerance of x_i. DAE_RETRY: not from here. */
    int (*project)(double t, double *x, const double *weight, void *user);

    /* Of a mechanism (daedalus/mechanics.h fills it in): what methods mech-... ask. NULL else. */
    struct dae_motion *motion;
    /* A step of the problem's own, for methods that need to know more than the equations (energy,
     * momenta; daedalus/mechanics.h fills it in): from x, x' at t to those at t + h; damping 0 .. 1
     * is the method's. DAE_RETRY: not with this h. Without it leap_missing may say why. */
    int (*leap)(double t, double h, double damping, const double *x, const double *xdot,
                double *x_end, double *xdot_end, void *user);
    const char *leap_missing;

    const unsigned char *level;        /* n values, see above; NULL: found from F_x' */
    const char *const *names;          /* n names of unknowns; NULL: x[1], x[2], ... */
    const char *const *equation_names; /* n names of equations; NULL: equation 1, ... */
    const char *const *event_names;    /* NULL: event 1, ... */
    void *user;                        /* handed to every callback; never touched by us */
} dae_problem;

/* ------------------------------------------------------------------ options ---------- */

/* Every allocation goes through these, if given. (SuiteSparse's own work space inside the
 * sparse backend is the one exception: its hooks are process-wide and are left alone.) */
typedef struct dae_allocator {
    void *(*allocate)(size_t bytes, void *context);
    void (*release)(void *block, void *context);
    void *context;
} dae_allocator;

typedef enum dae_norm_kind { DAE_NORM_MAX = 0, DAE_NORM_RMS } dae_norm_kind;

typedef enum dae_start_kind {
    DAE_START_CORRECT = 0, /* inconsistent values are made consistent (index 1) */
    DAE_START_CHECK,       /* inconsistent values are refused */
    DAE_START_TRUST        /* taken as they are */
} dae_start_kind;

/* The first steps of a multistep method. Index-3 unknowns are wrong by O(h^(k-1)) in the first k
 * steps of BDF-k, from the best of initial values: O(1) in the first step of implicit Euler.
 * The last two cure that; they need BDF and levels, and also serve the first step of every
 * start and restart with variable steps. docs/multistep.md has the formulas. */
typedef enum dae_first_kind {
    DAE_FIRST_AUTO = 0,   /* fixed_step above order 1: accurate; otherwise plain */
    DAE_FIRST_PLAIN,      /* orders 1, 2, ... from the initial values */
    DAE_FIRST_ACCURATE,   /* fixed_step: points by a one-step method of enough order */
    DAE_FIRST_CONSISTENT, /* and index-2 unknowns moved so that the first step is right */
    DAE_FIRST_CORRECTED   /* and index-3 unknowns of the first k steps corrected */
} dae_first_kind;

typedef enum dae_verdict {
    DAE_STEP_ACCEPTED = 0,
    DAE_STEP_ERROR,     /* rejected: local error too large */
    DAE_STEP_NEWTON,    /* rejected: no convergence */
    DAE_STEP_SINGULAR,  /* rejected: singular matrix */
    DAE_STEP_NONFINITE, /* rejected: NaN or Inf at the trial point */
    DAE_STEP_RETRY      /* rejected: a callback asked for a smaller step */
} dae_verdict;

/* One record per attempted step. */
typedef struct dae_step_record {
    long step; /* number of accepted steps before this one */
    dae_verdict verdict;
    double t, h; /* from t to t + h */
    int order;
    double error; /* weighted local error, accepted when <= 1 */
    int limiting; /* the unknown with the largest weighted error, -1: none */
    const char *limiting_name;
    int newton_iterations;
    double newton_rate;
    int new_jacobian, new_factor; /* 0 or 1 */
    int filtered;                 /* 1: the error estimate went through the iteration matrix */
} dae_step_record;

/* What a caller may know of the solution beforehand (dae_options.expect, a sum of these). */
enum {
    DAE_EXPECT_RESTARTS = 1, /* many restarts: more than ten, say */
    DAE_EXPECT_MOTION = 2,   /* motion that is hardly damped, as of mechanisms */
    DAE_EXPECT_EXACT = 4     /* both parts of a residual's Jacobian are given, and exact */
};

/* To mean a true zero for rtol or atol, where 0 means "the default", write DAE_ZERO. */
#define DAE_ZERO 4.9406564584124654e-324

typedef struct dae_options {
    double rtol;             /* 0: 1e-6; at least 2.3e-14, below 1 */
    double atol;             /* 0: 1e-3 * rtol */
    const double *atol_each; /* per unknown, instead of atol; atol_count values */
    int atol_count;
    const char *method; /* NULL or "auto": chosen, dae_statistics.reason says why; or a
                                 name, see dae_method_name() */
    unsigned expect;    /* what is known of the solution, for "auto": DAE_EXPECT_... */
    const char *linear; /* NULL: "auto"; "dense", "band", "klu" */
    dae_norm_kind norm;
    int max_order;           /* 0: the method's own limit */
    double initial_step;     /* 0: chosen */
    double min_step;         /* 0: what the arithmetic resolves */
    double max_step;         /* 0: no bound */
    double fixed_step;       /* > 0: no error control, steps of this size at max_order; lets
                                 through methods that cannot choose their steps on the problem */
    double step_factor;      /* 0: the step is sized by the method's own rule; c > 0: by the
                                 plain one, c h error^(-1/(k+1)) at order k (0.9, say) */
    int64_t max_steps;       /* per dae_advance; 0: 10 million */
    int newton_max;          /* iterations per step; 0: 4 */
    double newton_tolerance; /* 0: 0.1 of the error tolerance */
    double fading;           /* 0: the relative tolerance is of |x| now; below 1: of its largest
                                 value of late, which fades by this factor in the time in
                                 which it would pass 0, |x| / |x'|: for unknowns that pass 0
                                 again and again */
    int suppress_algebraic;  /* 1: errors of algebraic unknowns do not limit steps, of those
                                 beside them do: where algebraic ones follow from these and
                                 are no harder to compute */
    dae_start_kind start;
    dae_first_kind first; /* the first steps of a multistep method */
    int careful;          /* 1: watch the callbacks (slow): unset output, overruns,
                                 changed inputs, answers that differ; 0: changed inputs in
                                 the first calls and ever fewer of the later ones */
    int check_jacobian;   /* 1: compare the Jacobian with differences at the start; it is
                                 always done when Newton keeps failing; -1: never */
    void (*log)(const dae_step_record *record, void *log_user);
    void *log_user;
    const dae_allocator *allocator;
} dae_options;

/* ------------------------------------------------------------------ tier 1 ----------- */

typedef struct dae_solver dae_solver;

/* Returns an object even on failure (ask dae_last_status and dae_message); NULL never.
 * The problem's arrays (pattern, names, mass_values, level) must outlive the solver. */
dae_solver *dae_open_version(const dae_problem *problem, const dae_options *options, int version,
                             size_t problem_bytes, size_t options_bytes);
static inline dae_solver *dae_open(const dae_problem *problem, const dae_options *options)
{
    return dae_open_version(problem, options, DAE_VERSION, sizeof(dae_problem),
                            sizeof(dae_options));
}

/* Starts (or starts anew: no memory is allocated the second time) at t0. xdot is x' (n
 * values; leading term: d', m values) or NULL: then it is computed. The consistent values
 * actually used can be read back with dae_read(s, t0, ...). */
dae_status dae_start(dae_solver *s, double t0, const double *x, const double *xdot);

/* Integrates until the solution at t can be read. May step beyond t (the residual is then
 * evaluated there): set a stop time to forbid it. The first call decides the direction. */
dae_status dae_advance(dae_solver *s, double t);

/* The solution and its derivative at t inside the last step; either pointer may be NULL.
 * An output is left alone when the call fails. Where the step turns out to have passed over something at
 * the time that dae_advance was asked for, it is taken again in shorter ones. */
dae_status dae_read(dae_solver *s, double t, double *x, double *xdot);

void dae_close(dae_solver *s); /* NULL is allowed */

const char *dae_message(const dae_solver *s); /* of the last failure; "" if none */
dae_status dae_last_status(const dae_solver *s);

/* Restart after a change of the state: as dae_start, but keeps Jacobian, step size scale and
 * statistics. */
dae_status dae_restart(dae_solver *s, double t, const double *x, const double *xdot);

/* ------------------------------------------------------------------ tier 2 ----------- */

typedef struct dae_statistics {
    int64_t steps;              /* accepted */
    int64_t rejected;           /* by the error test */
    int64_t newton_failures;    /* attempts given up by Newton */
    int64_t residuals;          /* residual evaluations, those for Jacobians included */
    int64_t jacobian_residuals; /* of these, spent on difference quotients */
    int64_t d_evaluations;
    int64_t jacobians, factorizations, solves, newton_iterations;
    int64_t event_evaluations, nonfinite, retries, repivots;
    int64_t restarts;
    double t, h, h_next; /* current time, last step, next step */
    int order, order_next;
    int order_highest;
    int user_code;               /* what a callback answered when it stopped the run */
    const char *method, *linear; /* in use */
    const char *reason;          /* why "auto" took this method; NULL: it was asked for */
    int64_t nonzeros;            /* of the iteration matrix */
    int filtered;                /* 1: error estimates are filtered by now */
    int64_t factor_nonzeros;     /* of its triangular factors; 0: not known (only klu tells) */
} dae_statistics;

dae_status dae_get_statistics(const dae_solver *s, dae_statistics *out);

/* Exactly one accepted step; ends inside or at `limit`'s side of the current point. */
dae_status dae_step(dae_solver *s, double limit);
double dae_time(const dae_solver *s); /* end of the last accepted step */

/* Never evaluate beyond t; dae_advance(s, t) then ends exactly at t. NaN: no stop time. */
dae_status dae_set_stop(dae_solver *s, double t);

/* Index-1 consistent values. Both arrays are read and, on success, overwritten.
 *   DAE_KEEP_DIFFERENTIAL  keeps the differential unknowns (leading term: d), finds the
 *                          algebraic ones and x'
 *   DAE_KEEP_DERIVATIVE    keeps x', finds x
 * A run under way is not disturbed (nor by dae_check_jacobian). */
typedef enum dae_keep { DAE_KEEP_DIFFERENTIAL = 0, DAE_KEEP_DERIVATIVE } dae_keep;
dae_status dae_consistent(dae_solver *s, double t, double *x, double *xdot, dae_keep keep);

/* Which event ended the last call: number, direction (+1 rising, -1 falling); -1 if none. */
dae_status dae_get_event(const dae_solver *s, int *event, int *direction, double *t);

/* Unfiltered estimate of the local error of the last accepted step, n values in units of the
 * tolerances rtol |x_i| + atol_i. */
dae_status dae_get_error(const dae_solver *s, double *error);

/* Estimate of the error of the unknowns in the last step, n values in their own units. Of an unknown of
 * level 2 or 3 it is the error at the end of the step and where it was last read: tolerances do not govern
 * it. (Multistep methods add up errors from the first call on: whoever wants all of them asks once after
 * dae_start.) Of others it is that of the one step, at least a tolerance; and what rounding does to it, where that was
 * more than a tolerance and Newton's iteration ended there. */
dae_status dae_get_accuracy(dae_solver *s, double *estimate);

int dae_method_count(void);
const char *dae_method_name(int i);

/* ------------------------------------------------------------------ tier 3 ----------- */

/* Compares the Jacobian given (or the pattern given) with difference quotients at a point.
 * On disagreement DAE_E_JACOBIAN or DAE_E_PATTERN, the worst entries named in the message. */
dae_status dae_check_jacobian(dae_solver *s, double t, const double *x, const double *xdot);

/* One step of exactly size h at exactly this order, no error control: for order studies and
 * prescribed meshes. A method that cannot choose its own steps on the problem needs option
 * fixed_step (of any size) in dae_open. */
dae_status dae_step_fixed(dae_solver *s, double h, int order);

/* What the first step of size h of implicit Euler will do to index-3 unknowns: error[i] is the
 * predicted x(t0 + h) - x_1 (0 for other unknowns), start[i] the numerically consistent initial
 * values, from which that error is O(h). n values each; either may be NULL. Method bdf,
 * between dae_start and the first step, which is not disturbed. */
dae_status dae_predict_first(dae_solver *s, double h, double *error, double *start);

/* Starts from `count` past points, newest first: times t[i], values x[i * n .. i * n + n). */
dae_status dae_start_history(dae_solver *s, int count, const double *t, const double *x);

/* The history of 'bdf' and 'nordsieck' as Nordsieck's array: row j = 0 .. *order, at z + j n,
 * holds h^j / j! times the j-th derivative, at dae_time(s), of the polynomial through the last
 * *order + 1 points. z has room for DAE_NORDSIECK_ROWS rows. h = 0: the last step (1 before the
 * first). For what the next step predicts, multiply by Pascal's matrix. */
enum { DAE_NORDSIECK_ROWS = 6 };
dae_status dae_nordsieck(dae_solver *s, double h, double *z, int *order);

#ifdef __cplusplus
}
#endif
#endif
