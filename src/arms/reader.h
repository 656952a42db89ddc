/* reader.h - what arms.c and the readers of the two formats share. */
#ifndef TARRY_ARMS_READER_H
#define TARRY_ARMS_READER_H

#include "arms/source.h"
#include "tarry/arms.h"

typedef struct {
    tarry_arms arms; /* first, so that a caller's pointer leads back here */
    source from;
    double *values;  /* NULL if arms.data points into `from` */
    char *name_text; /* the names one after another, or NULL */
} arm_file;

/* Each reads file->from, which is not empty, and fills the rest.  After a
 * failure the fields hold what was taken so far, for the caller to free. */
tarry_status tarry__arms_csv_read(arm_file *file, tarry_error *error);
tarry_status tarry__arms_npy_read(arm_file *file, tarry_error *error);

/* Whether the bytes start like a .npy file. */
int tarry__arms_is_npy(const source *from);

#endif
