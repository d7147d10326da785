/* Whether a signal was sent to haul alone or to its whole process group.
 *
 * The program is in haul's group: a signal of the group reaches it, one that is for haul alone has
 * to be sent on. No system call tells the two apart, and `timeout` sends both kinds at once. So a
 * process that does nothing is put into the group: what it has pending was sent to the group. */
#ifndef HAUL_RECORD_GROUP_WITNESS_H
#define HAUL_RECORD_GROUP_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct hl_record_group_witness {
    pid_t process; /* 0: none, where it could not be made */
    int alive;     /* descriptor of a pipe: the witness ends with haul, however that ends */
} hl_record_group_witness;

/* All signals of the caller that the witness is to see must be blocked. */
void hl_record_group_witness_start(hl_record_group_witness *self);

/* Whether the group was sent `signal` since the start, or is within 50 ms. Begins anew where it
 * was. */
bool hl_record_group_witness_saw(hl_record_group_witness *self, int signal);

void hl_record_group_witness_end(hl_record_group_witness *self);

#endif
