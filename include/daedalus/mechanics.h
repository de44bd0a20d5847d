/* mechanics.h: constrained mechanical systems, in every formulation.
 *
 *     M(t, q) q'' = f(t, q, q') + W' lambda     n equations of motion
 *     0 = phi(t, q)                             holonomic constraints; W = phi_q above
 *     0 = A(t, q) q' + b(t, q)                  rolling (non-holonomic); W = A below
 *
 * A mechanism is described once; each formulation makes a dae_problem of it that any
 * method of the library takes:
 *
 *     dae_mechanism *m = dae_mechanism_open(&model, NULL);   (NULL: the recommended formulation)
 *     dae_mechanism_assemble(m, t, q, v);            (guesses become consistent)
 *     dae_mechanism_pack(m, t, q, v, x, xdot);       (the state of the formulation)
 *     options.method = dae_mechanism_method(m, options.rtol);
 *     dae_solver *s = dae_open(dae_mechanism_problem(m), &options);
 *     dae_start(s, t, x, xdot);  ...  dae_read(s, t, x, NULL);
 *     dae_mechanism_settle(m, t, x);                 (lambda as accurate as v)
 *     dae_mechanism_unpack(m, t, x, q, v, lambda);   (back, whatever the formulation)
 *     dae_close(s);  dae_mechanism_close(m);
 *
 * Only phi and f are needed. Everything else is optional: without `mass` and
 * `mass_diagonal` M is the identity; derivatives of phi, A and b that are not given are
 * found by central differences of order eight.
 *
 * Redundant constraints (a door on three hinges) are allowed: the motion is the same, and
 * of the multipliers the shortest vector is taken. Positions where constraints become
 * dependent that elsewhere are not (a parallelogram lying flat) are refused by name.
 *
 * Large mechanisms (chains, nets): with constraint_pattern (and mass_pattern, roll_pattern where
 * there is a mass function or rolling) everything is sparse: a step costs as much as the
 * entries, and thousands of bodies are no matter. Formulations ggl, ggl-mass, index3, index2
 * and index1-acceleration; constraints must be independent.
 *
 * Methods "mech-dopri5", "mech-hem4", "mech-herk-3", "mech-alpha-R" know what a mechanism is: they
 * solve systems in (q'', lambda) alone, in place of all the formulation's unknowns, and keep its
 * constraints (to rounding, but for the last). For ggl, ggl-mass, index3, index2, index1, index0.
 *
 * A mechanism belongs to one solver at a time: its callbacks use memory of the mechanism.
 * While a run is under way only unpack, check and refresh may be called.
 */
#ifndef DAEDALUS_MECHANICS_H
#define DAEDALUS_MECHANICS_H

#include <daedalus.h>
#include <daedalus/jet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Matrices come by columns and arrive zeroed. Callbacks answer as those of dae_problem.
 * The struct is copied; the arrays it points to must outlive the mechanism. */
typedef struct dae_mechanical {
    int coordinates; /* n */
    int constraints; /* equations phi(t, q) = 0 */
    int rolling;     /* equations A(t, q) q' + b(t, q) = 0 */

    /* n x n, or n constants on the diagonal, or neither: the identity */
    int (*mass)(double t, const double *q, double *M, void *user);
    const double *mass_diagonal;
    int (*force)(double t, const double *q, const double *v, double *f, void *user);
    /* Or energies: M and f then follow from Lagrange's equations, (T_v)' - T_q + V_q = f. T is a
     * polynomial of degree 2 in v; V may also stand beside a mass matrix; f, if given, is added. */
    int (*kinetic)(double t, const double *q, const double *v, double *T, void *user);
    int (*potential)(double t, const double *q, double *V, void *user);
    /* The same in numbers that carry derivatives (daedalus/jet.h), instead: M = T_vv, T_q, V_q are
     * then exact to rounding. `kinetic` and `potential` are differenced. */
    int (*kinetic_jet)(dae_jet t, const dae_jet *q, const dae_jet *v, dae_jet *T, void *user);
    int (*potential_jet)(dae_jet t, const dae_jet *q, dae_jet *V, void *user);
    /* Forces that depend on the multipliers (friction in joints): what the callback sets
     * is added to f. */
    int (*friction)(double t, const double *q, const double *v, const double *lambda, double *f,
                    void *user);

    int (*constraint)(double t, const double *q, double *phi, void *user);
    /* or in jets: phi_q, phi_t and the bias are then exact, and no other callback of phi is due */
    int (*constraint_jet)(dae_jet t, const dae_jet *q, dae_jet *phi, void *user);
    int (*roll)(double t, const double *q, double *A, double *b, void *user);

    /* Derivatives, all optional: G = phi_q (constraints x n), phi_t, and ... */
    int (*constraint_q)(double t, const double *q, double *G, void *user);
    int (*constraint_t)(double t, const double *q, double *rate, void *user);
    /* ... what phi'' has beside phi_q q'': the second derivative of phi(t + s, q + s v)
     * by s; what (A v + b)' has beside A v': the first derivative along the same line. */
    int (*constraint_bias)(double t, const double *q, const double *v, double *bias, void *user);
    int (*roll_bias)(double t, const double *q, const double *v, double *bias, void *user);
    /* Sparse matrices, kind DAE_PATTERN_SPARSE (columns are coordinates: n + 1 offsets) or, for
     * all of them, 0. Callbacks then fill value arrays on them. A pattern also says what an
     * entry may depend on: row i of A, and of M, on the coordinates in row i of its pattern. */
    dae_pattern constraint_pattern; /* phi_q: which coordinates occur in a constraint */
    dae_pattern roll_pattern;       /* A */
    dae_pattern mass_pattern;       /* M, with the diagonal */
    dae_pattern force_pattern;      /* of f and friction by q and by v; kind 0: coordinates that
                                  share a constraint (or an entry of M) */
    int steady;                     /* 1: phi does not depend on t; saves evaluations */

    /* T + V; NULL: from `kinetic...` or M, and `potential...`. */
    int (*energy)(double t, const double *q, const double *v, double *E, void *user);
    /* For the methods energy-momentum... only. What changes the energy, dE/dt = P(t, q, v); NULL:
     * `force` does, if M is constant or `kinetic` is given; otherwise nothing. And motions that
     * change neither T nor V, translations and rotations, say: the columns of X (coordinates x
     * symmetries), affine in q. The momenta X(q)'M v are then kept, too. */
    int (*power)(double t, const double *q, const double *v, double *P, void *user);
    int symmetries;
    int (*symmetry)(const double *q, double *X, void *user);

    /* Typical sizes for differences: over scale[j] in q_j and time_scale in t phi is
     * smooth. NULL and 0: found by trying at the first position. */
    const double *scale;
    double time_scale;

    const char *const *names;            /* n; NULL: q1, q2, ... */
    const char *const *constraint_names; /* constraints + rolling; NULL: constraint 1 */
    void *user;
} dae_mechanical;

/* After every step q, v or both go to the nearest point of the constraints (in the metric of M,
 * or euclidean): for index2, index1, index0, baumgarte and maggi-..., which would drift. With
 * DAE_PROJECT_DERIVATIVE, alone or beside one of these, steps stay where they end and the right
 * side is evaluated at that point instead (index0, maggi-...): for methods that a moved step would
 * disturb. What dae_read gives drifts a little; dae_mechanism_unpack gives the projected point. */
enum {
    DAE_PROJECT_NOTHING = 0,
    DAE_PROJECT_POSITION = 1,
    DAE_PROJECT_VELOCITY = 2,
    DAE_PROJECT_BOTH = 3,
    DAE_PROJECT_DERIVATIVE = 4
};

typedef struct dae_formulation {
    const char *name; /* NULL: "ggl"; see dae_formulation_name */

    /* baumgarte, penalty, augmented-lagrangian: phi'' + 2 alpha phi' + beta^2 phi = 0
     * (rolling: c' + alpha c = 0). 0: beta = 10 / time_scale and alpha = beta: errors die
     * out, without swinging, ten times faster than the motion goes on. time_scale 0: the time in
     * which constraints turn by a radian, found by dae_mechanism_pack; 1 if they do not turn.
     * DAE_ZERO: none. */
    double alpha, beta;
    double penalty; /* weight of W'W beside M, relative; 0: 1e7 (penalty), 1e4 (augmented) */
    int euclidean;  /* 1: assembly and projection change q and v as little as possible in |.|,
                       not in M */
    int project;    /* DAE_PROJECT_... */
    const dae_allocator *allocator;
} dae_formulation;

/* The list of formulations; NULL or -1 beyond its end. The index is that of
 * differentiation, with holonomic constraints present. */
int dae_formulation_count(void);
const char *dae_formulation_name(int i);
const char *dae_formulation_title(int i);
int dae_formulation_index(int i);

typedef struct dae_mechanism dae_mechanism;

/* Returns an object even on failure (ask dae_mechanism_status); NULL never. */
dae_mechanism *dae_mechanism_open_version(const dae_mechanical *model, const dae_formulation *how,
                                          int version, size_t model_bytes, size_t how_bytes);
static inline dae_mechanism *dae_mechanism_open(const dae_mechanical *model,
                                                const dae_formulation *how)
{
    return dae_mechanism_open_version(model, how, DAE_VERSION, sizeof(dae_mechanical),
                                      sizeof(dae_formulation));
}
void dae_mechanism_close(dae_mechanism *m); /* NULL is allowed */
dae_status dae_mechanism_status(const dae_mechanism *m);
const char *dae_mechanism_message(const dae_mechanism *m);

/* The recommended method for dae_options.method at a relative tolerance (0: the default one).
 * With the recommended formulation (how NULL, or its name NULL) it is the default route. */
const char *dae_mechanism_method(const dae_mechanism *m, double rtol);

/* The problem to be handed to dae_open. Ask after assemble or pack: with redundant
 * constraints the size of the minimal formulations (maggi-...) is known only then. At
 * most 3 n + 3 (constraints + rolling). */
const dae_problem *dae_mechanism_problem(const dae_mechanism *m);

/* Positions and velocities that satisfy the constraints, as near as possible to the
 * guesses. Overwritten on success only. */
dae_status dae_mechanism_assemble(dae_mechanism *m, double t, double *q, double *v);

/* From consistent q and v to the state of the formulation: multipliers, accelerations and
 * all derivatives are found. xdot may be NULL. */
dae_status dae_mechanism_pack(dae_mechanism *m, double t, const double *q, const double *v,
                              double *x, double *xdot);

/* Back: any of q (n), v (n), lambda (constraints + rolling) may be NULL. What is not part
 * of the state (lambda of a formulation without multipliers) is computed. */
dae_status dae_mechanism_unpack(dae_mechanism *m, double t, const double *x, double *q, double *v,
                                double *lambda);

/* Puts the multipliers that q and v imply in place of those in x: call it on what dae_read gave,
 * before unpack. Where lambda is an unknown of index 2 or 3 (ggl, index2, index3) they are as
 * accurate as v; those that the integration carries lose up to five digits. With redundant
 * constraints the shortest. Without lambda in the state: nothing to do, DAE_OK. */
dae_status dae_mechanism_settle(dae_mechanism *m, double t, double *x);

/* To be called between steps, in runs of the minimal formulations: answers DAE_OK when
 * nothing need be done and DAE_EVENT when x was changed (new minimal velocities, q back
 * on the constraints): then call dae_restart(s, t, x, NULL). Without it the run ends,
 * refused, where its null space becomes singular. Other formulations: always DAE_OK. */
dae_status dae_mechanism_refresh(dae_mechanism *m, double t, double *x);

typedef struct dae_mechanism_report {
    double position, velocity, acceleration; /* largest residual of a constraint */
    double energy;     /* callback, or T + V of `kinetic`, `potential`; NaN without any */
    double mu, nu;     /* largest extra multiplier of ggl and fuehrer-leimkuhler: how much the
                          integration had to be helped; 0: the formulation has none */
    int rank, freedom; /* of W; coordinates - rank */
    int redundant;     /* constraints + rolling - rank */
    double pivot;      /* smallest pivot of W (rows of length 1): near 0 near singular;
                          NaN: not known (sparse) */
    int weakest;       /* the constraint with that pivot, -1: none */
} dae_mechanism_report;

dae_status dae_mechanism_check(dae_mechanism *m, double t, const double *x,
                               dae_mechanism_report *out);

/* ---- tasks beside simulation ---- */

/* Static equilibrium near q: f(t, q, 0) + W' lambda = 0, phi = 0. lambda may be NULL. */
dae_status dae_mechanism_equilibrium(dae_mechanism *m, double t, double *q, double *lambda);

/* Kinematics: as many (driving) constraints as coordinates determine q, v, q''; lambda
 * are the forces needed. q is a guess and becomes the solution; v, a, lambda may be NULL.
 * */
dae_status dae_mechanism_kinematics(dae_mechanism *m, double t, double *q, double *v, double *a,
                                    double *lambda);

/* Linearization about (q, v): the motion in minimal coordinates y (position) and e
 * (velocity), (y, e)' = J (y, e). Fills in the size k of J, J itself (k x k by columns)
 * and its eigenvalues; J, real and imaginary may be NULL; room for 2n x 2n, 2n, 2n
 * numbers. */
dae_status dae_mechanism_linearize(dae_mechanism *m, double t, const double *q, const double *v,
                                   int *size, double *J, double *real, double *imaginary);

#ifdef __cplusplus
}
#endif
#endif
