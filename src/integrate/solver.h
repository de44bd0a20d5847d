/* solver.h: the solver as the driver and the methods see it. */
#ifndef DAE_INTEGRATE_SOLVER_H
#define DAE_INTEGRATE_SOLVER_H

#include "integrate/glance.h"
#include "base/memory.h"
#include "base/message.h"
#include "nonlinear/corrector.h"
#include "problem/system.h"

/* One attempted step. An attempt writes only here and into the method's scratch space:
 * rejecting it restores nothing. */
typedef struct dae_trial {
    double h, t; /* size; end */
    int order;
    double *x, *p, *e; /* solution, derivative, correction */
    double *d, *e_d;   /* computed d */
    double error;      /* weighted local error, accepted when <= 1 */
    int limiting;      /* the unknown that decided */
    double constant;   /* of the method: the local error is about constant * e */
    int filtered;
    double persists; /* of the local error what stays of velocities, in full weights (filter.h) */
    double
        adds; /* of the local error what the solution has of it, and may add up (0: hardly any) */
    int prescribed; /* size and order were prescribed: no error control */
    int moved;      /* x was moved by the projection, p with it if x' = f(t, x) */
} dae_trial;

/* The correction e of the first attempt as a difference of x: h^(k+1) times derivative k + 1; half of
 * that (one point and a derivative, k = 1); neither. */
enum { DAE_DIFFERENCE_NONE = 0, DAE_DIFFERENCE_FULL, DAE_DIFFERENCE_HALF };

/* Between the ends of a step: the method's polynomial for d is as good as its steps; it is not, and a
 * better one is made by collocation; the method asks the equations itself. */
enum { DAE_BETWEEN_POLYNOMIAL = 0, DAE_BETWEEN_COLLOCATION, DAE_BETWEEN_OWN };

typedef struct dae_method {
    const char *name, *description;
    const char *parameter; /* NULL, or what may follow the name */
    int max_order;
    int one_step;                        /* 1: no history */
    int starts_itself;                   /* 1: needs no points for fixed steps */
    int movable;                         /* 1: commit takes a trial whose x
                                                              was moved a little (with e) */
    int first_power;                     /* 2: the first step has an error
                                                              of h^2 that is estimated */
    int (*takes)(const char *name);      /* NULL: its own name only */
    dae_status (*choose)(dae_solver *s); /* NULL, or at dae_open: refuses a
                                                              problem, sets s->order_most */
    dae_status (*adapts)(dae_solver *s); /* NULL, or at dae_open and at every start
                                                              when the levels are known, not with
                                                              option fixed_step: refuses what it can
                                                              do in prescribed steps only */
    dae_status (*open)(dae_solver *s);
    void (*close)(dae_solver *s);
    void (*start)(dae_solver *s); /* from s->x, s->p */
    dae_status (*start_history)(dae_solver *s, int count, const double *t, const double *x);
    int (*attempt)(dae_solver *s, dae_trial *trial);              /* DAE_OK, a verdict, a failure */
    void (*commit)(dae_solver *s, dae_trial *trial);              /* and plans the next step */
    void (*reject)(dae_solver *s, dae_trial *trial, int verdict); /* plans the next attempt */
    void (*interpolate)(dae_solver *s, double t, double *x, double *p, double *d);
    int between; /* DAE_BETWEEN_...: what dense.c
                                                              makes of it */
    int ahead;   /* multistep: points beyond k + 2 of which
                                                              a better derivative is made (accuracy.c) */
    double (*inside)(dae_solver *s, int j, double *x, double *d,
                     double *p); /* NULL, or the j-th point inside the
                                                              last step at which the equations hold:
                                                              where, from 0 to 1; 0: there is none */
    int (*refine)(dae_solver *s, double t, double *x, double *p);  /* NULL, or a step that ends at t
                                                              inside the last one; 1: done */
    void (*polish)(dae_solver *s, double t, double *x, double *p); /* NULL, or makes of what is read
                                                              what the ends of steps are, if it can */
    int (*reach)(dae_solver *s);                              /* highest order the history allows */
    int (*stiff)(dae_solver *s, double *rate, double *bound); /* NULL, or 1: stability limits the
                                                              steps: h * rate of the fastest
                                                              component, and its bound */
    int (*nordsieck)(dae_solver *s, double h, double *z);     /* NULL, or the history as scaled
                                                              derivatives; returns the degree */
    /* BDF only (first.c): moves every point of the past by v, n values. v NULL: what is e of an
     * attempt at this order? DAE_DIFFERENCE_... */
    int (*shift)(dae_solver *s, const double *v, int order);
} dae_method;

extern const dae_method dae_method_bdf;
extern const dae_method dae_method_radau, dae_method_radau_undamped;
extern const dae_method dae_method_projected;
extern const dae_method dae_method_dirk;
extern const dae_method dae_method_rosenbrock;
extern const dae_method dae_method_half_explicit;
extern const dae_method dae_method_adams;
extern const dae_method dae_method_two_step;
extern const dae_method dae_method_alpha;
extern const dae_method dae_method_nordsieck;
extern const dae_method dae_method_multistep;
extern const dae_method dae_method_mebdf;
extern const dae_method dae_method_bim;
extern const dae_method dae_method_gam;
extern const dae_method dae_method_symplectic;
extern const dae_method dae_method_motion_explicit;
extern const dae_method dae_method_motion_alpha;
extern const dae_method dae_method_energy;
extern const dae_method dae_method_energy_dissipating;

/* methods.c */
const dae_method *dae_method_find(const char *name);  /* NULL: there is no such method */
const char *dae_method_description(const char *name); /* the same */
/* The method that does what a code of the field does ("dassl"), and what that is; NULL: not known. */
const char *dae_method_of_code(const char *name, const char **what);
dae_status dae_method_unknown(dae_report *report,
                              const char *name); /* says so, and what there is */

enum { SOLVER_OPEN = 1, SOLVER_STARTED, SOLVER_BROKEN };

/* An accepted point to look back on: taken when the step has shrunk by a factor 30, void (h is
 * 0) until then. */
typedef struct dae_mark {
    double t, h, *x, *p;
    double *slope; /* of x over the step that followed, algebraic unknowns too */
} dae_mark;

typedef struct dae_watch_state { /* integrate/monitor/watch.c */
    double t;                    /* at the last look */
    int steps;                   /* since then */
    int unknown, sign;           /* the last local error that mattered */
    int flips;                   /* changes of its sign since the last look */
    int64_t failures;            /* rejected attempts up to the last look */
    double h;                    /* mean step before the last look */
    int slow;                    /* looks since the pace fell */
    int hopeless;                /* looks in a row at a pace that never gets there */
    int looks, falls;            /* looks in this period; periods in a row that went less far */
    double period_t, period_way; /* where it began; how far the last one went */
    int64_t period_failures;     /* of Newton, up to its begin */
    int ask;                     /* at so many the equations are asked */
    int confirmed;               /* so many times in a row they had a jump ... */
    int row;                     /* ... in this equation */
    int pending;                 /* a step of dae_advance has not been looked at */
} dae_watch_state;

enum { DAE_EVENT_LOOKS = 64 };

/* Values inside the last step (dense.c). */
enum { DAE_DENSE_NODES = 12 };
enum { DAE_READ_UNKNOWN = 0, DAE_READ_NOTHING, DAE_READ_POLYNOMIAL, DAE_READ_NODES };
typedef struct dae_dense {
    double *vectors;                     /* the block of those that are not the solver's own */
    double *x_begin, *p_begin, *d_begin; /* where the step began */
    double *x, *p;                       /* what is read */
    double *x_pred, *p_pred, *d_pred;    /* with which the equations are asked */
    double *X, *P;                       /* x and d' at the nodes */
    int most, nodes;                     /* room for so many; in use */
    double node[DAE_DENSE_NODES], to_legendre[DAE_DENSE_NODES][DAE_DENSE_NODES];
    int source;              /* DAE_READ_...: what may do without the equations */
    int vouched;             /* the same of the step before */
    int reads, reads_before; /* reads of this step and of the one before */
    int64_t spent;           /* evaluations that reading has cost since the solver was opened */
    int corrected;           /* 1: X and P are those of this step */
    double lacking;          /* what the polynomial through P lacks, in tolerances of x */
    double defect;           /* the same with what the corrections left */
    double *recent;          /* errors of unknowns of index 2 and 3 seen of late */
    int doubtful;            /* 1: p of algebraic unknowns is no derivative */
    int was_resolved;        /* the same of the step before */
    int resolved;            /* is the method's polynomial a picture of x? -1: not known */
} dae_dense;

/* Points of the last steps: times, d and d' there (accuracy.c). */
enum { DAE_POINTS = 28 };
typedef struct dae_points {
    double *vectors;  /* the block of the vectors */
    int most, count;  /* room for so many, 0: nobody needs them; known, newest first */
    int inner;        /* of these inside the last step */
    int begins;       /* 1: the oldest is the start */
    int asked, whole; /* 1: errors are carried along; from the start on */
    double t[DAE_POINTS], *d[DAE_POINTS], *p[DAE_POINTS];
    double *x[DAE_POINTS];       /* with a computed d: x there */
    double *e[DAE_POINTS];       /* errors of d there */
    double *u[DAE_POINTS];       /* the same, those of level 2 renewed */
    double *error;               /* of x at the newest */
    int nodes, node[DAE_POINTS]; /* those that Q goes through */
    int start_slope;             /* 1: the last is the start, with its d' */
    double *v, *Q, *slope;       /* scratch; Q and Q' */
    int reading;                 /* 1: inside the last step was read ... */
    double t_read, *x_read;      /* ... there, this */
    double *recent;              /* errors of unknowns of index 2 and 3 seen of late */
    double h;                    /* of the last step */
    double drift;                /* what stays of velocities, of all steps together */
    double sum;                  /* of the local errors of all steps */
} dae_points;

typedef struct dae_event_look {
    double t, *g;
    int rough;   /* g of the polynomial, a glance */
    int settled; /* nothing unforeseen up to the next look */
} dae_event_look;

typedef struct dae_event_search { /* integrate/monitor/events.c */
    double *low, *high, *middle, *x, *p, *look_g;
    dae_event_look look[DAE_EVENT_LOOKS]; /* at a step: its two ends and points inside, in order */
    int looks;
    unsigned char *armed; /* 0: identically zero since the last event, ignored until it leaves */
    double t_low;         /* searched up to here */
    double t_found;
    int event, direction, pending, suspicious;
    dae_status reading; /* of the last look at the solution */
} dae_event_search;

typedef struct dae_first {  /* integrate/first.c */
    dae_first_kind kind;    /* resolved: not DAE_FIRST_AUTO */
    int insist;             /* 1: asked for, not chosen: no way round it */
    dae_solver *starter;    /* the one-step method; NULL: none is wanted */
    dae_statistics counted; /* what of its work is in our statistics */
    int wanted, points;     /* points it shall supply; those known, the initial one too */
    int supplied;           /* 1: the last step was its: it has the dense output */
    double *vectors;        /* the block of the following */
    double *x, *t;          /* the points, newest first */
    double *v, *shift;      /* n: response to the defect of a step; what the past was moved by */
    double *atol;           /* n: of the starter */
    int pending;            /* 1: the next attempt is the first of the formula */
    int shifted;            /* 1: and the past has been moved for it */
    int order, count;       /* of the first steps; how many of them were corrected */
} dae_first;

struct dae_solver {
    uint64_t magic;
    int state;
    dae_memory memory;
    dae_report report;
    dae_options options; /* resolved: no zeros that mean defaults */
    dae_statistics stats;
    dae_system system;
    dae_corrector corrector;
    const dae_method *method;
    char method_name[40]; /* as asked for: a family has many */
    int order_most;       /* of the method chosen */
    int order_asked;      /* option max_order as it was given */
    int choice;           /* the row of choose.c in use; -1: the method was asked for */
    int chosen_again;     /* 1: the first choice failed */
    void *method_state;
    int analyzed; /* pattern, factors and history exist */

    double t, t_previous;     /* ends of the last accepted step */
    double h;                 /* size for the next attempt, signed once the direction is known */
    int order;                /* for the next attempt */
    double direction;         /* +1, -1; 0 before the first advance */
    double stop;              /* NaN: none */
    double *vectors;          /* the block that holds all of the following */
    double *x, *p;            /* at t */
    double safety;            /* the part of a tolerance that one step may use */
    double *atol, *w0, *w;    /* tolerances; weights; weights with powers of h */
    double *recent, t_recent; /* |x_i|, |x_i'| of late (option fading), when; NULL: |x| counts */
    double t_unit;            /* what h is measured in, in weights of levels 2 and 3 */
    double *w_error;          /* of errors: w but for algebraic unknowns (driver.c) */
    double *w_d;              /* weights of computed d, with powers of h ... */
    double *reach_d;          /* ... from how far it moves with unknowns of levels 0 and 1, 2, 3 */
    double *d;                /* computed d at t */
    dae_trial trial;
    double *trial_2;         /* scratch, as long as p */
    double *trial_x;         /* scratch, as long as x */
    double *look_e, *look_d; /* dense.c */
    dae_event_search events;
    dae_dense dense;
    dae_points points;

    int failures; /* consecutive rejected attempts of this step */
    int error_failures;
    int undefined_failures; /* since the solution last got past t_bad */
    double t_bad;           /* nearest time ahead where the equations were undefined */
    double h_bad;           /* size of the first of these attempts ... */
    int64_t calls_bad;      /* ... and the residuals so far */
    double ceiling;         /* no step above this for the next ceiling_steps steps */
    int ceiling_steps;
    double t_stuck;    /* the end of an attempt that Newton gave up; behind t: there is none */
    int stuck;         /* such attempts since the solution last got past t_stuck ... */
    double h_stuck;    /* ... the size of the first of them ... */
    int vain;          /* ... and how many failed with a Jacobian in every iteration */
    double t_surprise; /* the end of an attempt that met something unseen; behind t: none */
    int checked_jacobian;
    int newton_trouble;            /* signs of a bad Jacobian, forgotten with time */
    int64_t next_check;            /* steps before it may be suspected again */
    double t_begin;                /* of the start or restart */
    double t_levels;               /* of the Jacobian that has told levels last */
    double t_asked;                /* what was last advanced to */
    double *x_started, *p_started; /* x and d' there */
    int unseen;                    /* 1: no call has come back with anything later */
    dae_watch_state watch;
    dae_first first;
    dae_mark mark; /* for the post-mortem */
    double h_max;  /* largest step since the mark was last void */
};

/* Was an unknown declared to be of level 3? */
static inline int dae_has_level_3(const dae_solver *s)
{
    const dae_problem *q = &s->system.problem;
    for (int i = 0; q->level && i < q->size; i++)
        if (q->level[i] == DAE_INDEX3) return 1;
    return 0;
}

/* The highest level of all unknowns, as far as they are known. */
static inline int dae_highest_level(const dae_solver *s)
{
    int level = 0;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] > level) level = s->system.level[i];
    return level;
}

/* methods.c: may the method choose its own steps on this problem? */
dae_status dae_method_adapts(dae_solver *s);
/* Refuses the index: why, and what to take instead. */
dae_status dae_method_refuse(dae_solver *s, int level, const char *why, const char *hint);

/* Weights at x: w0_i = 1 / (safety (rtol |x_i| + atol_i)); renew_d: w_d from the motion of d under
 * 1 / w0 as well. */
dae_status dae_set_weights(dae_solver *s, double t, const double *x, int renew_d);
/* The powers of h: min(|h|, 1)^(level - 1) for levels >= 2. */
void dae_scale_weights(dae_solver *s, double h);
int dae_measure_time(dae_solver *s, double h); /* 1: t_unit is another: time_unit.c */

/* driver.c */
dae_status dae_drive_step(dae_solver *s, double limit);
/* target: where t + h ends if it is that but for rounding; NaN: nowhere */
dae_status dae_drive_fixed(dae_solver *s, double h, int order, double target);
double dae_first_step(dae_solver *s, double span);
void dae_bound_unit(dae_solver *s, double span); /* of time, for index 2 and 3 */
/* The projection of the problem, if there is one, for x between steps; as it was if that fails. */
void dae_project_reading(dae_solver *s, double t, double *x);
dae_status dae_drive_given(dae_solver *s, double h, int order); /* a step of the starter */

/* levels.c: 1: there are unknowns of index 2 that nobody declared, and now they are; DAE_E_NOMEM */
int dae_find_index_2(dae_solver *s, double t, const double *x, const double *p);

/* start.c */
dae_status dae_begin(dae_solver *s, double t, const double *x, const double *p, int restart);
dae_status dae_prepare(dae_solver *s, double t, const double *x, const double *p);
void dae_find_derivatives(dae_solver *s,
                          int begins); /* undeclared unknowns whose derivatives occur */
void dae_unprepare(dae_solver *s);     /* nothing is left of it */
dae_status dae_open_again(dae_solver *s);
int dae_grow_pattern(dae_solver *s, dae_status failure, double t); /* 1: the run goes on */
/* The same where a pattern that was found shows entries that it lacks at the start. */
dae_status dae_begin_wider(dae_solver *s, double t, const double *x, const double *p, int restart);
dae_status dae_find_consistent(dae_solver *s, double t, double *x, double *p, dae_keep keep);

/* first.c: the first steps of a multistep method */
dae_status dae_first_open(dae_solver *s);
void dae_first_close(dae_solver *s);
dae_status dae_first_begin(dae_solver *s); /* at every start and restart */
int dae_first_wants(const dae_solver *s);  /* 1: the next step is the starter's */
dae_status dae_first_supply(dae_solver *s, dae_trial *trial);
dae_status dae_first_enter(dae_solver *s); /* the point just taken joins the past */
dae_status dae_first_read(dae_solver *s, double t, double *x, double *p);
int dae_first_correct(dae_solver *s, dae_trial *trial); /* after an attempt; a verdict */
void dae_first_undo(dae_solver *s);                     /* it was rejected */
dae_status dae_first_predict(dae_solver *s, double h, double *error, double *start);

/* dense.c: the solution inside the last step; any output may be NULL */
dae_status dae_dense_open(dae_solver *s);
void dae_dense_close(dae_solver *s);
void dae_dense_begin(dae_solver *s); /* a step was accepted */
dae_status dae_look(dae_solver *s, double t, double *x, double *p, int asking);
void dae_compare_with_ends(dae_solver *s, double *estimate); /* levels 2 and 3: more of it */
int dae_is_unresolved(dae_solver *s, double t); /* 1: the polynomial is no picture of it */
/* Weights of Lagrange's polynomial through the nodes at t, and of its derivative (or NULL). */
void dae_lagrange(int count, const double *node, double t, double *value, double *slope);
/* The cubic through both ends of the last step, x_done and p_done being those of its begin */
void dae_hermite(const dae_solver *s, double t, const double *x_done, const double *p_done,
                 double *x, double *p);

/* accuracy.c */
dae_status dae_points_open(dae_solver *s);
void dae_points_close(dae_solver *s);
void dae_points_start(dae_solver *s);                           /* at every start and restart */
void dae_points_take(dae_solver *s);                            /* a step was accepted */
void dae_points_read(dae_solver *s, double t, const double *x); /* inside it */
/* Errors of all unknowns over the last step, in their units */
void dae_estimate_errors(dae_solver *s, double *estimate);

/* watch.c: before the first step; after each step on the way to target */
void dae_watch_start(dae_solver *s);
dae_status dae_watch(dae_solver *s, double target);
dae_status dae_watch_pending(dae_solver *s, double target); /* where dae_advance has left that */
/* No step gets on: is it a jump of the equations? DAE_OK if none is found. */
dae_status dae_explain_chatter(dae_solver *s);

/* events.c */
dae_status dae_events_start(dae_solver *s);
dae_status dae_events_search(dae_solver *s, double target); /* DAE_OK, DAE_EVENT, failure */

/* Where the equations were not defined in an attempt: the end of the step, or what the method looked at beyond it. */
static inline double dae_undefined_at(const dae_solver *s, const dae_trial *trial)
{
    return (s->system.bad_t - trial->t) * trial->h > 0 ? s->system.bad_t : trial->t;
}

/* postmortem.c: turns "it failed" into what, where, why */
dae_status dae_explain(dae_solver *s, int verdict, const dae_trial *trial);
/* Of a mechanism whose constraints become dependent here; DAE_OK: it is not one */
dae_status dae_explain_position(dae_solver *s);
/* rest of the way: is it out of reach because an explicit method meets a stiff problem? Then
 * DAE_E_WORK, otherwise DAE_OK. */
dae_status dae_explain_stiffness(dae_solver *s, double rest);
/* Is a Jacobian or pattern that was given wrong at this point? DAE_OK if not, or if nobody may
 * ask (options.check_jacobian < 0). The factors are lost. */
dae_status dae_check_given(dae_solver *s, double t, const double *x, const double *p, double h);

#endif
