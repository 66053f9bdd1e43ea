/* The same from C: the models shared out among native threads, of which Python knows nothing. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "hitcurve.h"

#ifdef _WIN32
#include <windows.h>
typedef HANDLE thread_t;
#define THREAD_RESULT DWORD WINAPI
#define START(thread, function, argument) ((*(thread) = CreateThread(NULL, 0, function, argument, 0, NULL)) == NULL)
#define JOIN(thread) (WaitForSingleObject(thread, INFINITE), CloseHandle(thread))
#else
#include <pthread.h>
typedef pthread_t thread_t;
#define THREAD_RESULT void *
#define START(thread, function, argument) (pthread_create(thread, NULL, function, argument) != 0)
#define JOIN(thread) pthread_join(thread, NULL)
#endif

enum { THREADS = 4 };

typedef struct {
    const uint8_t *label;
    const double *score;
    double *out;
    int64_t items, first, last;
    int status;
} share;

static THREAD_RESULT rank_share(void *argument) {
    share *mine = argument;
    for (int64_t i = mine->first; i < mine->last && mine->status == HITCURVE_OK; i++)
        mine->status = hitcurve_average_precision_f64(mine->label, mine->score + i * mine->items, mine->items, NULL,
                                                      mine->out + i, NULL);
    return 0;
}

/* average_precisions(label: bytes of 0 and 1, score: float64, model by model, out: float64, one for each model) */
static PyObject *average_precisions(PyObject *module, PyObject *arguments) {
    Py_buffer label, score, out;
    thread_t threads[THREADS];
    share shares[THREADS];
    int started = 0, status = HITCURVE_OK;
    int64_t models;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*y*w*", &label, &score, &out)) return NULL;
    models = out.len / (int64_t)sizeof(double);
    if (score.len != models * label.len * (int64_t)sizeof(double)) {
        PyErr_SetString(PyExc_ValueError, "label, score and out do not fit together");
        status = -1;
    } else {
        Py_BEGIN_ALLOW_THREADS
        for (int t = 0; t < THREADS; t++) {
            shares[t] = (share){label.buf, score.buf, out.buf, label.len, models * t / THREADS,
                                models * (t + 1) / THREADS, HITCURVE_OK};
            if (START(&threads[t], rank_share, &shares[t])) break;
            started++;
        }
        for (int t = 0; t < started; t++) {
            JOIN(threads[t]);
            if (status == HITCURVE_OK) status = shares[t].status;
        }
        Py_END_ALLOW_THREADS
        if (started < THREADS)
            PyErr_SetString(PyExc_RuntimeError, "a thread could not be started");
        else if (status != HITCURVE_OK)
            PyErr_Format(PyExc_ValueError, "hitcurve's status is %d", status);
    }
    PyBuffer_Release(&label);
    PyBuffer_Release(&score);
    PyBuffer_Release(&out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"average_precisions", average_precisions, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

static int execute(PyObject *module) {
    (void)module;
    return hitcurve_import();
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "modelrank_threads", NULL, 0, methods, slots, NULL, NULL,
                                        NULL};

PyMODINIT_FUNC PyInit_modelrank_threads(void) { return PyModuleDef_Init(&definition); }
