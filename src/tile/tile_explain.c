/* haul_context_explain: a context's choices in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_pass.h"

static void explain_arrays(const haul_context *context, FILE *out)
{
    for (const hl_tile_field *field = context->memory.fields; field; field = field->next)
        if (field->ring)
            fprintf(out, "array of %d planes in %d regions of %d: %s, %d slots\n", field->length,
                    field->part_count, field->region,
                    hl_tile_field_is_all_there(field) ? "stays on the device"
                                                      : "streams through it",
                    field->planes / field->region);
}

static void explain_fused(const haul_context *context, FILE *out)
{
    const haul_fused *it = &context->last.fused;
    const char *between = "";
    if (!context->choice.has_chosen_fused)
        return;
    fputs("stencil's steps a launch: ", out);
    for (unsigned i = 0; i < HL_TILE_FUSED_CHOICES; i++)
        if (isfinite(context->choice.fused_s[i])) {
            fprintf(out, "%s%.4g ms with %u", between, context->choice.fused_s[i] * 1e3, 1 + 2 * i);
            between = ", ";
        }
    if (it->steps)
        fprintf(out, ": %d fused on chip, in tiles of %d by %d cells", it->steps, it->tile[0],
                it->tile[1]);
    else
        fputs(": none fused", out);
    fputs(" (at best: registers, occupancy and barriers are not modelled)\n", out);
}

static void explain_device(const haul_context *context, FILE *out)
{
    const hl_tile_pass_time *time = &context->choice.predicted;
    const hl_tile_rates rates = hl_tile_rates_of(&context->choice);
    fprintf(out,
            "%s: %.3g MB for arrays, %.3g MB in use; 3 streams: in, kernels, out; one for the "
            "host's own reads\n",
            context->memory.device->name, (double)context->memory.budget * 1e-6,
            (double)context->memory.device_bytes * 1e-6);
    if (context->memory.ran_out_at)
        fprintf(out,
                "the device had no %.3g MB: the arrays have less, and fewer steps run a pass\n",
                (double)context->memory.ran_out_at * 1e-6);
    fprintf(out, "rates (%s): %.3g GB/s in, %.3g GB/s out, %.3g GB/s memory, %.3g us a launch\n",
            rates.source, rates.copy_Bps[0] * 1e-9, rates.copy_Bps[1] * 1e-9,
            rates.memory_Bps * 1e-9, rates.launch_s * 1e6);
    explain_arrays(context, out);
    if (time->passes)
        fprintf(out,
                "first program: %zu steps a pass, %zu passes; predicted %.4g ms, %.4g ms if all "
                "copies but the first region's were hidden; a pass: kernels %.3g ms, copies in "
                "%.3g ms, out %.3g ms\n",
                time->steps, time->passes, time->total_s * 1e3, time->bound_s * 1e3,
                time->run_s * 1e3, time->copy_s[0] * 1e3, time->copy_s[1] * 1e3);
    if (context->last.rows)
        fprintf(out, "planes are too large for the device: they are cut in columns of %d rows\n",
                context->last.rows);
    if (context->last.host_parts)
        fprintf(out,
                "last shared pass: the host's threads took %d regions while the device worked on "
                "the others\n",
                context->last.host_parts);
    explain_fused(context, out);
    fprintf(out, "last pass: %u steps\n", context->last.steps);
}

static haul_status explain_team(const hl_tile_team *team, FILE *out, haul_error *error)
{
    const int count = hl_tile_team_count(team);
    fprintf(out, "%d devices, each with a part of the planes\n", count);
    if (hl_tile_team_context(team, 0)->relay.has_run)
        fputs("arrays of which each has all planes: devices run some of the loops each, in turns\n",
              out);
    for (int rank = 0; rank < count; rank++) {
        char *text = NULL;
        HAUL_TRY(haul_context_explain(hl_tile_team_context(team, rank), &text, error));
        fprintf(out, "device %d: %s", rank, text ? text : "");
        free(text);
    }
    return HAUL_OK;
}

haul_status haul_context_explain(const haul_context *context, char **text, haul_error *error)
{
    char *lines = NULL;
    size_t bytes;
    FILE *out = open_memstream(&lines, &bytes);
    haul_status status = HAUL_OK;
    if (!out)
        return hl_base_fail_no_memory(error);
    if (context->team)
        status = explain_team(context->team, out, error);
    else if (context->memory.is_host)
        fprintf(
            out,
            "%s: %u steps a pass in tiles of %d rows, which stay in the %s-level cache; %d planes "
            "a step\n",
            context->memory.device->name, context->last.steps, context->last.rows,
            context->last.is_far ? "third" : "second", context->last.planes);
    else
        explain_device(context, out);
    if (fclose(out) || !lines) {
        free(lines);
        return hl_base_fail_no_memory(error);
    }
    if (status)
        free(lines);
    else
        *text = lines;
    return status;
}
