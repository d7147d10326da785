/* What the writer of a process puts into its ring and the collector takes out. Both ends are of one
 * build, so that structs go as they are. */
#ifndef HAUL_RECORD_PROFILE_MESSAGES_H
#define HAUL_RECORD_PROFILE_MESSAGES_H

#include "record/profile_writer.h"

enum { HAUL_LONGEST_NAME = 4096 };

typedef enum haul_message_type {
    HAUL_MESSAGE_RECORD, /* haul_record */
    HAUL_MESSAGE_NAME,
    HAUL_MESSAGE_DEVICE,
    HAUL_MESSAGE_STREAM,
    HAUL_MESSAGE_NOTE,
} haul_message_type;

/* The text of a number that records name; only as many bytes as it has are sent. */
typedef struct haul_message_name {
    uint32_t id;
    char text[HAUL_LONGEST_NAME]; /* not ended by a zero */
} haul_message_name;

typedef struct haul_message_device {
    haul_profile_device device; /* but for its texts */
    char name[128], bus[32], uuid[64];
} haul_message_device;

typedef struct haul_message_stream {
    uint32_t context, stream;
} haul_message_stream;

typedef struct haul_message_note {
    char name[128], text[256];
} haul_message_note;

#endif
