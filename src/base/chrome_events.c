#include "base/chrome_events.h"

#include <inttypes.h>

#include "base/json_out.h"

void hl_base_chrome_text(const char *text, FILE *out)
{
    hl_base_json json = hl_base_json_begin(out);
    hl_base_json_string(&json, text);
}

/* By integers: a double of microseconds loses nanoseconds from about 100 days on. */
void hl_base_chrome_us(const char *key, int64_t ns, FILE *out)
{
    const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    fprintf(out, ",\"%s\":%s%" PRIu64 ".%03" PRIu64, key, ns < 0 ? "-" : "", size / 1000,
            size % 1000);
}

void hl_base_chrome_slice_open(const hl_base_chrome_slice *slice, FILE *out)
{
    fprintf(out, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", slice->category);
    hl_base_chrome_text(slice->name, out);
    fprintf(out, ",\"pid\":%" PRId64 ",\"tid\":%" PRId64, slice->pid, slice->tid);
    hl_base_chrome_us("ts", slice->start_ns, out);
    hl_base_chrome_us("dur", slice->dur_ns, out);
    fputs(",\"args\":{", out);
}
