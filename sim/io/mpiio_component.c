/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI-IO a file was opened by, and whose a window is: libraries have no call that says so. */
#include <string.h>

#include "io/mpiio_internal.h"

/* ROMIO tells its hints, where the library lets it. */
static bool has_romio_hints(MPI_File file)
{
    MPI_Info info;
    char value[2];
    int there = 0;

    if (MPI_File_get_info(file, &info) != MPI_SUCCESS)
        return false;
    MPI_Info_get(info, "romio_cb_write", 1, value, &there);
    MPI_Info_free(&info);
    return there != 0;
}

#ifdef OPEN_MPI

enum { NOT_LOADED = -1 };

/* Of a component that has been loaded, as its control variable says. */
static int priority_of(const char *variable)
{
    char name[64];
    int index, length = sizeof name, none = 0, verbosity, binding, scope, count, value = NOT_LOADED;
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_cvar_handle handle;

    if (MPI_T_cvar_get_index(variable, &index) != MPI_SUCCESS ||
        MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &values, NULL, &none, &binding, &scope) !=
            MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return NOT_LOADED;
    MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);
    return value;
}

/* The one with the higher priority opens what both could. */
static enum mpiio_component loaded_component(void)
{
    int provided;

    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return MPIIO_UNKNOWN;
    int ompio = priority_of("io_ompio_priority");
    int romio = MAX(priority_of("io_romio321_priority"), priority_of("io_romio341_priority"));
    MPI_T_finalize();
    if (ompio == NOT_LOADED && romio == NOT_LOADED)
        return MPIIO_UNKNOWN;
    return romio > ompio ? MPIIO_ROMIO : MPIIO_OMPIO;
}

#else

/* All others have ROMIO or one of its descendants. */
static enum mpiio_component loaded_component(void)
{
    return MPIIO_ROMIO;
}

#endif

enum mpiio_component mpiio_component_of(MPI_File file)
{
    return has_romio_hints(file) ? MPIIO_ROMIO : loaded_component();
}

/* --- windows --- */

#ifdef OPEN_MPI

/* Components name their windows "NAME window NUMBER"; sm does not, and is the only one that has shared memory. */
enum mpiio_onesided mpiio_onesided_of(MPI_Win window, enum mpiio_windows windows)
{
    static const struct {
        const char *name;
        enum mpiio_onesided component;
    } known[] = {
        { "pt2pt ", MPIIO_ONESIDED_PT2PT }, { "rdma ", MPIIO_ONESIDED_RDMA }, { "ucx ", MPIIO_ONESIDED_UCX }
    };
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;

    if (windows == MPIIO_WINDOWS_SHARED)
        return MPIIO_ONESIDED_SM;
    if (MPI_Win_get_name(window, name, &length) == MPI_SUCCESS)
        for (unsigned i = 0; i < G_N_ELEMENTS(known); i++)
            if (strncmp(name, known[i].name, strlen(known[i].name)) == 0)
                return known[i].component;
    return MPIIO_ONESIDED_UNKNOWN;
}

#else

enum mpiio_onesided mpiio_onesided_of(MPI_Win window, enum mpiio_windows windows)
{
    return MPIIO_ONESIDED_UNKNOWN;
}

#endif
