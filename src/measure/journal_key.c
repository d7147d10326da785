/* The key of a journal: all that its points depend on. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "measure/session.h"

/* Texts of drivers are put in lines of a file, and between semicolons. */
static const char *plain(hl_measure_session *self, const char *text)
{
    char *copy = hl_base_arena_string(&self->arena, text && *text ? text : "unknown");
    for (char *at = copy; at && *at; at++)
        if (*at == ';' || *at == '\n' || *at == '\r')
            *at = ' ';
    return copy ? copy : "unknown";
}

/* By the name that they were opened by where the driver tells no more. */
bool hl_measure_is_same_device(const haul_device *a, const haul_device *b)
{
    const char *one = a->properties.identity, *other = b->properties.identity;
    const bool is_told = one && *one && other && *other;
    return a == b || (a->backend == b->backend &&
                      !strcmp(is_told ? one : a->name, is_told ? other : b->name));
}

haul_status hl_measure_open_journal(hl_measure_session *session, haul_error *error)
{
    const haul_device_properties *device = haul_device_describe(session->device);
    char host[256] = "";
    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    const char *peers = "no peers";
    for (size_t i = 0; i < session->options.peer_count && peers; i++) {
        const haul_device_properties *peer = haul_device_describe(session->options.peers[i]);
        peers = hl_base_arena_format(&session->arena, "%s%s%s (%s)", i ? peers : "peers ",
                                     i ? ", " : "", plain(session, session->options.peers[i]->name),
                                     plain(session, peer->identity));
    }
    const char *key =
        peers
            ? hl_base_arena_format(&session->arena,
                                   "%s; device %s; driver %s; host %s; copies up to %llu bytes; %s",
                                   plain(session, device->name), plain(session, device->identity),
                                   plain(session, device->driver),
                                   device->is_simulated ? "none" : plain(session, host),
                                   (unsigned long long)session->options.largest_bytes, peers)
            : NULL;
    if (!key)
        return hl_base_fail_no_memory(error);
    return hl_measure_journal_open(&session->journal, session->options.journal, key, error);
}
