/* One GPU has many names: "Tesla V100-SXM2-16GB", "NVIDIA V100-SXM2-16GB", "V100-SXM2". Only
 * letters and digits count, without the maker's words. */
#include "machine/gpu_names.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Newer drivers print "NVIDIA A100-SXM4-40GB" where older ones print "A100-SXM4-40GB". */
static const char *without_maker(const char *name)
{
    static const char *const words[] = {"NVIDIA ", "AMD ", "Tesla ", "GeForce ", "Instinct "};
    /* One pass is enough, as the words stand in the order in which names have them. */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((name[0] | 0x20) == (words[i][0] | 0x20) && /* most names stop here */
            !strncasecmp(name, words[i], strlen(words[i])))
            name += strlen(words[i]);
    return name;
}

/* Some drivers name the board by its number where others name the GPU on it: an A100 of 40 GB on
 * the module PG509 is assumed to have the processors, clocks and memory of the one that the
 * catalogue has: no source was found. */
static const char *of_board(const char *name)
{
    static const struct {
        const char *board, *gpu;
    } boards[] = {{"A100-PG509-200", "A100-PCIE-40GB"}};
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++)
        if (!strcasecmp(name, boards[i].board))
            return boards[i].gpu;
    return name;
}

static const char *next_sign(const char *text)
{
    while (*text && !isalnum((unsigned char)*text))
        text++;
    return text;
}

/* Where `text` goes on behind the letters and digits of `part`; NULL where it does not begin with
 * them. */
static const char *behind(const char *text, const char *part)
{
    for (part = next_sign(part); *part; part = next_sign(part + 1)) {
        /* Signs between letters are passed over on both sides: "A100 PCIe" is "A100-PCIE". */
        text = next_sign(text);
        if (tolower((unsigned char)*text) != tolower((unsigned char)*part))
            return NULL;
        text++;
    }
    return text;
}

bool hl_machine_gpu_names_same(const char *a, const char *b)
{
    if (!a || !b)
        return false;
    if (!strcmp(a, b))
        return true;
    const char *rest = behind(of_board(without_maker(a)), of_board(without_maker(b)));
    return rest && !*next_sign(rest);
}

bool hl_machine_gpu_same(const haul_gpu *a, const haul_gpu *b)
{
    return hl_machine_gpu_names_same(a->name, b->name);
}

/* Whether what stands behind a GPU's name makes it another GPU: a further digit, or a word that
 * makers tell variants by. "K40c" and "V100-SXM2" are GPUs of that name. */
static bool is_variant(const char *rest, char last)
{
    static const char *const words[] = {"ti", "super", "black", "x", "xm",
                                        "xp", "z",     "s",     "d", "ada"};
    /* "V100" must not be found in "V1000", nor "P4" in "P40". */
    if (isdigit((unsigned char)last) && isdigit((unsigned char)*rest))
        return true;
    rest = next_sign(rest);
    size_t length = 0;
    while (isalpha((unsigned char)rest[length]))
        length++;
    /* A word that a digit follows is a form of the board ("SXM2", "PCIE4"), not a variant. */
    if (isdigit((unsigned char)rest[length]))
        return false; /* "SXM2" */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !strncasecmp(rest, words[i], length))
            return true;
    return false;
}

static bool holds(const char *whole, const char *part)
{
    for (; *whole; whole++) {
        const char *rest = behind(whole, part);
        /* `rest > whole` refuses an empty part, which would be found anywhere. */
        if (rest && rest > whole && !is_variant(rest, rest[-1]))
            return true;
    }
    return false;
}

static size_t letters_of(const char *text)
{
    size_t count = 0;
    for (text = next_sign(text); *text; text = next_sign(text + 1))
        count++;
    return count;
}

size_t hl_machine_gpu_names_likeness(const char *a, const char *b)
{
    /* Equal names are above any number of letters that a mere part could have. */
    if (hl_machine_gpu_names_same(a, b))
        return SIZE_MAX;
    a = of_board(without_maker(a));
    b = of_board(without_maker(b));
    /* The longer the part that both share, the surer: "A100-SXM4" counts for more than "A100". */
    return holds(a, b) ? letters_of(b) : holds(b, a) ? letters_of(a) : 0;
}

typedef struct name_word {
    const char *text;
    size_t length;
} name_word;

static name_word next_word(const char **rest)
{
    name_word word = {next_sign(*rest), 0};
    while (isalnum((unsigned char)word.text[word.length]))
        word.length++;
    *rest = word.text + word.length;
    return word;
}

static bool begins(name_word word, const char *start)
{
    return word.length >= strlen(start) && !strncasecmp(word.text, start, strlen(start));
}

/* The board's words in a name, beside the GPU's own. */
typedef struct board_words {
    enum { FORM_UNKNOWN, FORM_PCIE, FORM_SXM } form;
    unsigned long gigabytes;
} board_words;

/* Takes a word of the board's form or memory. */
static bool takes_board_word(board_words *board, name_word word)
{
    char *end = NULL;
    const unsigned long number = strtoul(word.text, &end, 10);
    if (end > word.text && end + 2 == word.text + word.length && !strncasecmp(end, "gb", 2))
        board->gigabytes = number;
    /* NVL is a pair of PCIe boards; drivers call an H100 SXM5 by its memory, "H100 80GB HBM3". */
    else if (begins(word, "pcie") || begins(word, "nvl"))
        board->form = FORM_PCIE;
    else if (begins(word, "sxm") || begins(word, "hbm"))
        board->form = FORM_SXM;
    else /* a virtual function of an Instinct */
        return word.length == 2 && begins(word, "vf");
    return true;
}

static name_word next_own_word(const char **rest, board_words *board)
{
    name_word word = next_word(rest);
    while (word.length > 0 && takes_board_word(board, word))
        word = next_word(rest);
    return word;
}

unsigned hl_machine_gpu_names_family(const char *a, const char *b)
{
    board_words of_a = {FORM_UNKNOWN, 0}, of_b = {FORM_UNKNOWN, 0};
    if (!a || !b)
        return 0;
    a = of_board(without_maker(a));
    b = of_board(without_maker(b));
    for (size_t words = 0;; words++) {
        const name_word one = next_own_word(&a, &of_a), other = next_own_word(&b, &of_b);
        if (one.length != other.length || strncasecmp(one.text, other.text, one.length) != 0 ||
            (!one.length && !words))
            return 0;
        if (!one.length)
            break;
    }
    /* The form decides the links and clocks: it counts for more than the memory. */
    const bool same_form = of_a.form && of_a.form == of_b.form;
    const bool same_memory = of_a.gigabytes && of_a.gigabytes == of_b.gigabytes;
    return 1U + (same_form ? 2U : 0U) + (same_memory ? 1U : 0U);
}
