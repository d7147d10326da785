/* What a comparison of overlap strategies says, in a sentence each. */
#ifndef HAUL_REPORT_OVERLAP_ANSWERS_H
#define HAUL_REPORT_OVERLAP_ANSWERS_H

#include "haul/report.h"

enum { HAUL_OVERLAP_QUESTIONS = 6, HAUL_ANSWER_BYTES = 800 };

typedef struct haul_answer {
    const char *key; /* in JSON */
    const char *question;
    char text[HAUL_ANSWER_BYTES];
} haul_answer;

/* Answers the questions of the introduction of van Werkhoven et al. (CCGrid 2014), in its order,
 * and how sure the choice is. */
void haul_overlap_answer(const haul_overlap_report *report,
                         haul_answer answers[HAUL_OVERLAP_QUESTIONS]);

#endif
