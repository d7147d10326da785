/* The answers to what CCGrid 2014 asks in its introduction, each from numbers that the comparison
 * has already. Texts are cut at HL_REPORT_ANSWER_BYTES, never overrun: snprintf's result is added
 * to `used` only while it is below the size. */
#include "report/overlap_answers.h"
#include <math.h>
#include <string.h>

#include "overlap/formulas.h"
#include "report/wording.h"

static const haul_overlap_row *best_row(const haul_overlap *of)
{
    return &of->rows[of->best];
}

static double leg_s(const haul_overlap_leg *leg)
{
    return leg->bytes > 0 ? leg->latency_s + leg->bytes * leg->per_byte_s : 0;
}

/* The copies that run beside the kernel in streams, one after another or both ways at once. */
static double beside_s(const haul_overlap_case *of)
{
    const double in_s = leg_s(&of->in), out_s = leg_s(&of->out);
    return of->device == HAUL_IMPLICIT_SYNC ? in_s
           : of->device == HAUL_ONE_ENGINE  ? in_s + out_s
                                            : fmax(in_s, out_s);
}

/* The paper's scenario is of the bytes that move beside the kernel: it may be another than the sums
 * say, and than what small copies take with their latencies. */
static void say_dominant(const haul_overlap_report *report, char *text, size_t size)
{
    static const char *const beside[] = {
        [HAUL_IMPLICIT_SYNC] = "only copies to the device run beside it",
        [HAUL_ONE_ENGINE] = "the copies run beside it",
        [HAUL_TWO_ENGINES] = "copies of both directions run at once beside it",
    };
    const double kernel_s = report->of->kernel_s;
    /* Explicit copies and the kernel follow one another (CCGrid 2014, IV), so that the rest is the
     * copies, each with its latency: of small ones that is nearly all. */
    const double copies_s =
        fmax(report->strategies.rows[HAUL_STRATEGY_EXPLICIT].analytical_s - kernel_s, 0);
    char streams[120] = "";
    if (kernel_s <= copies_s && kernel_s > beside_s(report->of))
        (void)snprintf(streams, sizeof streams, "; in streams the kernel takes longer, for %s",
                       beside[report->of->device]);
    (void)snprintf(text, size, "the copies take %s and the kernel %s, one after another%s",
                   hl_report_say_seconds(copies_s).text, hl_report_say_seconds(kernel_s).text,
                   streams);
}

/* The times of a row that could choose another strategy than the likely one does. */
typedef enum row_time { FAST_END, SLOW_END, ANALYTICAL, ROW_TIMES } row_time;

static double time_of(const haul_overlap_row *row, row_time which)
{
    const double times[ROW_TIMES] = {row->low_s, row->high_s, row->analytical_s};
    return times[which];
}

static double claim_of(const haul_overlap_case *of, const haul_overlap_row *row, row_time which)
{
    return hl_overlap_claim(of->assumed, row->strategy, time_of(row, which));
}

/* "; the analytical model has 42.8 ms: because it assumes that ...", where it and the timeline
 * differ by more than 5 %. */
static void say_model(const haul_overlap_report *report, char *text, size_t size)
{
    /* The sentence names each assumption of the paper's formulas that the case at hand does not
     * meet. */
    static const struct {
        unsigned bit;
        const char *text;
    } assumptions[] = {
#define ASSUMPTION_ROW(name, bit, text) {bit, text},
        HAUL_ASSUMPTION_LIST(ASSUMPTION_ROW)
#undef ASSUMPTION_ROW
    };
    const haul_overlap_row *best = best_row(&report->strategies);
    const unsigned unmet = haul_overlap_unmet(report->of, best->strategy, best->streams);
    if (fabs(best->analytical_s - best->seconds) <= 0.05 * best->seconds)
        return;
    int used = snprintf(text, size, "; the analytical model has %s",
                        hl_report_say_seconds(best->analytical_s).text);
    for (size_t i = 0; i < sizeof assumptions / sizeof *assumptions; i++)
        if (unmet & assumptions[i].bit && used > 0 && (size_t)used < size) {
            /* Bits go up with the list, so that no lower bit set means that this is the first one
             * said. */
            const bool first = !(unmet & (assumptions[i].bit - 1));
            used +=
                snprintf(text + used, size - (size_t)used, "%s%s",
                         first ? ", because it assumes that " : ", and that ", assumptions[i].text);
        }
}

/* Deeds of strategies, for sentences. */
static const char *const deeds[HAUL_STRATEGIES] = {
    [HAUL_STRATEGY_EXPLICIT] = "copies without streams",
    [HAUL_STRATEGY_STREAMS] = "copies in streams",
    [HAUL_STRATEGY_MAPPED] = "mapped memory",
    [HAUL_STRATEGY_HYBRID] = "copies in, mapped memory out"};

/* Where the choice rests on uncertain parameters, or on how often mapped memory is read: "copies in
 * streams are fastest at both ends of the interval, while a byte is read at most 1.4 times". */
static void say_certainty(const haul_overlap_report *report, char *text, size_t size)
{
    static const char *const whens[ROW_TIMES] = {"if copies are fast", "if copies are slow",
                                                 "by the analytical model"};
    static const char *const done[] = {"read", "written"};
    const haul_overlap *of = &report->strategies;
    const double most[] = {of->reads_most, of->writes_most};
    size_t used = 0;
    for (int i = 0; i < ROW_TIMES; i++) {
        /* the strategy that this time would choose, where it is over 1 % faster than the best */
        const haul_overlap_row *best = best_row(of), *other = best;
        for (int k = 0; k < HAUL_STRATEGIES; k++)
            if (claim_of(report->of, &of->rows[k], (row_time)i) <
                claim_of(report->of, other, (row_time)i))
                other = &of->rows[k];
        /* Below 1 % another choice is no finding: predictions differ by more than that from
         * measurements. */
        if (claim_of(report->of, other, (row_time)i) <
                0.99 * claim_of(report->of, best, (row_time)i) &&
            used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s %s would be faster, %s",
                                     used ? "; " : "", whens[i], deeds[other->strategy],
                                     hl_report_say_seconds(time_of(other, (row_time)i)).text);
    }
    char joint[80] = ", as long as each byte is ";
    if (used)
        (void)snprintf(joint, sizeof joint, "; %s, only as long as each byte is ", deeds[of->best]);
    else
        used = (size_t)snprintf(text, size, "%s %s fastest at both ends of the interval",
                                deeds[of->best], of->best == HAUL_STRATEGY_MAPPED ? "is" : "are");
    const char *before = joint;
    for (int i = 0; i < 2; i++)
        /* Rounded down: at the number that is printed the choice must still hold. */
        if (isfinite(most[i]) && used < size) {
            const double times = floor(most[i] * 100) / 100;
            char number[24] = "once";
            if (times >= 1000)
                (void)snprintf(number, sizeof number, "%.0f times", floor(times));
            else if (times != 1)
                (void)snprintf(number, sizeof number, "%.3g times", times);
            used += (size_t)snprintf(text + used, size - used, "%s%s at most %s", before, done[i],
                                     number);
            before = ", ";
        }
    used = strlen(text);
    say_model(report, text + used, size - used);
}

/* Half a percent is below what any measurement of a program repeats to. */
static void say_gain(const haul_overlap_report *report, char *text, size_t size)
{
    const haul_overlap *of = &report->strategies;
    const haul_overlap_row *best = best_row(of);
    const double explicit_s = of->rows[HAUL_STRATEGY_EXPLICIT].seconds;
    /* The bound is the roofline with full overlap: no strategy can gain more than this factor. */
    const double most = of->full_s > 0 ? explicit_s / of->full_s : 1;
    if (of->best == HAUL_STRATEGY_EXPLICIT)
        (void)snprintf(text, size, "nothing: no strategy is faster than explicit's %s",
                       hl_report_say_seconds(explicit_s).text);
    else if (of->gain < 1.005)
        (void)snprintf(text, size, "next to nothing: %s, by %s, is within 0.5 %% of explicit",
                       hl_report_say_seconds(best->seconds).text, haul_strategy_word(of->best));
    else
        (void)snprintf(text, size, "%.2f times: %s for explicit's %s, by %s; %.2f at most",
                       of->gain, hl_report_say_seconds(best->seconds).text,
                       hl_report_say_seconds(explicit_s).text, haul_strategy_word(of->best), most);
}

/* Mapped memory passes the link once for each access, so which is better depends on the kernel. */
static void say_mapped(const haul_overlap_report *report, char *text, size_t size)
{
    const haul_overlap *of = &report->strategies;
    /* the best of those that copy all, against the best of those that map some */
    const haul_strategy copies =
        of->rows[HAUL_STRATEGY_STREAMS].seconds < of->rows[HAUL_STRATEGY_EXPLICIT].seconds
            ? HAUL_STRATEGY_STREAMS
            : HAUL_STRATEGY_EXPLICIT;
    const double copied_s = of->rows[copies].seconds;
    const double mapped_s =
        fmin(of->rows[HAUL_STRATEGY_MAPPED].seconds, of->rows[HAUL_STRATEGY_HYBRID].seconds);
    /* Within 1 % the answer depends on how the program is written, not on the model. */
    const bool are_level = fmax(copied_s, mapped_s) <= 1.01 * fmin(copied_s, mapped_s);
    const bool is_mapped = of->best == HAUL_STRATEGY_MAPPED || of->best == HAUL_STRATEGY_HYBRID;
    (void)snprintf(text, size,
                   "%s: %s take %s; a kernel that reads and writes host memory, mapped, %s; one "
                   "that only writes it, hybrid, %s%s",
                   are_level   ? "either"
                   : is_mapped ? "map it"
                               : "copy",
                   deeds[copies], hl_report_say_seconds(copied_s).text,
                   hl_report_say_seconds(of->rows[HAUL_STRATEGY_MAPPED].seconds).text,
                   hl_report_say_seconds(of->rows[HAUL_STRATEGY_HYBRID].seconds).text,
                   !are_level && !is_mapped && mapped_s < copied_s
                       ? "; mapped memory is faster by less than such predictions are off"
                       : "");
}

/* "8 streams take 126 ms, within 5 % of the best, 124 ms": of what programs use the fewest that do.
 */
static void say_enough(const haul_overlap_row *row, char *text, size_t size)
{
    const double over = row->least_s > 0 ? row->seconds / row->least_s - 1 : 0;
    int used =
        snprintf(text, size, "%s %s %s", hl_report_say_number_of(row->streams, "stream", NULL).text,
                 row->streams == 1 ? "takes" : "take", hl_report_say_seconds(row->seconds).text);
    if (over <= 0.005)
        (void)snprintf(text + used, size - (size_t)used, ", and no other number takes less");
    else if (over <= 0.05)
        (void)snprintf(text + used, size - (size_t)used, ", within %.0f %% of the best, %s",
                       ceil(100 * over), hl_report_say_seconds(row->least_s).text);
    else
        (void)snprintf(text + used, size - (size_t)used, "; the best number of all would take %s",
                       hl_report_say_seconds(row->least_s).text);
}

static void say_streams(const haul_overlap_report *report, char *text, size_t size)
{
    char streams[160], hybrid[160];
    say_enough(&report->strategies.rows[HAUL_STRATEGY_STREAMS], streams, sizeof streams);
    say_enough(&report->strategies.rows[HAUL_STRATEGY_HYBRID], hybrid, sizeof hybrid);
    (void)snprintf(text, size, "%s; hybrid: %s", streams, hybrid);
}

/* Twice the rate moves the balance between kernel and copies, so the best strategy may change. */
static void say_next(const haul_overlap_report *report, char *text, size_t size)
{
    const haul_overlap *now = &report->strategies;
    const haul_overlap *next = &report->next;
    /* 0: there is no next generation to ask about. */
    if (!report->next_generation) {
        (void)snprintf(text, size, "not known: the link is not PCIe, or of its newest generation");
        return;
    }
    const double now_s = best_row(now)->seconds;
    const double next_s = best_row(next)->seconds;
    const bool same = now->best == next->best;
    (void)snprintf(text, size, "%s %s with %s, %.2f times as fast, %.2f times explicit there",
                   same ? "still" : "instead", haul_strategy_word(next->best),
                   hl_report_say_seconds(next_s).text, next_s > 0 ? now_s / next_s : 1, next->gain);
}

/* One row a question: the report and the page print them in this order. */
void hl_report_overlap_answer(const haul_overlap_report *report,
                              hl_report_answer answers[HL_REPORT_OVERLAP_QUESTIONS])
{
    static const struct {
        const char *key;
        const char *question;
        void (*say)(const haul_overlap_report *report, char *text, size_t size);
    } questions[HL_REPORT_OVERLAP_QUESTIONS] = {
        {"dominant", "What dominates?", say_dominant},
        {"gain", "What can overlap gain?", say_gain},
        {"memory", "Copies or mapped memory?", say_mapped},
        {"uncertainty", "How sure is that?", say_certainty},
        {"streams", "How many streams?", say_streams},
        {"next_generation", "What of the next PCIe?", say_next},
    };
    for (int i = 0; i < HL_REPORT_OVERLAP_QUESTIONS; i++) {
        answers[i].key = questions[i].key;
        answers[i].question = questions[i].question;
        questions[i].say(report, answers[i].text, sizeof answers[i].text);
    }
}
