/* builtins.h: what the functions of the language share: a call, and the row of the table for it. */
#ifndef DAE_MODELICA_BUILTINS_H
#define DAE_MODELICA_BUILTINS_H

#include "modelica/instance.h"

typedef struct mo_builtin_row mo_builtin_row;
typedef struct mo_call {
    mo_model *m;
    const mo_scope *s;
    const mo_ast *a;
    const mo_builtin_row *row;
    mo_value **argument; /* evaluated, unless the row says otherwise */
    size_t count;
} mo_call;

struct mo_builtin_row {
    const char *name;
    mo_value *(*run)(mo_call *c);
    int least, most; /* arguments; most -1: any number */
    ex_op op;
    ex_type type;
    bool raw; /* evaluates its arguments itself */
    const char *usage;
};

#define MO_NO_CLOCKS                                                                               \
    "clocked models are read, but not simulated: write the model in continuous time"

mo_value *mo_wrong_call(mo_call *c, const char *why); /* says it */
bool mo_are_scalars(const mo_value *v);
bool mo_are_numbers(const mo_value *v);
bool mo_known_integer(mo_call *c, size_t i,
                      int *out); /* argument i; false: it is none, and said so */

/* builtins_array.c */
mo_value *mo_builtin_size_of(mo_call *c);
mo_value *mo_builtin_size_so_far(mo_model *m, const mo_scope *s, const mo_ast *a);
mo_value *mo_builtin_dimensions_of(mo_call *c);
mo_value *mo_builtin_fill(mo_call *c);
mo_value *mo_builtin_zeros(mo_call *c);
mo_value *mo_builtin_ones(mo_call *c);
mo_value *mo_builtin_identity(mo_call *c);
mo_value *mo_builtin_diagonal(mo_call *c);
mo_value *mo_builtin_linspace(mo_call *c);
mo_value *mo_builtin_transpose(mo_call *c);
mo_value *mo_builtin_outer_product(mo_call *c);
mo_value *mo_builtin_symmetric(mo_call *c);
mo_value *mo_builtin_cross(mo_call *c);
mo_value *mo_builtin_skew(mo_call *c);
mo_value *mo_builtin_to_scalar(mo_call *c);
mo_value *mo_builtin_to_vector(mo_call *c);
mo_value *mo_builtin_to_matrix(mo_call *c);
mo_value *mo_builtin_promote(mo_call *c);
mo_value *mo_builtin_cat(mo_call *c);
mo_value *mo_builtin_make_array(mo_call *c);

#endif
