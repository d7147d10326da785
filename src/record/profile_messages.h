/* Messages that a process's writer puts into its ring and the collector takes out. Both ends are of
 * one build, so that structs go as they are. */
#ifndef HAUL_RECORD_PROFILE_MESSAGES_H
#define HAUL_RECORD_PROFILE_MESSAGES_H

#include "record/profile_writer.h"

enum { HL_RECORD_LONGEST_NAME = 4096 };

typedef enum hl_record_message_type {
    HL_RECORD_MESSAGE_RECORD, /* hl_record */
    HL_RECORD_MESSAGE_NAME,
    HL_RECORD_MESSAGE_DEVICE,
    HL_RECORD_MESSAGE_STREAM,
    HL_RECORD_MESSAGE_NOTE,
} hl_record_message_type;

/* The text of a number that records name; only as many bytes as it has are sent. */
typedef struct hl_record_message_name {
    uint32_t id;
    char text[HL_RECORD_LONGEST_NAME]; /* not ended by a zero */
} hl_record_message_name;

typedef struct hl_record_message_device {
    hl_record_profile_device device; /* but for its texts */
    char name[128], bus[32], uuid[64];
} hl_record_message_device;

typedef struct hl_record_message_stream {
    uint32_t context, stream;
} hl_record_message_stream;

typedef struct hl_record_message_note {
    char name[128], text[256];
} hl_record_message_note;

#endif
