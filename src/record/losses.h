/* Losses of a recording, by cause: one list for those who count it and for those who say it. */
#ifndef HAUL_RECORD_LOSSES_H
#define HAUL_RECORD_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum hl_record_loss {
    HL_RECORD_LOSS_DROPPED_RECORDS,   /* the ring was full, or nobody read it any more */
    HL_RECORD_LOSS_DROPPED_COMMANDS,  /* the recorder had no room for them */
    HL_RECORD_LOSS_DROPPED_BY_CUPTI,  /* records, for want of buffers */
    HL_RECORD_LOSS_IN_FLIGHT,         /* commands of a process that ended without a word */
    HL_RECORD_LOSS_UNFINISHED,        /* commands that had not ended when the program did */
    HL_RECORD_LOSS_FAILED,            /* commands whose event says an error */
    HL_RECORD_LOSS_COMMANDS_UNTIMED,  /* their event gives no times */
    HL_RECORD_LOSS_RECORDS_UNTIMED,   /* CUPTI gives no times */
    HL_RECORD_LOSS_BEYOND_LIMITS,     /* of --duration or --max-ops */
    HL_RECORD_LOSS_DAMAGED_RECORDERS, /* the program overwrote or cut their memory */
    HL_RECORD_LOSS_NO_RECORDERS,      /* that could not begin */
    HL_RECORD_LOSS_TAKEN_OVER,        /* recorders whose CUPTI another tool of the program took */
    HL_RECORD_LOSSES,
} hl_record_loss;

typedef enum hl_record_loss_unit {
    HL_RECORD_LOSS_OF_OPERATIONS, /* also of commands that are none: markers */
    HL_RECORD_LOSS_OF_RECORDS,
    HL_RECORD_LOSS_OF_RECORDERS,
} hl_record_loss_unit;

/* How much was lost, and when that began on CLOCK_MONOTONIC; 0 for not known. */
typedef struct hl_record_lost {
    uint64_t count;
    int64_t since_ns;
} hl_record_lost;

typedef struct hl_record_loss_words {
    const char *note; /* its row of META_DATA_CAPTURE, behind "HAUL:" */
    hl_record_loss_unit unit;
    const char *one, *many; /* what stands behind the number */
} hl_record_loss_words;

extern const hl_record_loss_words hl_record_loss_says[HL_RECORD_LOSSES];

void hl_record_lost_add(hl_record_lost *self, const hl_record_lost *more);

#endif
