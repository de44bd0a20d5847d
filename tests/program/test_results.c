/* test_results.c: Modelica's result file, read back by a reader of its own that knows only the
 * description of the format, not the writer; and curves thinned for a page. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "output/csv.h"
#include "output/curves.h"
#include "output/json.h"
#include "output/mat.h"

/* ---- a reader of level-4 MAT-files ---- */

typedef struct matrix {
    char name[32];
    int type, rows, columns;
    unsigned char *bytes; /* column by column */
} matrix;

enum { MOST_MATRICES = 8 };

typedef struct result {
    unsigned char *file;
    size_t length;
    matrix m[MOST_MATRICES];
    int matrices;
} result;

static uint32_t integer_at(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double double_at(const unsigned char *p)
{
    uint64_t bits = integer_at(p) | (uint64_t)integer_at(p + 4) << 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int element_size(int type)
{
    switch (type / 10 % 10) {
    case 0: return 8;
    case 1:
    case 2: return 4;
    case 3:
    case 4: return 2;
    default: return 1;
    }
}

/* The whole file must be matrices, to its last byte. */
static void read_result(const char *path, result *r)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    r->length = (size_t)ftell(f);
    rewind(f);
    r->file = malloc(r->length + 1);
    assert_int_equal(fread(r->file, 1, r->length, f), r->length);
    fclose(f);
    r->matrices = 0;
    for (size_t at = 0; at < r->length && r->matrices < MOST_MATRICES;) {
        matrix *m = &r->m[r->matrices++];
        assert_true(at + 20 <= r->length);
        m->type = (int)integer_at(r->file + at);
        m->rows = (int)integer_at(r->file + at + 4);
        m->columns = (int)integer_at(r->file + at + 8);
        assert_int_equal(integer_at(r->file + at + 12), 0);
        size_t name = integer_at(r->file + at + 16);
        assert_true(name > 0 && name <= sizeof m->name);
        memcpy(m->name, r->file + at + 20, name);
        assert_int_equal(m->name[name - 1], 0);
        m->bytes = r->file + at + 20 + name;
        at += 20 + name + (size_t)m->rows * (size_t)m->columns * (size_t)element_size(m->type);
        assert_true(at <= r->length);
    }
    static const char *const names[] = { "Aclass",   "name",   "description",
                                         "dataInfo", "data_1", "data_2" };
    assert_int_equal(r->matrices, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(r->m[i].name, names[i]);
    assert_int_equal(r->m[1].columns, r->m[2].columns);
    assert_int_equal(r->m[1].columns, r->m[3].columns);
    assert_int_equal(r->m[3].rows, 4);
}

static void text_of(const matrix *m, int column, char *out)
{
    memcpy(out, m->bytes + (size_t)m->rows * (size_t)column, (size_t)m->rows);
    out[m->rows] = '\0';
}

static int find_variable(const result *r, const char *name)
{
    char text[256];
    for (int i = 0; i < r->m[1].columns; i++) {
        text_of(&r->m[1], i, text);
        if (strcmp(text, name) == 0) return i;
    }
    fail_msg("no variable '%s'", name);
    return -1;
}

static int info(const result *r, int variable, int k)
{
    return (int)integer_at(r->m[3].bytes + 4 * (4 * variable + k));
}

/* A value as a tool would find it; a constant has one for every point. */
static double value(const result *r, const char *name, int point)
{
    int i = find_variable(r, name);
    int block = info(r, i, 0), place = info(r, i, 1);
    const matrix *m = &r->m[block == 1 ? 4 : 5];
    int row = abs(place) - 1, column = block == 1 ? (point > 0) : point;
    assert_true(block >= 0 && block <= 2);
    assert_true(row < m->rows && column < m->columns);
    double v = double_at(m->bytes + 8 * ((size_t)m->rows * (size_t)column + (size_t)row));
    return place < 0 ? -v : v;
}

static int points_of(const result *r)
{
    return r->m[5].columns;
}

static void release(result *r)
{
    free(r->file);
}

/* ---- a model ---- */

static const dae_variable all[] = {
    { "g", "m/s2", "", "gravity", DAE_PARAMETER, 'r', 0, 0, NULL, 0 },
    { "x", "m", "", "", DAE_CONTINUOUS, 'r', 0, 1, NULL, 0 },
    { "minus_x", "", "", "", DAE_CONTINUOUS, 'r', 0, 0, "x", -1 },
    { "also_x", "", "", "the same", DAE_CONTINUOUS, 'r', 0, 0, "x", 1 },
    { "on", "", "", "", DAE_DISCRETE, 'b', 0, 0, NULL, 0 },
    { "off", "", "", "", DAE_DISCRETE, 'b', 0, 0, "on", -1 },
    { "h", "", "", "", DAE_PARAMETER, 'r', 0, 0, "g", -1 },
    { "'a long, \"quoted\" name of many letters with \xc3\xa4'", "", "", "", DAE_CONTINUOUS, 'r', 0,
      0, NULL, 0 },
    { "pi", "", "", "", DAE_CONSTANT, 'r', 0, 0, NULL, 0 },
};
enum { G, X, MINUS_X, ALSO_X, ON, OFF, H, LONG, PI, ALL };

static const double odd[] = { 0.1, -0.0, 5e-324, 1.7976931348623157e308, INFINITY, -INFINITY, NAN };

static void values_at(int k, double x[ALL])
{
    x[G] = 9.81;
    x[X] = 1.0 / (k + 3);
    x[MINUS_X] = -x[X];
    x[ALSO_X] = x[X];
    x[ON] = k % 2;
    x[OFF] = 1 - x[ON];
    x[H] = -9.81;
    x[LONG] = odd[k % COUNT_OF(odd)];
    x[PI] = 3.0625;
}

typedef struct file {
    char path[64];
    dae_sink sink;
    dae_mat mat;
    const dae_variable *chosen[ALL];
} file;

static const char old[] = "what was there before";

static file *open_file(const int *which, int count)
{
    file *f = calloc(1, sizeof *f);
    strcpy(f->path, "result-XXXXXX");
    int fd = mkstemp(f->path);
    assert_true(fd >= 0 && write(fd, old, strlen(old)) == (ssize_t)strlen(old) && close(fd) == 0);
    for (int i = 0; i < count; i++) f->chosen[i] = &all[which ? which[i] : i];
    assert_int_equal(dae_sink_create(&f->sink, f->path, 1), 0);
    dae_mat_open(&f->mat, &f->sink, f->chosen, count);
    assert_int_equal(f->mat.writer.begin(&f->mat.writer, NULL), 0);
    return f;
}

static void close_file(file *f)
{
    assert_int_equal(f->mat.writer.end(&f->mat.writer), 0);
    assert_int_equal(dae_sink_close(&f->sink), 0);
}

static void forget_file(file *f)
{
    unlink(f->path);
    free(f);
}

static char *hidden_by(const char *path)
{
    static char name[64];
    uint64_t h = 1469598103934665603u;
    for (const char *c = path; *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
    snprintf(name, sizeof name, ".daedalus-%016llx", (unsigned long long)h);
    return name;
}

static int is_old(const char *path)
{
    char bytes[sizeof old] = { 0 };
    int fd = open(path, O_RDONLY);
    ssize_t k = read(fd, bytes, sizeof bytes);
    close(fd);
    return k == (ssize_t)strlen(old) && memcmp(bytes, old, (size_t)k) == 0;
}

/* ---- cases ---- */

static void test_values(void **state)
{
    (void)state;
    enum { POINTS = 14 };
    double x[ALL];
    result r;
    file *f = open_file(NULL, ALL);
    for (int k = 0; k < POINTS; k++) {
        values_at(k, x);
        assert_int_equal(f->mat.writer.point(&f->mat.writer, 0.25 * k, x), 0);
    }
    close_file(f);
    read_result(f->path, &r);
    assert_int_equal(r.m[0].type, 51);
    assert_int_equal(r.m[3].type, 20);
    assert_int_equal(r.m[5].type, 0);
    assert_memory_equal(r.m[0].bytes, "A1 bt. ir1 na  Tj  re  ac  nt  so   r   y   ", 44);
    assert_int_equal(points_of(&r), POINTS);
    for (int k = 0; k < POINTS; k++) {
        values_at(k, x);
        assert_true(value(&r, "time", k) == 0.25 * k);
        for (int i = 0; i < ALL; i++) {
            double got = value(&r, all[i].name, k);
            if (i == LONG && isnan(x[i]))
                assert_true(isnan(got));
            else
                assert_memory_equal(&got, &x[i], sizeof got); /* -0.0, too */
        }
    }
    /* the time stands in row 1 of both; x once; parameters only in data_1 */
    assert_true(double_at(r.m[4].bytes) == 0);
    assert_true(double_at(r.m[4].bytes + 8 * r.m[4].rows) == 0.25 * (POINTS - 1));
    assert_int_equal(r.m[4].rows, 1 + 2);
    assert_int_equal(r.m[5].rows, 1 + 4);
    assert_int_equal(info(&r, find_variable(&r, "time"), 0), 0);
    assert_int_equal(info(&r, find_variable(&r, "minus_x"), 1),
                     -info(&r, find_variable(&r, "x"), 1));
    release(&r);
    forget_file(f);
}

static void test_descriptions(void **state)
{
    (void)state;
    char text[256];
    double x[ALL];
    result r;
    file *f = open_file(NULL, ALL);
    values_at(0, x);
    f->mat.writer.point(&f->mat.writer, 0, x);
    close_file(f);
    read_result(f->path, &r);
    text_of(&r.m[2], find_variable(&r, "g"), text);
    assert_string_equal(text, "gravity [m/s2]");
    text_of(&r.m[2], find_variable(&r, "x"), text);
    assert_string_equal(text, "[m]");
    text_of(&r.m[2], find_variable(&r, "also_x"), text);
    assert_string_equal(text, "the same");
    release(&r);
    forget_file(f);
}

/* Only aliases were asked for: one of them is stored, the others point to it. */
static void test_aliases_alone(void **state)
{
    (void)state;
    static const int which[] = { MINUS_X, ALSO_X, H };
    double x[ALL];
    result r;
    file *f = open_file(which, COUNT_OF(which));
    for (int k = 0; k < 3; k++) {
        values_at(k, x);
        double chosen[] = { x[MINUS_X], x[ALSO_X], x[H] };
        f->mat.writer.point(&f->mat.writer, k, chosen);
    }
    close_file(f);
    read_result(f->path, &r);
    assert_int_equal(r.m[5].rows, 1 + 1);
    for (int k = 0; k < 3; k++) {
        values_at(k, x);
        assert_true(value(&r, "minus_x", k) == x[MINUS_X]);
        assert_true(value(&r, "also_x", k) == x[ALSO_X]);
        assert_true(value(&r, "h", k) == -9.81);
    }
    release(&r);
    forget_file(f);
}

/* Nothing computed, nothing replaced. */
static void test_no_points(void **state)
{
    (void)state;
    file *f = open_file(NULL, ALL);
    close_file(f);
    assert_true(is_old(f->path));
    assert_int_equal(access(hidden_by(f->path), F_OK), -1);
    forget_file(f);
}

static void test_no_variables(void **state)
{
    (void)state;
    result r;
    file *f = open_file(NULL, 0);
    f->mat.writer.point(&f->mat.writer, 1.5, NULL);
    close_file(f);
    read_result(f->path, &r);
    assert_true(value(&r, "time", 0) == 1.5);
    release(&r);
    forget_file(f);
}

/* A disk that is full after some points: an error, and the points before it. */
static void test_full(void **state)
{
    (void)state;
    double x[ALL];
    result r;
    int k = 0, error = 0;
    file *f = open_file(NULL, ALL);
    values_at(0, x);
    for (; k < 4; k++) assert_int_equal(f->mat.writer.point(&f->mat.writer, k, x), 0);
    int full = open("/dev/full", O_WRONLY), good = dup(f->sink.fd);
    if (full < 0) {
        close(good);
        close_file(f);
        forget_file(f);
        skip();
    }
    dup2(full, f->sink.fd);
    error = f->mat.writer.point(&f->mat.writer, k, x);
    assert_int_equal(error, ENOSPC);
    dup2(good, f->sink.fd);
    close(good);
    close(full);
    f->mat.writer.end(&f->mat.writer);
    assert_int_equal(dae_sink_close(&f->sink), ENOSPC);
    read_result(f->path, &r);
    assert_int_equal(points_of(&r), 4);
    release(&r);
    forget_file(f);
}

/* ---- what others see ---- */

enum { SHOWN = 40 };

static void pause_for(long milliseconds)
{
    struct timespec t = { .tv_nsec = milliseconds * 1000000 };
    nanosleep(&t, NULL);
}

static void write_points(file *f, int csv)
{
    static dae_csv rows;
    dae_columns columns = { ALL, NULL };
    dae_trajectory *w = &f->mat.writer;
    double x[ALL];
    int error = 0;
    if (csv) {
        dae_csv_open(&rows, &f->sink);
        w = &rows.writer;
        error = w->begin(w, &columns);
    }
    for (int k = 0; k < SHOWN && !error; k++) {
        values_at(k, x);
        error = w->point(w, k, x);
        if (k % 10 == 9) pause_for(3); /* time to show */
    }
    _exit(error || w->end(w) || dae_sink_close(&f->sink));
}

/* A file system that cannot exchange names. */
static int forbid_exchanges(void)
{
    struct sock_filter step[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_renameat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { COUNT_OF(step), step };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* How many points; every line of a CSV must be whole. */
static int points_seen(const char *path, int csv)
{
    result r;
    if (is_old(path)) return 0;
    if (!csv) {
        read_result(path, &r);
        int points = points_of(&r);
        assert_true(double_at(r.m[4].bytes + 8 * r.m[4].rows) == points - 1);
        for (int k = 0; k < points; k++) assert_true(value(&r, "time", k) == k);
        release(&r);
        return points;
    }
    FILE *f = fopen(path, "r");
    char line[64 * ALL];
    int lines = 0;
    assert_non_null(f);
    for (; fgets(line, sizeof line, f); lines++) {
        int commas = 0;
        for (const char *p = line; *p; p++) commas += *p == ',';
        assert_true(commas == ALL && line[strlen(line) - 1] == '\n');
    }
    fclose(f);
    return lines - 1;
}

/* A process can end only between two instructions, and what it did to files it did by calls of the
 * system. So whoever has looked before and after each call has seen all that SIGKILL can leave. */
static void look_at_every_call(int csv, int exchanges)
{
    file *f = open_file(NULL, ALL);
    int status = 0, seen = 0, stops = 0;
    pid_t child = fork();
    if (child == 0) {
        int ready = exchanges || forbid_exchanges();
        if (!ready || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(77);
        raise(SIGSTOP);
        write_points(f, csv);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int now = points_seen(f->path, csv);
        assert_true(now >= seen);
        seen = now;
        stops++;
        ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    }
    dae_sink_abandon(&f->sink); /* ours are descriptors of the same file */
    f->mat.writer.end(&f->mat.writer);
    if (stops == 0) { /* here nobody may look */
        forget_file(f);
        skip();
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(stops > 2 * SHOWN);
    assert_int_equal(points_seen(f->path, csv), SHOWN);
    assert_int_equal(access(hidden_by(f->path), F_OK), -1);
    forget_file(f);
}

static void test_mat_at_every_call(void **state)
{
    (void)state;
    look_at_every_call(0, 1);
}

static void test_csv_at_every_call(void **state)
{
    (void)state;
    look_at_every_call(1, 1);
}

static void test_every_call_without_exchanges(void **state)
{
    (void)state;
    look_at_every_call(0, 0);
    look_at_every_call(1, 0);
}

/* What a run left behind that was killed is no hindrance; a run that goes on is. */
static void test_left_behind(void **state)
{
    (void)state;
    dae_sink s;
    char hidden[64];
    file *f = open_file(NULL, ALL);
    strcpy(hidden, hidden_by(f->path));
    assert_int_equal(access(hidden, F_OK), 0);
    assert_int_equal(dae_sink_create(&s, f->path, 1), EBUSY);
    assert_int_equal(access(hidden, F_OK), 0);
    close_file(f);
    int fd = open(hidden, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && write(fd, "?", 1) == 1 && close(fd) == 0);
    assert_int_equal(dae_sink_create(&s, f->path, 1), 0);
    dae_sink_text(&s, "new\n");
    dae_sink_record(&s);
    assert_int_equal(dae_sink_close(&s), 0);
    assert_false(is_old(f->path));
    assert_int_equal(access(hidden, F_OK), -1);
    assert_int_equal(dae_sink_create(&s, f->path, 0), EEXIST);
    forget_file(f);
}

/* Somebody else's file that takes the name in the middle of a run is not touched. */
static void test_replaced_in_between(void **state)
{
    (void)state;
    double x[ALL];
    file *f = open_file(NULL, ALL);
    values_at(0, x);
    assert_int_equal(f->mat.writer.point(&f->mat.writer, 0, x), 0);
    unlink(f->path);
    int fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && write(fd, old, strlen(old)) == (ssize_t)strlen(old) && close(fd) == 0);
    pause_for(20);
    f->mat.writer.point(&f->mat.writer, 1, x);
    f->mat.writer.end(&f->mat.writer);
    assert_int_equal(dae_sink_close(&f->sink), ENOENT);
    assert_true(is_old(f->path));
    assert_int_equal(access(hidden_by(f->path), F_OK), -1);
    forget_file(f);
}

static void test_size(void **state)
{
    (void)state;
    double x[ALL];
    result r;
    file *f = open_file(NULL, ALL);
    for (int k = 0; k < 100; k++) {
        values_at(k, x);
        f->mat.writer.point(&f->mat.writer, k, x);
    }
    close_file(f);
    read_result(f->path, &r);
    double told = dae_mat_size(f->chosen, ALL, 100);
    assert_true(told > 0.8 * (double)r.length && told < 1.3 * (double)r.length);
    release(&r);
    forget_file(f);
}

/* ---- curves in bounded memory ---- */

enum { CURVES = 3, MOST = 100 };

/* A wave with single spikes, another number of spikes than of groups; a ramp; a constant. */
static void row_at(int k, int rows, double v[CURVES])
{
    v[0] = sin(0.01 * k) + (k == rows / 3 ? 50 : 0) - (k == rows / 2 + 1 ? 70 : 0);
    v[1] = k;
    v[2] = 4;
}

static void fill_curves(dae_curves *c, int rows)
{
    double v[CURVES];
    assert_int_equal(dae_curves_open(c, CURVES, MOST), 0);
    for (int k = 0; k < rows; k++) {
        row_at(k, rows, v);
        assert_int_equal(dae_curves_add(c, 0.5 * k, v), 0);
    }
    dae_curves_finish(c);
}

static void test_curves_few(void **state)
{
    (void)state;
    double v[CURVES];
    dae_curves c;
    for (int rows = 0; rows <= MOST; rows += 25) {
        fill_curves(&c, rows);
        assert_int_equal(c.points, rows);
        for (int i = 0; i < CURVES; i++)
            for (int k = 0; k < rows; k++) {
                row_at(k, rows, v);
                assert_true(dae_curves_times(&c, i)[k] == 0.5 * k);
                assert_true(dae_curves_values(&c, i)[k] == v[i]);
            }
        dae_curves_close(&c);
    }
}

/* Whatever the number of rows: the ends, the extremes, the order of time, points of the run and
 * no others, and nowhere much less dense than elsewhere. */
static void check_thinned(const dae_curves *c, int i, int rows)
{
    const double *t = dae_curves_times(c, i), *y = dae_curves_values(c, i);
    double v[CURVES], low = INFINITY, high = -INFINITY, widest = 0;
    double true_low = INFINITY, true_high = -INFINITY;
    for (int k = 0; k < rows; k++) {
        row_at(k, rows, v);
        true_low = fmin(true_low, v[i]);
        true_high = fmax(true_high, v[i]);
    }
    assert_true(c->points <= MOST + 4 && c->points > MOST / 3);
    for (int k = 0; k < c->points; k++) {
        row_at((int)(2 * t[k]), rows, v);
        assert_true(y[k] == v[i]);
        low = fmin(low, y[k]);
        high = fmax(high, y[k]);
        if (k > 0) {
            assert_true(t[k] >= t[k - 1]);
            widest = fmax(widest, t[k] - t[k - 1]);
        }
    }
    assert_true(t[0] == 0 && t[c->points - 1] == 0.5 * (rows - 1));
    assert_true(low == true_low && high == true_high);
    assert_true(widest <= 0.5 * 2 * (double)c->group);
}

static void test_curves_many(void **state)
{
    (void)state;
    static const int rows[] = {
        101, 102, 103, 104, 105, 150, 199, 200, 201, 202, 399, 1000, 12345
    };
    dae_curves c;
    for (int k = 0; k < COUNT_OF(rows); k++) {
        fill_curves(&c, rows[k]);
        if (c.group > 1)
            for (int i = 0; i < CURVES; i++) check_thinned(&c, i, rows[k]);
        else
            assert_true(rows[k] <= MOST + 1);
        dae_curves_close(&c);
    }
}

/* A value that is no number hides no extreme, and is kept only where there is nothing else. */
static void test_curves_nan(void **state)
{
    (void)state;
    dae_curves c;
    double high = 0;
    int numbers = 0;
    assert_int_equal(dae_curves_open(&c, 1, 40), 0);
    for (int k = 0; k < 1000; k++) {
        double v = k >= 500 ? NAN : k % 2 ? NAN : k == 250 ? 9 : 1;
        assert_int_equal(dae_curves_add(&c, k, &v), 0);
    }
    dae_curves_finish(&c);
    for (int k = 0; k < c.points; k++) {
        double v = dae_curves_values(&c, 0)[k], t = dae_curves_times(&c, 0)[k];
        assert_true(t < 480 ? !isnan(v) : t < 520 || isnan(v));
        numbers += !isnan(v);
        high = isnan(v) ? high : fmax(high, v);
    }
    assert_true(numbers > 5 && high == 9);
    dae_curves_close(&c);
}

/* ---- texts ---- */

/* What came out of the sink, which is a pipe. */
static void pipe_text(dae_sink *s, int reading, char *text, size_t size)
{
    assert_int_equal(dae_sink_close(s), 0);
    ssize_t length = read(reading, text, size - 1);
    assert_true(length > 0 && (size_t)length < size - 1);
    text[length] = 0;
    close(reading);
}

/* Every number of a row reads back as the same bits, the time too. */
static void test_csv_reads_back(void **state)
{
    (void)state;
    static const double x[] = { 1.0 / 3, -2e-308 / 3, 0.1 + 0.2, 1.7976931348623157e308, 5e-324 };
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    const double t = 0.7 - 1e-16;
    static dae_sink sink;
    char text[1000], *end;
    dae_csv csv;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    dae_sink_open(&sink, ends[1], DAE_SINK_FILE);
    dae_csv_open(&csv, &sink);
    const dae_columns columns = { .count = COUNT_OF(x), .names = names };
    assert_int_equal(csv.writer.begin(&csv.writer, &columns), 0);
    assert_int_equal(csv.writer.point(&csv.writer, t, x), 0);
    assert_int_equal(csv.writer.end(&csv.writer), 0);
    pipe_text(&sink, ends[0], text, sizeof text);
    const char *row = strchr(text, '\n') + 1;
    for (int i = -1; i < COUNT_OF(x); i++, row = end + 1) {
        double back = strtod(row, &end);
        assert_true(back == (i < 0 ? t : x[i]));
        assert_int_equal(*end, i < COUNT_OF(x) - 1 ? ',' : '\n');
    }
}

/* RFC 8259, section 7: quotes, backslashes and control characters are escaped, in names as well. */
static void test_json_escapes(void **state)
{
    (void)state;
    static dae_sink sink;
    char text[1000];
    dae_json j;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    dae_sink_open(&sink, ends[1], DAE_SINK_FILE);
    dae_json_open(&j, &sink);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "a \"b\"", "c:\\d \"e\"\n\x01");
    dae_json_number(&j, "third", 1.0 / 3);
    dae_json_number(&j, "none", NAN);
    dae_json_end(&j);
    pipe_text(&sink, ends[0], text, sizeof text);
    assert_non_null(strstr(text, "\"a \\\"b\\\"\": \"c:\\\\d \\\"e\\\"\\n\\u0001\""));
    assert_true(strtod(strstr(text, "third") + 7, NULL) == 1.0 / 3);
    assert_non_null(strstr(text, "\"none\": null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_aliases_alone),
        cmocka_unit_test(test_mat_at_every_call),
        cmocka_unit_test(test_no_points),
        cmocka_unit_test(test_no_variables),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_curves_few),
        cmocka_unit_test(test_curves_many),
        cmocka_unit_test(test_curves_nan),
        cmocka_unit_test(test_csv_at_every_call),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_replaced_in_between),
        cmocka_unit_test(test_every_call_without_exchanges),
        cmocka_unit_test(test_csv_reads_back),
        cmocka_unit_test(test_json_escapes),
    };
    return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
