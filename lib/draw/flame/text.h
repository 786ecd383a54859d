/* flame/text.h -- names and numbers in the form of an SVG; private to lib/report. */
#ifndef NSX_DRAW_FLAME_TEXT_H
#define NSX_DRAW_FLAME_TEXT_H

#include <stdint.h>

#include "base/str.h"
#include "draw/flame.h"

/* Append s as it is shown: control characters, characters that change the direction of text, and bytes that are not
 * characters of XML as \xHH; "[unnamed]" if it is empty. The result in b is not escaped for markup. */
void nsx_flame_put_shown(struct nsx_buf *b, struct nsx_str s);

/* Append text that nsx_flame_put_shown wrote as XML, for use in an element or an attribute. */
void nsx_flame_put_xml(struct nsx_buf *b, struct nsx_str shown);

/* Append as much of a shown name as fits into `cells` letters: for a path, its last components; for FILE:LINE[FUNCTION]
 * that does not fit, FILE:LINE or the end of that. flame.js does the same. Nothing if not even two letters and an
 * ellipsis fit. */
void nsx_flame_put_label(struct nsx_buf *b, struct nsx_str shown, size_t cells);

/* Append n of the unit: 1.234 ms, 1.234 MB, 1234567. */
void nsx_flame_put_human(struct nsx_buf *b, int64_t n, enum nsx_flame_unit unit);

/* Append n of the unit exactly: 1234567 ns. */
void nsx_flame_put_exact(struct nsx_buf *b, int64_t n, enum nsx_flame_unit unit);

/* Append n as a share of total in percent, two digits after the point, rounded half up: 12.34 %; "<0.01 %" if that
 * would be 0 but n is not, "more than 9999 %" if it is more than that. */
void nsx_flame_put_percent(struct nsx_buf *b, int64_t n, int64_t total);

#endif
