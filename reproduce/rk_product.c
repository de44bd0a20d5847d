/* rk_product.c: the laboratory's runs once more, by the library's own methods.
 *
 * The steppers of rk_lab_body.h show what the formulas are; a fault of the library does not show
 * in them. Here the same problem goes through dae_open and takes the same prescribed steps with the
 * method of the same table, Newton's iteration going down to rounding. Both solve the same
 * equations, so the results may differ by rounding alone: a bound that no order can hide behind.
 */
#include "rk_lab.h"

#include <math.h>

enum { NAME = 64 };

typedef struct product {
    const lab_problem *lab;
    double mass[LAB_UNKNOWNS];
    unsigned char level[LAB_UNKNOWNS];
} product;

static int right_side(double t, const double *x, double *f, void *user)
{
    const product *p = user;
    (void)t;
    lab_value_d(p->lab, x, f);
    return DAE_OK;
}

static int derivative(double t, const double *x, const double *xdot, double *J, void *user)
{
    const product *p = user;
    (void)t, (void)xdot;
    lab_jacobian_d(p->lab, x, J);
    return DAE_OK;
}

void lab_method_name(const lab_run *r, char *name, size_t room)
{
    snprintf(name, room, "%s%s%s", r->form == LAB_PROJECTED ? "projected-" : "", r->table->name,
             r->form == LAB_STATE_SPACE ? "+g" : "");
}

/* The derivatives that go with x: of an algebraic z that of its solution, exp(rate t). */
static void slopes(const lab_run *r, const double *x, double *xdot)
{
    lab_value_d(r->problem, x, xdot);
    for (int i = r->problem->ny; i < r->problem->ny + r->problem->nz; i++)
        xdot[i] = r->perturbed ? xdot[i] / (double)r->eps : r->problem->rate[i] * x[i];
}

int lab_march_product(const lab_run *r, double *x)
{
    product p = { .lab = r->problem };
    double xdot[LAB_UNKNOWNS];
    char method[NAME];
    int n = r->problem->ny + r->problem->nz;
    for (int i = 0; i < n; i++) {
        int algebraic = i >= r->problem->ny;
        p.mass[i] = !algebraic ? 1 : r->perturbed ? (double)r->eps : 0;
        p.level[i] = algebraic && r->problem->index == 2 ? DAE_INDEX2 : 0;
    }
    const dae_problem problem = { .size = n,
                                  .rhs = right_side,
                                  .jacobian_x = derivative,
                                  .pattern = { .kind = DAE_PATTERN_DENSE },
                                  .mass_kind = DAE_MASS_DIAGONAL,
                                  .mass_values = p.mass,
                                  .level = r->problem->index == 2 ? p.level : NULL,
                                  .user = &p };
    lab_method_name(r, method, sizeof method);
    const dae_options options = { .method = method,
                                  .fixed_step = (double)r->h,
                                  .rtol = 1e-3,
                                  .atol = 1,
                                  .newton_tolerance = 1e-13,
                                  .newton_max = 100,
                                  .start = DAE_START_TRUST };
    dae_solver *s = study_open(&problem, &options);
    slopes(r, x, xdot);
    dae_status status = dae_start(s, r->t0, x, xdot);
    for (int k = 0; k < r->steps && status == DAE_OK; k++)
        status = dae_step(s, r->t0 + 2 * r->steps * (double)r->h);
    if (status == DAE_OK) status = dae_read(s, dae_time(s), x, NULL);
    dae_close(s);
    return status == DAE_OK;
}

double lab_apart(const lab_run *r, const dae_quad *start, lab_error *library)
{
    double x[LAB_UNKNOWNS], most = 0, *part[2] = { &library->y, &library->z };
    dae_quad y[LAB_UNKNOWNS], end[LAB_UNKNOWNS];
    int n = r->problem->ny + r->problem->nz;
    lab_exact_q(r->problem, r->t0, y);
    lab_exact_q(r->problem, r->t0 + r->h * r->steps, end);
    for (int i = 0; i < n; i++) x[i] = (double)(y[i] = start ? start[i] : y[i]);
    *library = (lab_error){ NAN, NAN };
    if (!lab_march_product(r, x) || !lab_march_q(r, y)) return NAN;
    *library = (lab_error){ 0, 0 };
    for (int i = 0; i < n; i++) {
        double *error = part[i >= r->problem->ny];
        *error = fmax(*error, (double)lab_abs_q(x[i] - end[i]));
        most = fmax(most, (double)lab_abs_q(x[i] - y[i]));
    }
    return most;
}
