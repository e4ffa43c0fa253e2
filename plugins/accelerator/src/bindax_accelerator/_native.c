/* Fast paths of bindax: flattening, unflattening, calls of compiled functions, arrays from buffers.
 *
 * Each function does what the Python code does where nothing is unusual. What is (an error, a deep
 * tree, another type) is left to that: flatten returns None, unflatten raises, a call returns
 * NotImplemented. So the Python code is the meaning, and errors have one text.
 *
 * Functions return new references, or "borrowed" is said. Pointers to structures are parts of keys
 * in `nodes`, whose values keep alive what is pointed at.
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#define MAX_DEPTH 300         /* of trees; deeper ones are left to the Python code */
#define MAX_TYPES 4096        /* that are remembered */
#define MAX_WORDS 400000      /* in the keys of remembered structures and dicts */
#define CACHE 64              /* places of the table before the dictionary of types */
#define RECENT 1024           /* places of the table before the dictionary of structures */
#define FEW 16                /* children on the C stack, and levels of compared metadata */

/* ------------------------------------------------------------------------------------- state */

/* The kinds of nodes, by the numbers that core gives them. */
typedef enum { NONE, LIST, TUPLE, NAMEDTUPLE, DICT, FIELDS, CUSTOM, OTHER } Kind;

/* Some objects; one of the following enumerations says what they are for. */
#define MAX_ITEMS 6
typedef struct State State;
typedef struct {
    PyObject_HEAD
    State *state;
    Kind kind;
    Py_ssize_t hits;       /* of signatures */
    Py_ssize_t *positions; /* of the values of a dict in the order of flattening, or NULL */
    PyObject *items[MAX_ITEMS];
} Record;

enum { DEFINITION, FLATTEN, UNFLATTEN, DATA_NAMES, META_NAMES };         /* of a node type */
enum { DATA, ORDER };                                                   /* of dicts */
enum { AVAL, PLACEMENT };                                               /* of a wrapper */
enum { OWN, EXECUTABLE, HANDLERS, SLOW, FAILED };                            /* of a runner */
enum { STATIC_PLACES, STATIC_NAMES, KNOWN };                            /* of signatures */
enum { PYTHON, ON_ERROR };                                              /* of a method */
enum { MODULE = MAX_ITEMS - 1 };                                        /* of these four */

#define LEAF_TYPE ((Record *)1)

/* What core gives, by name. */
#define GIVEN(X) X(PyTreeDef) X(LEAF) X(make) X(describe_type) X(describe) X(describe_dict)      \
    X(version) X(Array) X(trace_state) X(config) X(executable_cache) X(CacheEntry) X(MethodType)

struct State {
#define AS_MEMBER(name) PyObject *name;
    GIVEN(AS_MEMBER)
    /* What is remembered; all of it is forgotten at once. */
    PyObject *types;       /* from types to records, or None for leaves */
    PyObject *definitions; /* from definitions to records */
    PyObject *dicts;       /* from the keys of dicts, as they were inserted, to records */
    PyObject *nodes;       /* from keys made of pointers to structures */
    PyObject *recent[RECENT]; /* structures, by a number made of the same */
    PyObject *known;       /* the version of the node types that this is for */
    PyObject *Record;      /* the last of the objects */
    PyObject *text[12];    /* names of attributes */
    struct { PyTypeObject *type; Record *record; } cache[CACHE]; /* borrowed */
    PyTypeObject *leaf;                                          /* the last one, borrowed */
    Record *dict;                                                /* the last one, borrowed */
    Py_ssize_t words, generation;
    Py_ssize_t definition, data, order, children, flat;  /* places of slots of structures */
    Py_ssize_t aval, host, buffer, placement, used; /* of arrays and of cache entries */
    allocfunc new_array;
};

enum { T_DYNAMIC, T_PROGRAM_KEY, T_TIME, T_RUN, T_CONSTS, T_OUT_TREE, T_UNFLATTEN, T_CONSUME,
       T_START, T_KNOWN, T_CALL, T_COUNT };
static const char *const TEXT[] = { "dynamic", "program_key", "time", "run", "consts", "out_tree",
                                    "unflatten", "consume_with_handlers", "_run", "_known",
                                    "call" };

#define SLOT(object, place) (*(PyObject **)((char *)(object) + (place)))

static State *state_of(PyObject *module) { return PyModule_GetState(module); }

#define call1(function, a) PyObject_CallFunctionObjArgs(function, a, NULL)
#define call2(function, a, b) PyObject_CallFunctionObjArgs(function, a, b, NULL)

static PyObject *give_up(const char *why)
{
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, why); /* which nobody sees */
    return NULL;
}

/* 1 after an error that the Python code is to find again; 0 for one to be raised. */
static int is_given_up(void)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return 0;
    PyErr_Clear();
    return 1;
}

/* An item of a tuple or a list, borrowed. */
static PyObject *item(PyObject *of, Py_ssize_t i)
{
    return PyTuple_CheckExact(of) ? PyTuple_GetItem(of, i) : PyList_GetItem(of, i);
}

static Py_ssize_t length(PyObject *of)
{
    return PyTuple_CheckExact(of) ? PyTuple_Size(of) : PyList_Size(of);
}

static PyObject *new_ref(PyObject *object)
{
    Py_XINCREF(object);
    return object;
}

static void set(PyObject **place, PyObject *value)
{
    PyObject *old = *place;
    *place = new_ref(value);
    Py_XDECREF(old);
}

static int record_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (int i = 0; i < MAX_ITEMS; i++) Py_VISIT(((Record *)self)->items[i]);
    return 0;
}

static int record_clear(PyObject *self)
{
    for (int i = 0; i < MAX_ITEMS; i++) Py_CLEAR(((Record *)self)->items[i]);
    return 0;
}

static void record_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    record_clear(self);
    PyMem_Free(((Record *)self)->positions);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* A record of the first objects of a tuple. */
static Record *new_record(State *s, Kind kind, PyObject *objects, Py_ssize_t count)
{
    PyTypeObject *type = (PyTypeObject *)s->Record;
    Record *record = (Record *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!record) return NULL;
    record->state = s;
    record->kind = kind;
    for (Py_ssize_t i = 0; i < count; i++)
        record->items[i] = new_ref(PyTuple_GetItem(objects, i));
    return record;
}

/* Forget all structures, dicts and types. */
static void forget(State *s)
{
    s->generation++;
    s->words = 0;
    s->leaf = NULL;
    s->dict = NULL;
    memset(s->cache, 0, sizeof s->cache);
    /* Freeing runs foreign code, which must find tables that are in order. */
    PyObject *tables[] = { s->types, s->definitions, s->dicts, s->nodes };
    s->types = PyDict_New();
    s->definitions = PyDict_New();
    s->dicts = PyDict_New();
    s->nodes = PyDict_New();
    for (int i = 0; i < 4; i++) Py_XDECREF(tables[i]);
    for (int i = 0; i < RECENT; i++) Py_CLEAR(s->recent[i]);
}

/* Forget what holds for another set of node types. */
static int refresh(State *s)
{
    PyObject *version = PyList_GetItem(s->version, 0);
    if (!version) return -1;
    if (version != s->known) {
        set(&s->known, version);
        forget(s);
    }
    return s->types && s->definitions && s->dicts && s->nodes ? 0 : (PyErr_NoMemory(), -1);
}

/* -------------------------------------------------------------------------------- node types */

/* The record of a definition; borrowed from `definitions`. */
static Record *describe(State *s, PyObject *definition)
{
    PyObject *record = PyDict_GetItemWithError(s->definitions, definition);
    if (record || PyErr_Occurred()) return (Record *)record;
    /* The kind, the definition, its functions, and the names of fields. */
    PyObject *parts = call1(s->describe, definition);
    PyObject *objects = parts ? PyTuple_GetSlice(parts, 1, 6) : NULL;
    Kind kind = objects ? (Kind)PyLong_AsLong(PyTuple_GetItem(parts, 0)) : NONE;
    if (objects) record = (PyObject *)new_record(s, kind, objects, PyTuple_Size(objects));
    if (record && PyDict_SetItem(s->definitions, definition, record) < 0) Py_CLEAR(record);
    Py_XDECREF(record); /* the dictionary has it */
    Py_XDECREF(objects);
    Py_XDECREF(parts);
    return (Record *)record;
}

/* The record of a type, borrowed; LEAF_TYPE for a leaf, NULL for an error. */
static Record *record_of(State *s, PyTypeObject *type)
{
    size_t place = ((uintptr_t)type >> 4) % CACHE;
    if (s->cache[place].type == type) return s->cache[place].record;
    PyObject *found = PyDict_GetItemWithError(s->types, (PyObject *)type);
    Record *record;
    if (found) record = found == Py_None ? LEAF_TYPE : (Record *)found;
    else {
        if (PyDict_Size(s->types) >= MAX_TYPES) forget(s);
        PyObject *definition = PyErr_Occurred() ? NULL : call1(s->describe_type, (PyObject *)type);
        if (!definition) return NULL;
        record = definition == Py_None ? LEAF_TYPE : describe(s, definition);
        PyObject *value = record == LEAF_TYPE ? Py_None : (PyObject *)record;
        if (value && PyDict_SetItem(s->types, (PyObject *)type, value) < 0) record = NULL;
        Py_DECREF(definition);
        if (!record) return NULL;
    }
    s->cache[place].type = type;
    s->cache[place].record = record;
    return record;
}

/* ---------------------------------------------------------------------------------- metadata */

/* Tell whether metadata is made of values that are equal only if they are interchangeable. */
static int is_exact(PyObject *data, int depth)
{
    if (data == Py_None || PyUnicode_CheckExact(data) || PyLong_CheckExact(data) ||
        PyBool_Check(data) || PyBytes_CheckExact(data))
        return 1;
    if (!PyTuple_CheckExact(data) || depth >= FEW) return 0;
    Py_ssize_t n = PyTuple_Size(data);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!is_exact(PyTuple_GetItem(data, i), depth + 1)) return 0;
    return 1;
}

/* Tell whether two exact values are interchangeable. */
static int are_same(PyObject *a, PyObject *b)
{
    if (a == b) return 1;
    if (Py_TYPE(a) != Py_TYPE(b)) return 0;
    if (Py_TYPE(a) != &PyTuple_Type) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    Py_ssize_t n = PyTuple_Size(a);
    int same = n == PyTuple_Size(b);
    for (Py_ssize_t i = 0; i < n && same; i++)
        same = are_same(PyTuple_GetItem(a, i), PyTuple_GetItem(b, i));
    return same;
}

/* -------------------------------------------------------------------------------- flattening */

/* One walk through a tree. */
typedef struct {
    State *state;
    PyObject *leaves;
    Py_ssize_t generation;
    int depth;
    int shared; /* whether trees that are alike give the structure of this one */
} Walk;

static PyObject *walk_node(Walk *w, Record *record, PyObject *node);

/* What a structure is made of. */
typedef struct {
    Record *record, *dict; /* the latter says keys and order, and is NULL of other nodes */
    PyObject *data;
    PyObject **below; /* the structures of the children, after a free place */
    Py_ssize_t count, leaves;
    int flat; /* whether all children are leaves */
} Parts;

static PyObject *make_structure(State *s, const Parts *p)
{
    PyObject *children = PyTuple_New(p->count), *leaves = PyLong_FromSsize_t(p->leaves);
    PyObject *order = p->dict ? p->dict->items[ORDER] : Py_None, *made = NULL;
    for (Py_ssize_t i = 0; children && i < p->count; i++)
        PyTuple_SetItem(children, i, new_ref(p->below[i + 1]));
    if (children && leaves)
        made = PyObject_CallFunctionObjArgs(s->make, p->record->items[DEFINITION], p->data, order,
                                            children, leaves, p->flat ? Py_True : Py_False, NULL);
    Py_XDECREF(children);
    Py_XDECREF(leaves);
    return made;
}

/* Tell whether a structure is made of these parts. */
static int is_made_of(State *s, PyObject *structure, const Parts *p)
{
    PyObject *children = SLOT(structure, s->children);
    int flat = SLOT(structure, s->flat) == Py_True;
    int same = SLOT(structure, s->definition) == p->record->items[DEFINITION] &&
               (!p->dict || SLOT(structure, s->order) == p->dict->items[ORDER]) &&
               flat == p->flat && PyTuple_Size(children) == p->count;
    for (Py_ssize_t i = 0; same && !flat && i < p->count; i++)
        same = PyTuple_GetItem(children, i) == p->below[i + 1];
    return same && are_same(SLOT(structure, s->data), p->data);
}

/* The structure that nodes share which are alike: of one type, with the same metadata. */
static PyObject *shared_structure(Walk *w, const Parts *p)
{
    State *s = w->state;
    PyObject *few[2], **words = p->flat ? few : p->below, *key, *found, **recent;
    Py_ssize_t size = p->flat ? 2 : p->count + 1;
    size_t place = 0;
    words[0] = p->dict ? (PyObject *)p->dict : (PyObject *)p->record;
    if (p->flat) words[1] = (PyObject *)(uintptr_t)(2 * (size_t)p->count + 1); /* no pointer */
    for (Py_ssize_t i = 0; i < size; i++) place = 31 * place + ((uintptr_t)words[i] >> 4);
    recent = s->recent + (place ^ place >> 10) % RECENT;
    if (*recent && is_made_of(s, *recent, p)) return new_ref(*recent);
    if (!p->dict && p->data != Py_None) {
        Py_hash_t hash = PyObject_Hash(p->data);
        if (hash == -1) return NULL;
        words[0] = (PyObject *)((uintptr_t)p->record ^ ((uintptr_t)hash << 1));
    }
    if (!(key = PyBytes_FromStringAndSize((char *)words, size * (Py_ssize_t)sizeof *words)))
        return NULL;
    found = PyDict_GetItemWithError(s->nodes, key);
    if (found && is_made_of(s, found, p)) set(recent, new_ref(found));
    else if ((found = PyErr_Occurred() ? NULL : make_structure(s, p))) {
        if (s->words + size > MAX_WORDS && size <= MAX_WORDS / 4) forget(s);
        if (size > MAX_WORDS / 4 || w->generation != s->generation)
            w->shared = 0; /* what the key points at need not live on */
        else if (PyDict_SetItem(s->nodes, key, found) < 0) Py_CLEAR(found);
        else s->words += size;
    }
    Py_DECREF(key);
    return found;
}

/* Flatten the children of a node, which are in a tuple that is held. */
static PyObject *walk_children(Walk *w, Record *record, Record *dict, PyObject *data,
                               PyObject *children, int shared)
{
    State *s = w->state;
    Py_ssize_t n = PyTuple_Size(children), before = PyList_Size(w->leaves), done = 0;
    PyObject *few[FEW + 1], **below = few, *made = NULL;
    int flat = 1, outer_shared = w->shared;
    if (n > FEW) below = PyMem_Malloc((size_t)(n + 1) * sizeof *below);
    if (!below) return PyErr_NoMemory();
    for (w->shared = shared; done < n; done++) {
        PyObject *child = PyTuple_GetItem(children, dict && dict->positions ? dict->positions[done]
                                                                            : done);
        PyTypeObject *type = Py_TYPE(child);
        Record *found = type == s->leaf ? LEAF_TYPE : record_of(s, type);
        if (!found) goto end;
        if (found == LEAF_TYPE) {
            s->leaf = type;
            if (PyList_Append(w->leaves, child) < 0) goto end;
            below[done + 1] = new_ref(s->LEAF);
        } else {
            flat = 0;
            if (!(below[done + 1] = walk_node(w, found, child))) goto end;
        }
    }
    if (dict) data = dict->items[DATA];
    Parts parts = { record, dict, data, below, n, PyList_Size(w->leaves) - before, flat };
    w->shared = w->shared && w->generation == s->generation;
    made = w->shared ? shared_structure(w, &parts) : make_structure(s, &parts);
end:
    for (Py_ssize_t i = 0; i < done; i++) Py_DECREF(below[i + 1]);
    if (below != few) PyMem_Free(below);
    w->shared = w->shared && outer_shared;
    return made;
}

/* What dicts share whose keys are these, inserted in this order. */
static Record *new_dict(State *s, PyObject *inserted)
{
    /* The keys in order, None or the keys as inserted, None or the places of the former. */
    PyObject *parts = call1(s->describe_dict, inserted);
    Record *record = parts ? new_record(s, DICT, parts, 2) : NULL;
    PyObject *places = record ? PyTuple_GetItem(parts, 2) : NULL;
    Py_ssize_t n = PyTuple_Size(inserted);
    if (places && places != Py_None) {
        record->positions = PyMem_Malloc((size_t)(n + 1) * sizeof(Py_ssize_t));
        for (Py_ssize_t i = 0; record->positions && i < n; i++)
            record->positions[i] = PyLong_AsSsize_t(PyTuple_GetItem(places, i));
        if (!record->positions) PyErr_NoMemory();
    }
    if (record && (PyErr_Occurred() || PyDict_SetItem(s->dicts, inserted, (PyObject *)record) < 0))
        Py_CLEAR(record);
    s->words += 2 * n + 1;
    Py_XDECREF(parts);
    return record;
}

static PyObject *walk_dict(Walk *w, Record *record, PyObject *node)
{
    State *s = w->state;
    Py_ssize_t n = PyDict_Size(node), i = 0, position = 0;
    PyObject *keys = PyTuple_New(n), *values = PyTuple_New(n), *key, *value, *made = NULL, *dict;
    PyObject *last = s->dict ? s->dict->items[ORDER] : NULL; /* None where it is that of DATA */
    if (last == Py_None) last = s->dict->items[DATA];
    int exact = keys && values; /* values that are equal and of one of these types are alike */
    int same = last && PyTuple_Size(last) == n; /* keys as those of the last one */
    while (exact && i < n && PyDict_Next(node, &position, &key, &value)) {
        exact = Py_TYPE(key) == &PyUnicode_Type || Py_TYPE(key) == &PyLong_Type;
        same = same && key == PyTuple_GetItem(last, i);
        PyTuple_SetItem(keys, i, new_ref(key));
        PyTuple_SetItem(values, i++, new_ref(value));
    }
    int known = exact && i == n && n < MAX_WORDS / 4 && w->generation == s->generation;
    if (known && same) dict = new_ref((PyObject *)s->dict);
    else dict = known ? new_ref(PyDict_GetItemWithError(s->dicts, keys)) : give_up("other keys");
    if (known && !dict && !PyErr_Occurred()) dict = (PyObject *)new_dict(s, keys);
    if (dict) s->dict = (Record *)dict;
    if (dict) made = walk_children(w, record, (Record *)dict, NULL, values, 1);
    Py_XDECREF(dict);
    Py_XDECREF(keys);
    Py_XDECREF(values);
    return made;
}

/* The values of attributes, in a tuple. */
static PyObject *attributes(PyObject *node, PyObject *names)
{
    Py_ssize_t n = PyTuple_Size(names);
    PyObject *values = PyTuple_New(n);
    for (Py_ssize_t i = 0; values && i < n; i++) {
        PyObject *value = PyObject_GetAttr(node, PyTuple_GetItem(names, i));
        if (!value) Py_CLEAR(values);
        else PyTuple_SetItem(values, i, value);
    }
    return values;
}

static PyObject *walk_custom(Walk *w, Record *record, PyObject *node)
{
    PyObject *children = NULL, *data = NULL, *made = NULL, *pair = NULL;
    if (record->kind == FIELDS) {
        children = attributes(node, record->items[DATA_NAMES]);
        data = children ? attributes(node, record->items[META_NAMES]) : NULL;
    } else if ((pair = call1(record->items[FLATTEN], node))) {
        children = PyTuple_CheckExact(pair) && PyTuple_Size(pair) == 2 ? item(pair, 0) : Py_None;
        data = children == Py_None ? NULL : new_ref(item(pair, 1));
        if (PyTuple_CheckExact(children) || PyList_CheckExact(children))
            children = PySequence_Tuple(children);
        else children = give_up("a result for the Python code");
        Py_DECREF(pair);
    }
    if (children && data) /* what is remembered must not keep foreign objects alive */
        made = walk_children(w, record, NULL, data, children, is_exact(data, 0));
    Py_XDECREF(children);
    Py_XDECREF(data);
    return made;
}

static PyObject *walk_node(Walk *w, Record *record, PyObject *node)
{
    PyObject *made = NULL, *children;
    if (w->depth >= MAX_DEPTH || Py_EnterRecursiveCall(" while flattening a pytree"))
        return give_up("a deep tree");
    w->depth++;
    new_ref((PyObject *)record); /* types may be forgotten meanwhile */
    new_ref(node);
    switch (record->kind) {
    case NONE:
    case LIST:
    case TUPLE:
    case NAMEDTUPLE:
        if (record->kind == NONE) children = PyTuple_New(0);
        else children = record->kind == TUPLE ? new_ref(node) : PySequence_Tuple(node);
        if (children) made = walk_children(w, record, NULL, Py_None, children, 1);
        Py_XDECREF(children);
        break;
    default:
        made = record->kind == DICT ? walk_dict(w, record, node) : walk_custom(w, record, node);
    }
    Py_DECREF(node);
    Py_DECREF((PyObject *)record);
    w->depth--;
    Py_LeaveRecursiveCall();
    return made;
}

static PyObject *flatten(PyObject *module, PyObject *tree)
{
    State *s = state_of(module);
    PyObject *structure = NULL;
    Record *record = refresh(s) < 0 ? NULL : record_of(s, Py_TYPE(tree));
    PyObject *leaves = record ? PyList_New(0) : NULL;
    Walk w = { s, leaves, s->generation, 0, 1 };
    if (leaves && record != LEAF_TYPE) structure = walk_node(&w, record, tree);
    else if (leaves && PyList_Append(leaves, tree) == 0) structure = new_ref(s->LEAF);
    if (structure) return Py_BuildValue("NN", leaves, structure);
    Py_XDECREF(leaves);
    return is_given_up() ? new_ref(Py_None) : NULL;
}

/* ------------------------------------------------------------------------------ unflattening */

static PyObject *build(State *s, PyObject *node, PyObject *leaves, Py_ssize_t *next, int depth);

/* The children of a node as a new tuple, or a list. */
static PyObject *build_children(State *s, PyObject *children, int as_list, PyObject *leaves,
                                Py_ssize_t *next, int depth)
{
    Py_ssize_t n = PyTuple_Size(children);
    PyObject *made = as_list ? PyList_New(n) : PyTuple_New(n);
    for (Py_ssize_t i = 0; made && i < n; i++) {
        PyObject *child = build(s, PyTuple_GetItem(children, i), leaves, next, depth);
        if (!child || (as_list ? PyList_SetItem(made, i, child) : PyTuple_SetItem(made, i, child)))
            Py_CLEAR(made);
    }
    return made;
}

static PyObject *build_dict(State *s, PyObject *node, PyObject *leaves, Py_ssize_t *next, int depth)
{
    PyObject *children = SLOT(node, s->children), *keys = SLOT(node, s->data);
    PyObject *order = SLOT(node, s->order), *made = PyDict_New();
    Py_ssize_t n = PyTuple_Size(children);
    /* What is set first says the order; the values come in that of the leaves. */
    for (Py_ssize_t i = 0; made && order != Py_None && i < n; i++)
        if (PyDict_SetItem(made, PyTuple_GetItem(order, i), Py_None) < 0) Py_CLEAR(made);
    for (Py_ssize_t i = 0; made && i < n; i++) {
        PyObject *child = build(s, PyTuple_GetItem(children, i), leaves, next, depth);
        if (!child || PyDict_SetItem(made, PyTuple_GetItem(keys, i), child) < 0) Py_CLEAR(made);
        Py_XDECREF(child);
    }
    return made;
}

static PyObject *build_node(State *s, PyObject *node, PyObject *leaves, Py_ssize_t *next, int depth)
{
    Record *record = describe(s, SLOT(node, s->definition));
    PyObject *children = SLOT(node, s->children), *given, *made;
    if (!record) return NULL;
    Kind kind = record->kind;
    if (kind == NONE) Py_RETURN_NONE;
    if (kind == LIST || kind == TUPLE)
        return build_children(s, children, kind == LIST, leaves, next, depth);
    if (kind == DICT) return build_dict(s, node, leaves, next, depth);
    PyObject *function = record->items[UNFLATTEN];
    Py_INCREF(function); /* types may be forgotten meanwhile */
    given = build_children(s, children, kind == OTHER, leaves, next, depth);
    if (kind == NAMEDTUPLE) made = given ? PyObject_Call(function, given, NULL) : NULL;
    else made = given ? call2(function, kind == OTHER ? node : SLOT(node, s->data), given) : NULL;
    Py_XDECREF(given);
    Py_DECREF(function);
    return made;
}

static PyObject *build(State *s, PyObject *node, PyObject *leaves, Py_ssize_t *next, int depth)
{
    if (SLOT(node, s->definition) == Py_None)
        return new_ref(PyList_GetItem(leaves, (*next)++)); /* an error if there are fewer now */
    if (depth >= MAX_DEPTH || Py_EnterRecursiveCall(" while building a pytree"))
        return give_up("a deep tree");
    PyObject *made = build_node(s, node, leaves, next, depth + 1);
    Py_LeaveRecursiveCall();
    return made;
}

/* Build the tree of a structure from a list of as many leaves as it has. */
static PyObject *unflatten(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    State *s = state_of(module);
    Py_ssize_t next = 0;
    if (nargs != 2 || Py_TYPE(args[0]) != (PyTypeObject *)s->PyTreeDef || !PyList_Check(args[1]))
        return give_up("unflatten takes a structure and a list of leaves");
    return refresh(s) < 0 ? NULL : build(s, args[0], args[1], &next, 0);
}

/* ------------------------------------------------------------------------ arrays and buffers */

static PyObject *wrap(PyObject *self, PyObject *buffer)
{
    Record *record = (Record *)self;
    State *s = record->state;
    PyObject *array = s->new_array((PyTypeObject *)s->Array, 0);
    if (!array) return NULL;
    set(&SLOT(array, s->aval), record->items[AVAL]);
    set(&SLOT(array, s->host), Py_None);
    set(&SLOT(array, s->buffer), buffer);
    set(&SLOT(array, s->placement), record->items[PLACEMENT]);
    return array;
}

/* The buffers of arrays that are all in a placement; NULL without an error if one is not. */
static PyObject *buffers_in(State *s, PyObject *placement, PyObject *operands)
{
    if (!PyList_CheckExact(operands) && !PyTuple_CheckExact(operands)) return NULL;
    Py_ssize_t n = length(operands);
    PyObject *buffers = PyList_New(n);
    for (Py_ssize_t i = 0; buffers && i < n; i++) {
        PyObject *x = item(operands, i), *buffer = NULL;
        if (Py_TYPE(x) == (PyTypeObject *)s->Array && SLOT(x, s->placement) == placement)
            buffer = SLOT(x, s->buffer);
        if (buffer && buffer != Py_None) PyList_SetItem(buffers, i, new_ref(buffer));
        else Py_CLEAR(buffers);
    }
    return buffers;
}

static void fetch_error(PyObject **type, PyObject **error, PyObject **trace)
{
    PyErr_Fetch(type, error, trace);
    PyErr_NormalizeException(type, error, trace);
    if (*trace) PyException_SetTraceback(*error, *trace);
}

/* Run a program on operands, by the Python code if they are not all where it runs. */
static PyObject *run(PyObject *self, PyObject *operands)
{
    Record *record = (Record *)self;
    State *s = record->state;
    PyObject *buffers = buffers_in(s, record->items[OWN], operands);
    if (!buffers) return PyErr_Occurred() ? NULL : call1(record->items[SLOW], operands);
    PyObject *start = PyObject_GetAttr(record->items[EXECUTABLE], s->text[T_START]), *outs = NULL;
    PyObject *started = start ? call1(start, buffers) : NULL;
    Py_DECREF(buffers);
    Py_XDECREF(start);
    PyObject *handlers = record->items[HANDLERS];
    if (started) outs = PyObject_CallMethodObjArgs(started, s->text[T_CONSUME], handlers, NULL);
    Py_XDECREF(started);
    if (outs || !PyErr_ExceptionMatches(PyExc_Exception)) return outs;
    PyObject *type, *error, *trace;
    fetch_error(&type, &error, &trace); /* the Python code says what it means for the operands */
    outs = call2(record->items[FAILED], error, operands);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return outs;
}

/* A builtin function whose self is a record of the arguments. */
static PyObject *function_of(PyObject *module, PyMethodDef *def, PyObject *args, Py_ssize_t n)
{
    if (PyTuple_Size(args) != n) return give_up("another number of arguments");
    Record *record = new_record(state_of(module), OTHER, args, n);
    if (!record) return NULL;
    record->items[MODULE] = new_ref(module);
    PyObject *function = PyCFunction_NewEx(def, (PyObject *)record, NULL);
    Py_DECREF((PyObject *)record);
    return function;
}

static PyObject *wrapper(PyObject *module, PyObject *args)
{
    static PyMethodDef def = { "wrap", wrap, METH_O, "Make an array of a buffer." };
    return function_of(module, &def, args, 2);
}

static PyObject *runner(PyObject *module, PyObject *args)
{
    static PyMethodDef def = { "run", run, METH_O, "Run a compiled program on operands." };
    return function_of(module, &def, args, 5);
}

/* ------------------------------------------------------------------------ calls of functions */

/* What tells calls apart, and what belongs to calls that are alike: the items of a signature. */
enum { ARGS, KWARGS, STATICS, AVALS, SETTINGS, ENTRY, CONSTS, OUT_TREE, FIELD_COUNT };

/* A call that is being described; what is not there is NULL. */
typedef struct { PyObject *fields[FIELD_COUNT], *leaves; } Call;

static void clear_call(Call *call)
{
    for (int i = 0; i < FIELD_COUNT; i++) Py_XDECREF(call->fields[i]);
    Py_XDECREF(call->leaves);
}

/* Tell whether an argument is at one of some places, which may be counted from the end. */
static int is_among(PyObject *places, Py_ssize_t i, Py_ssize_t n)
{
    Py_ssize_t place = n, j = PyTuple_Size(places);
    while (j-- && place != i && place + n != i)
        place = PyLong_AsSsize_t(PyTuple_GetItem(places, j));
    return place == i || place + n == i;
}

/* Split the static arguments off: 1, or 0 if one is not exact or for an error. */
static int split(Record *m, PyObject **args, PyObject **kwargs, Call *call)
{
    PyObject *places = m->items[STATIC_PLACES], *names = m->items[STATIC_NAMES], *key, *value;
    Py_ssize_t n = PyTuple_Size(*args), count = 0, named = 0, next = 0, left = 0, position = 0;
    for (Py_ssize_t i = 0; i < n; i++) count += is_among(places, i, n);
    while (*kwargs && PyDict_Next(*kwargs, &position, &key, &value))
        named += PySequence_Contains(names, key) == 1;
    PyObject *dynamic = PyTuple_New(n - count), *found = PyTuple_New(1 + count + 2 * named);
    PyObject *others = named ? PyDict_New() : new_ref(*kwargs);
    int good = dynamic && found && (others || !named) &&
               PyTuple_SetItem(found, next++, PyLong_FromSsize_t(n)) == 0;
    for (Py_ssize_t i = 0; i < n && good; i++) {
        value = PyTuple_GetItem(*args, i);
        if (!is_among(places, i, n)) good = PyTuple_SetItem(dynamic, left++, new_ref(value)) == 0;
        else good = is_exact(value, 0) && PyTuple_SetItem(found, next++, new_ref(value)) == 0;
    }
    for (position = 0; named && good && PyDict_Next(*kwargs, &position, &key, &value);)
        if (PySequence_Contains(names, key) != 1) good = PyDict_SetItem(others, key, value) == 0;
        else good = is_exact(value, 0) && PyTuple_SetItem(found, next++, new_ref(key)) == 0 &&
                    PyTuple_SetItem(found, next++, new_ref(value)) == 0;
    *args = dynamic;
    *kwargs = others;
    call->fields[STATICS] = found;
    return good;
}

/* Walk the arguments; the structures are NULL of calls whose arguments are all leaves. */
static int walk_call(State *s, PyObject *args, PyObject *kwargs, Call *call)
{
    Py_ssize_t n = PyTuple_Size(args), i = 0;
    int has_kwargs = kwargs && PyDict_Size(kwargs);
    for (; i < n && !has_kwargs; i++) {
        PyTypeObject *type = Py_TYPE(PyTuple_GetItem(args, i));
        Record *record = type == s->leaf ? LEAF_TYPE : record_of(s, type);
        if (!record) return 0;
        if (record != LEAF_TYPE) break;
        s->leaf = type;
    }
    call->leaves = i == n && !has_kwargs ? new_ref(args) : PyList_New(0);
    if (call->leaves == args) return 1;
    if (!call->leaves) return 0;
    Walk w = { s, call->leaves, s->generation, 0, 1 };
    PyObject *const nodes[] = { args, kwargs };
    for (int j = 0; j < 1 + has_kwargs; j++) {
        Record *record = record_of(s, Py_TYPE(nodes[j]));
        if (!record || !(call->fields[ARGS + j] = walk_node(&w, record, nodes[j]))) return 0;
    }
    return w.shared;
}

/* The type of an array, borrowed; NULL of a tracer, and of what has to be brought to a device. */
static PyObject *aval_of(State *s, PyObject *x)
{
    return Py_TYPE(x) == (PyTypeObject *)s->Array ? SLOT(x, s->aval) : NULL;
}

/* Describe a call: 1, or 0 if it is for the Python code or for an error. */
static int describe_call(Record *m, PyObject *args, PyObject *kwargs, Call *call)
{
    State *s = m->state;
    int has_static = PyTuple_Size(m->items[STATIC_PLACES]) || PyTuple_Size(m->items[STATIC_NAMES]);
    if (!PyTuple_CheckExact(args) || (kwargs && !PyDict_CheckExact(kwargs)) || refresh(s) < 0)
        return 0;
    int good = (!has_static || split(m, &args, &kwargs, call)) && walk_call(s, args, kwargs, call);
    Py_XDECREF(has_static ? args : NULL);
    Py_XDECREF(has_static ? kwargs : NULL);
    return good;
}

/* Find the signature of a call, and make it the first; NULL if it is not known. */
static PyObject *find(State *s, PyObject *known, Call *call)
{
    Py_ssize_t n = length(call->leaves);
    for (Py_ssize_t i = 0; i < PyList_Size(known); i++) {
        PyObject *row = PyList_GetItem(known, i), *fields[ENTRY];
        for (int j = 0; j < ENTRY; j++) {
            PyObject *field = PyTuple_GetItem(row, j);
            fields[j] = field == Py_None ? NULL : field;
        }
        int same = fields[ARGS] == call->fields[ARGS] && fields[KWARGS] == call->fields[KWARGS] &&
                   PyTuple_Size(fields[AVALS]) == n;
        for (Py_ssize_t j = 0; same && j < n; j++)
            same = PyTuple_GetItem(fields[AVALS], j) == aval_of(s, item(call->leaves, j));
        same = same && (!fields[STATICS] || are_same(fields[STATICS], call->fields[STATICS]));
        Py_INCREF(row); /* as settings may have an == of their own */
        PyObject *settings = call->fields[SETTINGS];
        if (same && PyObject_RichCompareBool(fields[SETTINGS], settings, Py_EQ) == 1) {
            if (i && (PyList_SetSlice(known, i, i + 1, NULL) || PyList_Insert(known, 0, row)))
                Py_CLEAR(row);
            return row;
        }
        Py_DECREF(row);
    }
    return NULL;
}

/* Have a program run, and build its result. */
static PyObject *run_entry(State *s, PyObject *row, PyObject *function, PyObject *leaves)
{
    PyObject *consts = PyTuple_GetItem(row, CONSTS), *out_tree = PyTuple_GetItem(row, OUT_TREE);
    PyObject *operands = leaves, *outs, *result = NULL;
    if (consts != Py_None) {
        PyObject *given = PySequence_List(leaves);
        operands = given ? PySequence_Concat(consts, given) : NULL;
        Py_XDECREF(given);
    }
    outs = operands ? call1(function, operands) : NULL;
    if (consts != Py_None) Py_XDECREF(operands);
    if (!outs) return NULL;
    if (out_tree == s->LEAF) result = PySequence_GetItem(outs, 0);
    else {
        Py_ssize_t next = 0;
        if (PyList_Check(outs) && refresh(s) == 0) result = build(s, out_tree, outs, &next, 0);
        if (!result && is_given_up())
            result = PyObject_CallMethodObjArgs(out_tree, s->text[T_UNFLATTEN], outs, NULL);
    }
    Py_DECREF(outs);
    return result;
}

/* Call a function whose arguments look as before; NotImplemented if they do not. */
static PyObject *call_known(PyObject *self, PyObject *const *given, Py_ssize_t nargs)
{
    Record *m = (Record *)self;
    State *s = m->state;
    Call call = { 0 };
    PyObject *known = m->items[KNOWN], *row = NULL, *function = NULL, *time = NULL, *result = NULL;
    PyObject *dynamic = nargs == 2 ? PyObject_GetAttr(s->trace_state, s->text[T_DYNAMIC]) : NULL;
    if (dynamic == Py_None && PyList_Size(known) &&
        (call.fields[SETTINGS] = PyObject_GetAttr(s->config, s->text[T_PROGRAM_KEY])) &&
        describe_call(m, given[0], given[1], &call) && (row = find(s, known, &call)) &&
        (time = PyObject_GetAttr(s->executable_cache, s->text[T_TIME])))
        function = PyObject_GetAttr(PyTuple_GetItem(row, ENTRY), s->text[T_RUN]);
    if (function && function != Py_None) {
        set(&SLOT(PyTuple_GetItem(row, ENTRY), s->used), time);
        m->hits++;
        result = run_entry(s, row, function, call.leaves);
    } else if (is_given_up()) result = new_ref(Py_NotImplemented);
    clear_call(&call);
    Py_XDECREF(dynamic);
    Py_XDECREF(row);
    Py_XDECREF(function);
    Py_XDECREF(time);
    return result;
}

/* The method by which a compiled function is called: what is known of it, or the Python method. */
static PyObject *method_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    Record *method = (Record *)self;
    State *s = method->state;
    PyObject *owner = method->items[PYTHON] ? PyTuple_GetItem(args, 0) : NULL, *result = NULL;
    PyObject *known = owner ? PyObject_GetAttr(owner, s->text[T_KNOWN]) : NULL;
    PyObject *function = known ? PyObject_GetAttr(known, s->text[T_CALL]) : NULL;
    PyObject *given[] = { function ? PyTuple_GetSlice(args, 1, PyTuple_Size(args)) : NULL, kwargs };
    if (given[0] && function != Py_None) {
        result = call_known(PyCFunction_GetSelf(function), given, 2);
        if (!result && PyErr_ExceptionMatches(PyExc_Exception)) {
            PyObject *type, *error, *trace;
            fetch_error(&type, &error, &trace);
            Py_XDECREF(call1(method->items[ON_ERROR], error)); /* which hides internal frames */
            Py_XDECREF(trace);
            PyErr_Restore(type, error, PyException_GetTraceback(error));
        }
    } else if (given[0]) result = new_ref(Py_NotImplemented);
    if (result == Py_NotImplemented) {
        Py_DECREF(result);
        result = PyObject_Call(method->items[PYTHON], args, kwargs);
    }
    Py_XDECREF(given[0]);
    Py_XDECREF(function);
    Py_XDECREF(known);
    return result;
}

static PyObject *method_get(PyObject *self, PyObject *owner, PyObject *type)
{
    if (owner && owner != Py_None) return call2(((Record *)self)->state->MethodType, self, owner);
    return new_ref(self);
}

/* Make such a method of the Python method and a function that is called with errors. */
static PyObject *method(PyObject *module, PyObject *args)
{
    if (PyTuple_Size(args) == 2) return (PyObject *)new_record(state_of(module), OTHER, args, 2);
    return give_up("method takes two arguments");
}

/* Describe a call as the first fields of a signature; None if it is for the Python code. */
static PyObject *signature(PyObject *self, PyObject *const *given, Py_ssize_t nargs)
{
    Call call = { 0 };
    PyObject *fields = NULL;
    if (nargs == 2 && describe_call((Record *)self, given[0], given[1], &call)) {
        fields = PyTuple_New(AVALS);
        for (int i = 0; fields && i < AVALS; i++)
            PyTuple_SetItem(fields, i, new_ref(call.fields[i] ? call.fields[i] : Py_None));
    } else if (is_given_up()) fields = new_ref(Py_None);
    clear_call(&call);
    return fields;
}

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL

/* Two functions that share a record: that which calls, and that which describes a call. */
static PyObject *signatures(PyObject *module, PyObject *args)
{
    static PyMethodDef call = { "call", FAST(call_known), "Call, or return NotImplemented." };
    static PyMethodDef describe = { "signature", FAST(signature), "Describe a call." };
    PyObject *first = function_of(module, &call, args, 3);
    if (!first) return NULL;
    PyObject *second = PyCFunction_NewEx(&describe, PyCFunction_GetSelf(first), NULL);
    return Py_BuildValue("NN", first, second);
}

/* ------------------------------------------------------------------------------------ module */

/* The place of a slot in the objects of a class; -1 if it has no such slot. */
static Py_ssize_t place_of_slot(PyObject *type, const char *name)
{
    PyMemberDef *member = PyType_GetSlot((PyTypeObject *)type, Py_tp_members);
    for (; member && member->name; member++)
        if (!strcmp(member->name, name) && member->type == T_OBJECT_EX) return member->offset;
    PyErr_Format(PyExc_ImportError, "%R has no slot %s: bindax-core and bindax-accelerator are of "
                 "different versions", type, name);
    return -1;
}

/* Take what core gives, by name. */
static PyObject *connect(PyObject *module, PyObject *given)
{
    State *s = state_of(module);
#define AS_NAME(name) { #name, &s->name },
    const struct { const char *name; PyObject **place; } NAMES[] = { GIVEN(AS_NAME) };
    const struct { PyObject **type; const char *name; Py_ssize_t *place; } SLOTS[] = {
        { &s->PyTreeDef, "_definition", &s->definition }, { &s->PyTreeDef, "_data", &s->data },
        { &s->PyTreeDef, "_order", &s->order }, { &s->PyTreeDef, "_children", &s->children },
        { &s->Array, "aval", &s->aval }, { &s->Array, "_host", &s->host },
        { &s->Array, "_buffer", &s->buffer }, { &s->Array, "_placement", &s->placement },
        { &s->CacheEntry, "used", &s->used }, { &s->PyTreeDef, "_flat", &s->flat } };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        PyObject *old = *NAMES[i].place, *value = PyMapping_GetItemString(given, NAMES[i].name);
        if (!value) return NULL;
        *NAMES[i].place = value;
        Py_XDECREF(old);
    }
    for (size_t i = 0; i < sizeof SLOTS / sizeof *SLOTS; i++)
        if ((*SLOTS[i].place = place_of_slot(*SLOTS[i].type, SLOTS[i].name)) < 0) return NULL;
    s->new_array = (allocfunc)PyType_GetSlot((PyTypeObject *)s->Array, Py_tp_alloc);
    Py_CLEAR(s->known); /* so that the next use begins anew */
    Py_RETURN_NONE;
}

static PyMemberDef record_members[] = {
    { "hits", T_PYSSIZET, offsetof(Record, hits), READONLY, "How many calls were known." },
    { NULL, 0, 0, 0, NULL } };
static PyType_Slot record_slots[] = {
    { Py_tp_traverse, record_traverse }, { Py_tp_clear, record_clear },
    { Py_tp_dealloc, record_dealloc },   { Py_tp_members, record_members },
    { Py_tp_call, method_call },         { Py_tp_descr_get, method_get }, { 0, NULL } };
static PyType_Spec record_spec = {
    "bindax_accelerator._native.Record", sizeof(Record), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
        Py_TPFLAGS_METHOD_DESCRIPTOR, /* as a method */
    record_slots };

static int start(PyObject *module)
{
    State *s = state_of(module);
    s->Record = PyType_FromModuleAndSpec(module, &record_spec, NULL);
    for (int i = 0; i < T_COUNT; i++)
        if (!(s->text[i] = PyUnicode_InternFromString(TEXT[i]))) return -1;
    forget(s);
    return s->Record && s->nodes ? 0 : -1;
}

static void module_free(void *module)
{
    State *s = state_of(module);
    for (PyObject **object = &s->PyTreeDef; s && object <= &s->Record; object++) Py_CLEAR(*object);
    for (int i = 0; s && i < T_COUNT; i++) Py_CLEAR(s->text[i]);
}

static PyMethodDef functions[] = {
    { "connect", connect, METH_O, "Take the objects of core that this works on." },
    { "flatten", flatten, METH_O, "Flatten a tree; None if that is for the Python code." },
    { "unflatten", FAST(unflatten), "Build the tree of a structure from a list of leaves." },
    { "wrapper", wrapper, METH_VARARGS, "Make a function from buffers of one type to arrays." },
    { "runner", runner, METH_VARARGS, "Make a function from operands to results." },
    { "method", method, METH_VARARGS, "Make the method by which functions are called." },
    { "signatures", signatures, METH_VARARGS, "Make functions that call, and describe calls." },
    { NULL, NULL, 0, NULL } };

static PyModuleDef_Slot module_slots[] = { { Py_mod_exec, start }, { 0, NULL } };
static PyModuleDef module_def = { PyModuleDef_HEAD_INIT, "_native",
                                  "Fast paths of bindax, in C.", sizeof(State), functions,
                                  module_slots, NULL, NULL, module_free };

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module_def); }
