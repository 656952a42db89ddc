/* arms.c - the public door: opens the file, picks the reader, frees. */
#include "tarry/arms.h"
#include "arms/reader.h"
#include "base/base.h"

static tarry_status read_into(arm_file *file, const char *path,
                              tarry_error *error)
{
    tarry_status status = tarry__source_open(&file->from, path, error);
    if (status != TARRY_OK)
        return status;
    if (file->from.size == 0)
        return tarry__base_fail(error, TARRY_BAD_INPUT, "%s: the file is empty",
                                file->from.label);
    if (tarry__arms_is_npy(&file->from))
        status = tarry__arms_npy_read(file, error);
    else
        status = tarry__arms_csv_read(file, error);
    if (file->values != NULL)
        tarry__source_close(&file->from); /* all of it has been copied */
    return status;
}

tarry_status tarry_arms_read(const char *path, tarry_arms **out,
                             tarry_error *error)
{
    if (out != NULL)
        *out = NULL;
    if (path == NULL || out == NULL)
        return tarry__base_fail(error, TARRY_BAD_ARGUMENT,
                                "arms: no path, or nowhere to put the arms");
    arm_file *file = tarry__base_zalloc(1, sizeof *file);
    if (file == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "arms: out of memory");
    const tarry_status status = read_into(file, path, error);
    if (status != TARRY_OK)
        tarry_arms_free(&file->arms);
    else
        *out = &file->arms;
    return status;
}

void tarry_arms_free(tarry_arms *arms)
{
    if (arms == NULL)
        return;
    arm_file *file = (arm_file *)arms;
    tarry__source_close(&file->from);
    tarry__base_free(file->values);
    tarry__base_free(file->name_text);
    tarry__base_free(file->arms.names);
    tarry__base_free(file);
}
