/* read.h - the formats of logs. */
#ifndef TARRY_LOG_READ_H
#define TARRY_LOG_READ_H

#include "log/lines.h"
#include "log/log.h"

/* What a column can be, and the names it goes by. */
typedef enum {
    TARRY__LOG_ID,
    TARRY__LOG_ARM,
    TARRY__LOG_DECIDED,
    TARRY__LOG_REPORTED,
    TARRY__LOG_LOSS,
    TARRY__LOG_REWARD,
    TARRY__LOG_PROBABILITY,
    TARRY__LOG_STATE,
    TARRY__LOG_FIELDS /* how many; also: something else */
} tarry__log_field;

tarry__log_field tarry__log_field_of(tarry__text name);

/* A field of a row; for TARRY__LOG_FIELDS nothing is set. */
void tarry__log_row_set(tarry__log_row *row, tarry__log_field field,
                        tarry__text value);

/* Both read all lines into the log. */
tarry_status tarry__log_read_csv(tarry__log *log, tarry__lines *lines,
                                 tarry_error *error);
tarry_status tarry__log_read_json(tarry__log *log, tarry__lines *lines,
                                  tarry_error *error);

#endif
