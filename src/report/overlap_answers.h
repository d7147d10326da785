/* Answers of a comparison of overlap strategies, in a sentence each. */
#ifndef HAUL_REPORT_OVERLAP_ANSWERS_H
#define HAUL_REPORT_OVERLAP_ANSWERS_H

#include "haul/report.h"

enum { HL_REPORT_OVERLAP_QUESTIONS = 6, HL_REPORT_ANSWER_BYTES = 800 };

typedef struct hl_report_answer {
    const char *key; /* in JSON */
    const char *question;
    char text[HL_REPORT_ANSWER_BYTES];
} hl_report_answer;

/* Answers the questions of the introduction of van Werkhoven et al. (CCGrid 2014), in its order,
 * and how sure the choice is. */
void hl_report_overlap_answer(const haul_overlap_report *report,
                              hl_report_answer answers[HL_REPORT_OVERLAP_QUESTIONS]);

#endif
