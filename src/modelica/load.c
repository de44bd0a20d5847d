/* load.c: where classes come from: the text given, files named like the class in the folders of
 * the libraries, and packages that are folders with a package.mo. A class is read when its name
 * is looked up, so that a large library costs what is used of it.
 */
#include "modelica/instance.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* The folder of a package, kept in mo_class.link. */
typedef struct folder {
    const char *path;
} folder;

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* Only plain identifiers become file names. */
static bool is_plain(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return false;
    return name[0] != 0 && strlen(name) < 200;
}

/* ------------------------------------------------------------------ known children --- */

/* What is known of (package, name): the class that was read for it, or that there is none. A
 * hash table, so that neither many classes nor many unknown names cost time or files looked for. */
typedef struct mo_children {
    struct child {
        const mo_class *package;
        const char *name; /* NULL: free */
        mo_class *class_;
    } * child;
    size_t count, capacity; /* a power of two */
} mo_children;

static struct child *child_at(const mo_children *t, const mo_class *package, const char *name)
{
    uint64_t bits = ((uint64_t)(uintptr_t)package >> 4) * 0x9E3779B97F4A7C15u ^
                    ((uint64_t)(uintptr_t)name >> 3) * 0xC2B2AE3D27D4EB4Fu;
    size_t i = (size_t)(bits >> 24) & (t->capacity - 1);
    while (t->child[i].name && (t->child[i].name != name || t->child[i].package != package))
        i = (i + 1) & (t->capacity - 1);
    return &t->child[i];
}

static struct child *known_child(mo_model *m, const mo_class *package, const char *name)
{
    dae_arena *arena = &m->context->arena;
    if (!m->children) m->children = dae_arena_take(arena, 1, sizeof *m->children);
    mo_children *t = m->children;
    if (2 * t->count >= t->capacity) {
        mo_children larger = { .count = t->count, .capacity = t->capacity ? 2 * t->capacity : 256 };
        larger.child = dae_arena_take(arena, larger.capacity, sizeof *larger.child);
        for (size_t i = 0; i < t->capacity; i++)
            if (t->child[i].name)
                *child_at(&larger, t->child[i].package, t->child[i].name) = t->child[i];
        *t = larger;
    }
    return child_at(t, package, name);
}

static void know_child(mo_model *m, const mo_class *package, const char *name, mo_class *class_)
{
    struct child *c = known_child(m, package, name);
    m->children->count += !c->name;
    *c = (struct child){ package, name, class_ };
}

/* A new folder may have what was not found before. */
static void forget_misses(mo_model *m)
{
    mo_children *old = m->children;
    m->children = NULL;
    for (size_t i = 0; old && i < old->capacity; i++)
        if (old->child[i].name && old->child[i].class_)
            know_child(m, old->child[i].package, old->child[i].name, old->child[i].class_);
}

static void adopt(mo_model *m, mo_class *parent, mo_class *child)
{
    child->parent = parent;
    mo_element *e = dae_arena_take(&m->context->arena, 1, sizeof *e);
    *e = (mo_element){ .kind = MO_NESTED, .nested = child, .place = child->place };
    int n = parent->elements;
    if (n >= parent->room) { /* for twice as many */
        parent->room = 2 * n + 8;
        mo_element **more = dae_arena_take(&m->context->arena, (size_t)parent->room, sizeof *more);
        if (n) memcpy(more, parent->element, (size_t)n * sizeof *more);
        parent->element = more;
    }
    parent->element[parent->elements++] = e;
    know_child(m, parent, child->name, child);
}

/* The class of one file, NULL if it cannot be read. A package.mo gets its folder. */
static mo_class *read_class(mo_model *m, const char *path, const char *directory)
{
    uint32_t source = mo_read_file(m->context, path);
    if (!source) return NULL;
    mo_file *file = mo_parse(m->context, source);
    if (!file->classes) return NULL;
    mo_class *c = file->class_[0];
    if (directory) {
        folder *f = dae_arena_take(&m->context->arena, 1, sizeof *f);
        f->path = directory;
        c->link = f;
    }
    return c;
}

static mo_class *in_folder(mo_model *m, const char *path, const char *name)
{
    dae_arena *arena = &m->context->arena;
    const char *single = dae_arena_print(arena, "%s/%s.mo", path, name);
    if (is_file(single)) return read_class(m, single, NULL);
    const char *directory = dae_arena_print(arena, "%s/%s", path, name);
    const char *package = dae_arena_print(arena, "%s/package.mo", directory);
    return is_file(package) ? read_class(m, package, directory) : NULL;
}

/* "Modelica 4.0.0" beside "Modelica" */
static mo_class *with_version(mo_model *m, const char *path, const char *name)
{
    static const char *const versions[] = { "4.1.0", "4.0.0", "3.2.3", "3.2.2", "3.2.1", "3.2" };
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const char *directory =
            dae_arena_print(&m->context->arena, "%s/%s %s", path, name, versions[i]);
        const char *package = dae_arena_print(&m->context->arena, "%s/package.mo", directory);
        if (is_file(package)) return read_class(m, package, directory);
    }
    return NULL;
}

static const char *path_of(mo_model *m, const mo_class *c)
{
    if (!c || c == m->root_class) return "";
    const char *outer = path_of(m, c->parent);
    return outer[0] ? dae_arena_print(&m->context->arena, "%s.%s", outer, c->name) : c->name;
}

static mo_class *older_class(mo_model *m, mo_class *package, const char *name)
{
    const mo_class *top = package;
    int depth = 0;
    for (; top->parent && top->parent != m->root_class; depth++) top = top->parent;
    if (depth > 4 || !top->name || strcmp(top->name, "Modelica") != 0) return NULL;
    const char *text = mo_older_class(path_of(m, package), name);
    uint32_t source = text ? mo_add_source(m->context, "<older names>", text, strlen(text)) : 0;
    return source ? mo_parse(m->context, source)->class_[0] : NULL;
}

static mo_class *load_child(mo_model *m, mo_class *package, const char *name)
{
    mo_class *c = NULL;
    if (!is_plain(name)) return NULL;
    if (package == m->root_class) {
        for (size_t i = 0; i < m->libraries && !c; i++) {
            c = in_folder(m, m->library[i], name);
            if (!c) c = with_version(m, m->library[i], name);
        }
    } else if (package->link)
        c = in_folder(m, ((folder *)package->link)->path, name);
    if (!c) c = older_class(m, package, name);
    return c && c->name == name ? c : NULL;
}

/* A class of the package that is not written in it: in a file of its own, added by 'within'. */
mo_class *mo_load_child(mo_model *m, mo_class *package, const char *name)
{
    const struct child *known = known_child(m, package, name);
    if (known->name) return known->class_;
    mo_class *c = load_child(m, package, name);
    if (c)
        adopt(m, package, c);
    else
        know_child(m, package, name, NULL);
    return c;
}

/* The same, or one that is written in it. */
static mo_class *any_child(mo_model *m, mo_class *package, const char *name)
{
    if (package != m->root_class)
        for (int i = package->elements; i-- > 0;)
            if (package->element[i]->kind == MO_NESTED && package->element[i]->nested->name == name)
                return package->element[i]->nested;
    return mo_load_child(m, package, name);
}

void mo_add_library(mo_model *m, const char *path)
{
    if (is_file(path)) {
        mo_load_file(m, path, NULL);
        return;
    }
    m->library = dae_arena_grow(&m->context->arena, m->library, m->libraries, &m->library_capacity,
                                sizeof *m->library);
    m->library[m->libraries++] = dae_arena_copy(&m->context->arena, path, strlen(path));
    forget_misses(m);
}

static void replace_or_adopt(mo_model *m, mo_class *parent, mo_class *c)
{
    const struct child *known = known_child(m, parent, c->name);
    bool there = known->name && known->class_;
    for (int i = 0; !there && parent != m->root_class && i < parent->elements; i++)
        there =
            parent->element[i]->kind == MO_NESTED && parent->element[i]->nested->name == c->name;
    if (there) {
        mo_error(m->context, DAE_E_MODEL, c->place, "the class '%s' is written twice", c->name);
        mo_hint(m->context, "rename or remove one of the two");
        return;
    }
    adopt(m, parent, c);
}

/* The package named by `within`; the root for none. */
static mo_class *package_at(mo_model *m, const mo_reference *within)
{
    mo_class *c = m->root_class;
    for (int i = 0; within && i < within->parts; i++) {
        mo_class *child = any_child(m, c, within->part[i].name);
        if (!child) { /* a package nobody has: an empty one */
            child = dae_arena_take(&m->context->arena, 1, sizeof *child);
            *child = (mo_class){ .kind = MO_PACKAGE,
                                 .name = within->part[i].name,
                                 .place = within->part[i].place };
            adopt(m, c, child);
        }
        c = child;
    }
    return c;
}

/* All classes of a file; *last: the last one; returns the first. */
static mo_class *take_file(mo_model *m, mo_file *file, const char *directory, mo_class **last)
{
    mo_class *parent = package_at(m, file->within);
    for (int i = 0; i < file->classes; i++) {
        replace_or_adopt(m, parent, file->class_[i]);
        if (directory && i == 0) {
            folder *f = dae_arena_take(&m->context->arena, 1, sizeof *f);
            f->path = directory;
            file->class_[i]->link = f;
        }
        if (last) *last = file->class_[i];
    }
    return file->classes ? file->class_[0] : NULL;
}

/* The folder of a file; `up` folders above it. */
static const char *folder_of(mo_model *m, const char *path, int up)
{
    char *copy = dae_arena_copy(&m->context->arena, path, strlen(path));
    for (int i = 0; i <= up; i++) {
        char *slash = strrchr(copy, '/');
        if (!slash) return up == i ? (i == 0 && !strchr(path, '/') ? "." : ".") : "..";
        *slash = 0;
    }
    return copy[0] ? copy : "/";
}

mo_class *mo_load_file(mo_model *m, const char *path, mo_class **last)
{
    uint32_t source = mo_read_file(m->context, path);
    if (!source) return NULL;
    mo_file *file = mo_parse(m->context, source);
    const char *slash = strrchr(path, '/');
    bool package = strcmp(slash ? slash + 1 : path, "package.mo") == 0;
    int up = (file->within ? file->within->parts : 0) + (package ? 1 : 0);
    const char *library = folder_of(m, path, up);
    m->library = dae_arena_grow(&m->context->arena, m->library, m->libraries, &m->library_capacity,
                                sizeof *m->library);
    m->library[m->libraries++] = library;
    forget_misses(m);
    return take_file(m, file, package ? folder_of(m, path, 0) : NULL, last);
}

mo_class *mo_load_text(mo_model *m, const char *name, const char *text, size_t length)
{
    uint32_t source = mo_add_source(m->context, name, text, length);
    mo_class *last = NULL;
    if (source) take_file(m, mo_parse(m->context, source), NULL, &last);
    return last;
}

void mo_load_root(mo_model *m)
{
    static const char *const names[] = { [MO_REAL] = "Real",
                                         [MO_INTEGER] = "Integer",
                                         [MO_BOOLEAN] = "Boolean",
                                         [MO_STRING] = "String",
                                         [MO_ENUMERATION] = "enumeration",
                                         [MO_CLOCK] = "Clock",
                                         [MO_EXTERNAL_OBJECT] = "ExternalObject" };
    dae_arena *arena = &m->context->arena;
    m->root_class = dae_arena_take(arena, 1, sizeof *m->root_class);
    *m->root_class = (mo_class){ .kind = MO_PACKAGE, .name = "" };
    m->root = mo_new_view(m, m->root_class, NULL, NULL);
    m->root->path = "";
    for (int i = MO_REAL; i <= MO_EXTERNAL_OBJECT; i++) {
        mo_class *def = dae_arena_take(arena, 1, sizeof *def);
        *def = (mo_class){ .kind = MO_TYPE, .name = mo_name(m->context, names[i]) };
        m->builtin[i] = mo_new_view(m, def, m->root, NULL);
        m->builtin[i]->primitive = (mo_primitive)i;
        m->builtin[i]->progress = MO_DONE;
        m->builtin[i]->path = def->name;
    }
    static const char language[] =
        "type StateSelect = enumeration(never, avoid, default, prefer, always);\n"
        "type AssertionLevel = enumeration(warning, error);\n";
    mo_load_text(m, "<language>", language, sizeof language - 1);
    m->predefined = m->root_class->elements;
}
