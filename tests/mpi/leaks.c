/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leak detection of MPI programs, in the sanitizer build only (others do not have this file). An empty MPI program
 * loses about 120 KB inside Open MPI 4.1, and unloads the parts that lost them before leaks are looked for. So what
 * MPI_Init allocates is not looked at, and leaks are looked for at the beginning of MPI_Finalize: whatever nothing
 * points to by then is reported, and the program fails.
 *
 * Thread-local memory is not searched for pointers: that search crashes on more than two processes of Open MPI 4.1.
 * What hangs from there, GLib's memory of this thread above all, is excepted instead.
 */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sanitizer/lsan_interface.h>

const char *__lsan_default_options(void)
{
    return "use_tls=0";
}

/* Once at the start, for programs that are linked with MPI and do not use it: GLib's memory is there by then. */
__attribute__((constructor)) static void except_thread_memory(void)
{
    for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) {
        const void *value = pthread_getspecific(key);
        if (value != NULL)
            __lsan_ignore_object(value);
    }
}

int MPI_Init(int *argc, char ***argv)
{
    __lsan_disable();
    int result = PMPI_Init(argc, argv);
    __lsan_enable();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    __lsan_disable();
    int result = PMPI_Init_thread(argc, argv, required, provided);
    __lsan_enable();
    return result;
}

/* It registers every part of the library there is, and unloads most of them at once. */
int MPI_T_init_thread(int required, int *provided)
{
    __lsan_disable();
    int result = PMPI_T_init_thread(required, provided);
    __lsan_enable();
    return result;
}

int MPI_Finalize(void)
{
    except_thread_memory();
    __lsan_do_leak_check();
    return PMPI_Finalize();
}
