/* screen.h -- the first screen as it is written; private to screen*.c. screen.c has the order of
 * its parts. */
#ifndef NSX_TABLE_DIAGNOSE_SCREEN_H
#define NSX_TABLE_DIAGNOSE_SCREEN_H

#include "table/diagnose/diagnose.h"

/* Columns of the narrowest screen that text is made for. */
enum { NSX_SCREEN_NARROWEST = 20 };

struct nsx_screen { struct nsx_look_at *a; struct nsx_buf *to; bool markdown; size_t width; };

/* Names are from profiles: text appended after `from` must be UTF-8 and not control a terminal. */
void nsx_screen_tame(struct nsx_screen *s, size_t from);
/* Text in lines that fit the screen, broken between words, each indented; a word is never broken. In Markdown one line.
 */
void nsx_screen_lines(struct nsx_screen *s, struct nsx_str text, int indent);

/* The same of a formatted text. */
void nsx_screen_say(struct nsx_screen *s, int indent, const char *fmt, ...) NSX_PRINTF(3, 4);
/* The end of a paragraph. */
void nsx_screen_end(struct nsx_screen *s);

/* The findings with the largest gains, each with what to do first and a command. */
void nsx_screen_findings(struct nsx_screen *s);
/* What sets the step, and how to see it. */
void nsx_screen_path(struct nsx_screen *s);

#endif
