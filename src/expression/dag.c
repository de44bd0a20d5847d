/* dag.c: from expressions to units: collecting them and putting together what is faster as one.
 * dag.h has the list of passes.
 */
#include "expression/dag.h"

enum { COST_LIMIT = 1000 }; /* what costs more is dear enough */

/* ---------------------------------------------------------------- node -> unit ---------- */

static entry *seek(const dag *d, ex_id node)
{
    size_t i = (node * 0x9e3779b1u) & (d->table_size - 1);
    while (d->table[i].stamp == d->stamp && d->table[i].node != node)
        i = (i + 1) & (d->table_size - 1);
    return &d->table[i];
}

static void widen(ex_builder *b, dag *d)
{
    entry *old = d->table;
    size_t size = d->table_size;
    d->table_size = size ? 2 * size : 64;
    d->table = dae_arena_take(b->scratch, d->table_size, sizeof *d->table);
    for (size_t i = 0; i < size; i++)
        if (old[i].stamp == d->stamp) *seek(d, old[i].node) = old[i];
}

static entry *enter(ex_builder *b, dag *d, ex_id node)
{
    if (2 * (d->entries + 1) > d->table_size) widen(b, d);
    entry *e = seek(d, node);
    if (e->stamp != d->stamp) {
        *e = (entry){ .node = node, .unit = NOT_YET, .stamp = d->stamp };
        d->entries++;
    }
    return e;
}

static bool entered(const dag *d, ex_id node)
{
    return d->table_size && seek(d, node)->stamp == d->stamp;
}

static uint32_t unit_of(const dag *d, ex_id node)
{
    return seek(d, node)->unit;
}

/* What has the value of the node: noEvent and its like compute nothing. */
static ex_id bare(const ex_builder *b, ex_id e)
{
    for (;;) {
        const ex_node *n = ex_at(b->g, e);
        if (n->op != EX_NO_EVENT && n->op != EX_SMOOTH && n->op != EX_HOMOTOPY &&
            n->op != EX_DECLARED)
            return e;
        if (entered(b->dag, e)) return e;
        e = n->op == EX_SMOOTH ? n->b : n->a;
    }
}

static uint32_t add_unit(ex_builder *b, const unit *u)
{
    dag *d = b->dag;
    d->unit = dae_arena_grow(b->scratch, d->unit, d->units, &d->unit_capacity, sizeof *d->unit);
    d->unit[d->units] = *u;
    return (uint32_t)d->units++;
}

/* ---------------------------------------------------------------- collect --------------- */

static const uint8_t code_of[EX_OPS] = {
    [EX_NEGATE] = EX_C_NEGATE,
    [EX_NOT] = EX_C_NOT,
    [EX_ABS] = EX_C_ABS,
    [EX_SIGN] = EX_C_SIGN,
    [EX_SQRT] = EX_C_SQRT,
    [EX_SIN] = EX_C_SIN,
    [EX_COS] = EX_C_COS,
    [EX_TAN] = EX_C_TAN,
    [EX_ASIN] = EX_C_ASIN,
    [EX_ACOS] = EX_C_ACOS,
    [EX_ATAN] = EX_C_ATAN,
    [EX_SINH] = EX_C_SINH,
    [EX_COSH] = EX_C_COSH,
    [EX_TANH] = EX_C_TANH,
    [EX_EXP] = EX_C_EXP,
    [EX_LOG] = EX_C_LOG,
    [EX_LOG10] = EX_C_LOG10,
    [EX_FLOOR] = EX_C_FLOOR,
    [EX_CEIL] = EX_C_CEIL,
    [EX_INTEGER_OF] = EX_C_FLOOR,
    [EX_ADD] = EX_C_ADD,
    [EX_SUBTRACT] = EX_C_SUBTRACT,
    [EX_MULTIPLY] = EX_C_MULTIPLY,
    [EX_DIVIDE] = EX_C_DIVIDE,
    [EX_POWER] = EX_C_POWER,
    [EX_ATAN2] = EX_C_ATAN2,
    [EX_MIN] = EX_C_MIN,
    [EX_MAX] = EX_C_MAX,
    [EX_DIV] = EX_C_DIV,
    [EX_MOD] = EX_C_MOD,
    [EX_REM] = EX_C_REM,
    [EX_LESS] = EX_C_LESS,
    [EX_LESS_EQUAL] = EX_C_LESS_EQUAL,
    [EX_EQUAL] = EX_C_EQUAL,
    [EX_NOT_EQUAL] = EX_C_NOT_EQUAL,
    [EX_AND] = EX_C_AND,
    [EX_OR] = EX_C_OR,
    [EX_IF] = EX_C_SELECT,
    [EX_ELEMENT] = EX_C_ELEMENT,
    [EX_CALL] = EX_C_CALL,
    [EX_RESULT] = EX_C_MOVE,
};

/* A leaf has its register from the start: a local its slot, a number as a constant when used. */
static bool add_leaf(ex_builder *b, entry *e, const ex_node *n)
{
    unit u = { .node = e->node, .kind = LEAF, .reg = EX_NO_REGISTER };
    if (n->op == EX_LOCAL && b->routine && n->a < b->slots) {
        u.reg = n->a;
    } else if (n->op != EX_NUMBER) {
        b->culprit = e->node;
        return false;
    }
    e->unit = add_unit(b, &u);
    return true;
}

/* x^2, x^3, 1/x; otherwise a power with an exponent that moves, or not. */
static void choose_power(const ex_builder *b, const ex_node *n, unit *u)
{
    double exponent;
    if (!ex_is_number(b->g, n->b, &exponent)) return;
    u->code = exponent == 2    ? EX_C_SQUARE
              : exponent == 3  ? EX_C_CUBE
              : exponent == -1 ? EX_C_INVERSE
                               : EX_C_POWER_CONSTANT;
    if (u->code != EX_C_POWER_CONSTANT) u->operands = 1;
}

static void add_computed(ex_builder *b, ex_id node)
{
    dag *d = b->dag;
    const ex_node *n = ex_at(b->g, node);
    unit u = { .node = node,
               .code = code_of[n->op],
               .region = NOT_YET,
               .reg = EX_NO_REGISTER,
               .kind = n->op == EX_CALL     ? CALLED
                       : n->op == EX_RESULT ? PART
                                            : COMPUTED,
               .first = (uint32_t)d->operand.count,
               .operands = (uint32_t)ex_operand_count(b->g, node) };
    if (n->op == EX_POWER) choose_power(b, n, &u);
    unsigned cost = ex_codes[u.code].cost;
    u.whole = ex_may_overflow(b->g, node);
    u.fails = n->op == EX_CALL || n->op == EX_ELEMENT || u.whole;
    for (size_t k = 0; k < u.operands; k++) {
        uint32_t operand = unit_of(d, bare(b, ex_operand(b->g, node, k)));
        ex_push(b, &d->operand, operand);
        cost += d->unit[operand].cost;
        u.fails |= d->unit[operand].fails;
    }
    u.cost = (uint16_t)(cost < COST_LIMIT ? cost : COST_LIMIT);
    seek(d, node)->unit = add_unit(b, &u);
}

static void push_operands(ex_builder *b, ex_id node)
{
    dag *d = b->dag;
    for (size_t k = ex_operand_count(b->g, node); k-- > 0;) {
        ex_id operand = bare(b, ex_operand(b->g, node, k));
        if (!entered(d, operand) || unit_of(d, operand) == NOT_YET) ex_push(b, &d->stack, operand);
    }
}

/* A node is entered, its operands come above it on the stack; when it is on top again they are
 * units and it becomes one. */
static bool collect(ex_builder *b, ex_id root)
{
    dag *d = b->dag;
    ex_push(b, &d->stack, bare(b, root));
    while (d->stack.count) {
        ex_id node = d->stack.item[d->stack.count - 1];
        const ex_node *n = ex_at(b->g, node);
        bool again = entered(d, node);
        entry *e = enter(b, d, node);
        if (e->unit != NOT_YET) {
            d->stack.count--;
        } else if (again) {
            add_computed(b, node);
        } else if (n->op == EX_NUMBER || n->op == EX_LOCAL) {
            if (!add_leaf(b, e, n)) return false;
        } else if (!code_of[n->op]) {
            b->culprit = node;
            return false;
        } else {
            push_operands(b, node);
        }
    }
    return true;
}

/* ---------------------------------------------------------------- fuse ------------------ */

static void count_uses(const dag *d)
{
    for (size_t i = 0; i < d->units; i++)
        for (uint32_t k = 0; k < d->unit[i].operands; k++)
            d->unit[operands_of(d, &d->unit[i])[k]].uses++;
}

/* x + a b, where nobody else wants a b: one operation with three operands. */
static void fuse_product(ex_builder *b, unit *sum)
{
    dag *d = b->dag;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t which = operands_of(d, sum)[k], other = operands_of(d, sum)[1 - k];
        unit *product = &d->unit[which];
        if (product->code != EX_C_MULTIPLY || product->kind != COMPUTED || product->uses != 1 ||
            product->whole)
            continue;
        uint32_t a = operands_of(d, product)[0], c = operands_of(d, product)[1];
        product->kind = GONE;
        product->operands = 0;
        sum->code = sum->code == EX_C_ADD ? EX_C_PRODUCT_PLUS
                    : k == 0              ? EX_C_PRODUCT_MINUS
                                          : EX_C_MINUS_PRODUCT;
        sum->first = (uint32_t)d->operand.count;
        sum->operands = 3;
        ex_push(b, &d->operand, a);
        ex_push(b, &d->operand, c);
        ex_push(b, &d->operand, other);
        return;
    }
}

/* The later one of a sine and a cosine of one argument is a part of the earlier. */
static void fuse_pair(dag *d, uint32_t later)
{
    unit *u = &d->unit[later];
    uint32_t argument = operands_of(d, u)[0], *seen = &d->unit[argument].trig;
    if (!*seen) {
        *seen = later + 1;
        return;
    }
    unit *first = &d->unit[*seen - 1];
    if ((first->code != EX_C_SIN && first->code != EX_C_COS) || first->code == u->code) return;
    first->code = EX_C_SINCOS;
    first->twin = later + 1;
    u->kind = PART;
    operands_of(d, u)[0] = *seen - 1;
    d->unit[argument].uses--;
}

static void fuse(ex_builder *b)
{
    dag *d = b->dag;
    for (uint32_t i = 0; i < d->units; i++) {
        unit *u = &d->unit[i];
        if (u->kind != COMPUTED) continue;
        if (u->code == EX_C_ADD || u->code == EX_C_SUBTRACT)
            fuse_product(b, u);
        else if (u->code == EX_C_SIN || u->code == EX_C_COS)
            fuse_pair(d, i);
    }
}

/* ---------------------------------------------------------------- the passes ------------ */

struct ex_dag *ex_dag_make(dae_arena *scratch)
{
    return dae_arena_take(scratch, 1, sizeof(dag));
}

void ex_dag_open(ex_builder *b, const ex_id *input, size_t inputs)
{
    dag *d = b->dag;
    d->stamp++;
    d->units = d->entries = d->operand.count = d->stack.count = 0;
    b->free.count = 0;
    b->top = b->slots;
    for (size_t i = 0; i < inputs; i++) {
        unit u = { .node = input[i], .kind = LEAF, .reg = (uint32_t)i };
        enter(b, d, input[i])->unit = add_unit(b, &u);
    }
}

bool ex_dag_compile(ex_builder *b, const ex_id *root, size_t roots, uint32_t target, uint32_t *reg)
{
    dag *d = b->dag;
    for (size_t k = 0; k < roots; k++)
        if (!collect(b, root[k])) return false;
    count_uses(d);
    for (size_t k = 0; k < roots; k++) {
        unit *u = &d->unit[unit_of(d, bare(b, root[k]))];
        u->uses++; /* held to the end */
        u->region = 0;
    }
    fuse(b);
    ex_dag_settle(b);
    ex_dag_order(b);
    uint32_t only = NOT_YET;
    if (target != EX_NO_REGISTER) {
        uint32_t i = unit_of(d, bare(b, root[0]));
        if (d->unit[i].kind == COMPUTED && !d->unit[i].lazy && !d->unit[i].twin) only = i;
    }
    ex_dag_write(b, only, target);
    for (size_t k = 0; k < roots; k++) reg[k] = ex_dag_register(b, unit_of(d, bare(b, root[k])));
    return true;
}

void ex_dag_dependence(ex_builder *b, ex_dependence *out, const ex_id *root, size_t roots)
{
    const dag *d = b->dag;
    dae_arena *arena = b->scratch;
    uint32_t edges = 0;
    out->units = (uint32_t)d->units;
    out->start = dae_arena_take(arena, d->units + 1, sizeof *out->start);
    out->operand = dae_arena_take(arena, d->operand.count, sizeof *out->operand);
    out->output = dae_arena_take(arena, roots, sizeof *out->output);
    for (size_t i = 0; i < d->units; i++) {
        const unit *u = &d->unit[i];
        for (uint32_t k = 0; k < u->operands; k++)
            if (u->kind != COMPUTED || ex_codes[u->code].moves >> k & 1)
                out->operand[edges++] = operands_of(d, u)[k];
        out->start[i + 1] = edges;
    }
    for (size_t k = 0; k < roots; k++) out->output[k] = unit_of(d, bare(b, root[k]));
}
