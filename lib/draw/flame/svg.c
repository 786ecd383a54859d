/* flame/svg.c -- writes a layout as SVG. Positions are percentages, so that the picture fits any window without its
 * script, and letters keep their size; names are only in text elements. */
#include "draw/flame/svg.h"

#include <inttypes.h>

#include "base/num.h"
#include "draw/flame/text.h"

/* Pixels. The text that fits into a label is computed for a window of WIDTH; the script computes it again for the
 * actual width. flame.js has the same ROW, BASELINE, PAD and NAME_CELLS. */
enum { WIDTH = 1200, ROW = 18, BASELINE = 13, PAD = 4, LETTER_HUNDREDTHS = 725, LEGEND_COLUMN = 190, SWATCH = 12,
       LEFT = 8, LISTED = 40, NAME_CELLS = 8, FULL = 64 << 10 };

static const char css[] = {
#include "lib/draw/flame/flame.css.h"
};
static const char js[] = {
#include "lib/draw/flame/flame.js.h"
};

struct page {
	const struct nsx_flame_tree    *tree;
	const struct nsx_flame_layout  *layout;
	const struct nsx_flame_options *options;
	struct nsx_outfile             *out;
	struct nsx_err                 *err;
	struct nsx_buf                  b, shown, text;
	int64_t                         total;
	int                             lines;        /* of text below the title */
	int                             top, height;  /* of the frames; of the picture */
};

static int
flush(struct page *p, size_t enough)
{
	if (p->b.failed || p->shown.failed || p->text.failed)
		return nsx_err_nomem(p->err, nsx_outfile_name(p->out));
	if (p->b.len < enough)
		return NSX_OK;
	int rc = nsx_outfile_write(p->out, p->b.ptr, p->b.len);
	p->b.len = 0;
	return rc;
}

/* Append the contents of p->text as XML; p->text is then empty. */
static void
put_text(struct page *p)
{
	nsx_flame_put_xml(&p->b, nsx_buf_view(&p->text));
	p->text.len = 0;
}

/* ---- above the frames */

/* Write p->text as the next line below the title. */
static void
put_line(struct page *p)
{
	nsx_buf_fmt(&p->b, "<text class=\"line\" x=\"%d\" y=\"%d\">", LEFT, 44 + 16 * p->lines++);
	put_text(p);
	nsx_buf_c(&p->b, "</text>\n");
}

static void
put_plural(struct nsx_buf *b, int64_t n, const char *what)
{
	nsx_buf_fmt(b, "%" PRId64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* Signed: +1.2 ms, -3 %. */
static void
put_change(struct page *p, int64_t n, int64_t base)
{
	/* Neither number is negative, so the difference fits. */
	int64_t change = n - base;
	const char *sign = change > 0 ? "+" : "";

	nsx_buf_c(&p->text, sign);
	nsx_flame_put_human(&p->text, change, p->options->unit);
	if (base > 0) {
		nsx_buf_fmt(&p->text, ", %s", sign);
		nsx_flame_put_percent(&p->text, change, base);
	} else if (n > 0) {
		nsx_buf_c(&p->text, ", new");
	}
}

static void
put_comparison(struct page *p)
{
	int64_t base = p->tree->total[NSX_FLAME_BASE];

	nsx_buf_c(&p->text, "base ");
	nsx_flame_put_human(&p->text, base, p->options->unit);
	nsx_buf_c(&p->text, ", change ");
	put_change(p, p->total, base);
	put_line(p);
	if (p->layout->gone) {
		put_plural(&p->text, p->layout->gone, "stack");
		nsx_buf_c(&p->text, " of the base vanished, with ");
		nsx_flame_put_human(&p->text, p->layout->gone_sum, p->options->unit);
		put_line(p);
	}
}

static void
put_facts(struct page *p)
{
	const struct nsx_flame_options *o = p->options;

	if (o->subtitle && *o->subtitle) {
		nsx_flame_put_shown(&p->text, nsx_str_c(o->subtitle));
		put_line(p);
	}
	if (p->total == 0) {
		nsx_buf_c(&p->text, "no stacks in the input");
	} else {
		nsx_flame_put_human(&p->text, p->total, o->unit);
		nsx_buf_c(&p->text, " in ");
		put_plural(&p->text, p->layout->stacks, "stack");
	}
	put_line(p);
	if (o->base)
		put_comparison(p);
	if (p->layout->dims && o->dims_libraries) {
		nsx_buf_c(&p->text, "paler: library code");
		put_line(p);
	}
	if (p->layout->narrow) {
		put_plural(&p->text, p->layout->narrow, "frame");
		nsx_buf_fmt(&p->text, " below %.4g %% of it not drawn", 100 * o->min_share);
		put_line(p);
	}
}

static void
put_swatch(struct page *p, const char *class, int shade, int x, int y)
{
	nsx_buf_fmt(&p->b, "<rect class=\"%s%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", class, shade, x, y,
	            SWATCH, SWATCH);
}

static const char *const kind_class[] = {
	[NSX_FLAME_GROUP] = "g", [NSX_FLAME_COMPUTE] = "c", [NSX_FLAME_COMM] = "m", [NSX_FLAME_COPY] = "p",
	[NSX_FLAME_IDLE] = "i", [NSX_FLAME_UNKNOWN] = "u",
};

/* The kinds that occur, with their sums. Nothing if there is only one: then colours carry no information. */
static int
put_kinds(struct page *p, int y)
{
	static const char *const names[] = { "other", "computation", "communication", "copies", "idle", "unknown" };
	int n = 0, present = 0;

	for (int k = 0; k < NSX_FLAME_KINDS; k++)
		present += p->layout->of_kind[k] > 0;
	if (present < 2)
		return 0;
	for (int k = 1; k <= NSX_FLAME_KINDS; k++) {
		int kind = k % NSX_FLAME_KINDS, x = LEFT + LEGEND_COLUMN * (n % 2), at = y + 18 * (n / 2);

		if (!p->layout->of_kind[kind])
			continue;
		if (kind == NSX_FLAME_COMM && p->layout->mark != NSX_NONE)
			put_swatch(p, "x", 0, x, at);
		else
			put_swatch(p, kind_class[kind], 2, x, at);
		nsx_buf_fmt(&p->b, "<text class=\"line\" x=\"%d\" y=\"%d\">%s ", x + SWATCH + 6, at + 10, names[kind]);
		nsx_flame_put_percent(&p->text, p->layout->of_kind[kind], p->total);
		put_text(p);
		nsx_buf_c(&p->b, "</text>\n");
		n++;
	}
	return 18 * ((n + 1) / 2);
}

static int
put_steps(struct page *p, int y)
{
	int x = LEFT + 34;

	nsx_buf_fmt(&p->b, "<text class=\"line\" x=\"%d\" y=\"%d\">less</text>", LEFT, y + 10);
	for (int step = -5; step <= 5; step++, x += SWATCH + 2)
		put_swatch(p, step < 0 ? "l" : step > 0 ? "h" : "z", step < 0 ? -step : step, x, y);
	nsx_buf_fmt(&p->b, "<text class=\"line\" x=\"%d\" y=\"%d\">more than in the base</text>\n", x + 6, y + 10);
	return 18;
}

static void
put_head(struct page *p)
{
	struct nsx_str title = nsx_str_c(p->options->title ? p->options->title : "Flame graph");

	nsx_flame_put_shown(&p->shown, title);
	nsx_buf_c(&p->b, "<title>");
	nsx_flame_put_xml(&p->b, nsx_buf_view(&p->shown));
	nsx_buf_fmt(&p->b, "</title>\n<style><![CDATA[\n%.*s]]></style>\n", (int)sizeof css, css);
	nsx_buf_c(&p->b, "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n<g class=\"head\">\n");
	nsx_buf_fmt(&p->b, "<text class=\"name\" x=\"%d\" y=\"24\">", LEFT);
	nsx_flame_put_xml(&p->b, nsx_buf_view(&p->shown));
	nsx_buf_c(&p->b, "</text>\n");
	put_facts(p);
	p->top = 44 + 16 * p->lines - 4;
	p->top += p->options->base ? put_steps(p, p->top) : put_kinds(p, p->top);
	p->top += 8;
	p->height = p->top + ROW * ((int)p->layout->rows + 1) + 10;
	nsx_buf_c(&p->b, "</g>\n");
}

/* ---- frames */

/* n of total in percent, with at most four digits after the point. */
static void
put_place(struct nsx_buf *b, int64_t n, int64_t total)
{
	uint64_t parts = (uint64_t)(((nsx_u128)n * 2000000 + (nsx_u128)total) / ((nsx_u128)total * 2));
	unsigned rest = (unsigned)(parts % 10000), digits = 4;

	nsx_buf_fmt(b, "%" PRIu64, parts / 10000);
	for (; digits && rest % 10 == 0; digits--)
		rest /= 10;
	if (digits)
		nsx_buf_fmt(b, ".%0*u", (int)digits, rest);
	nsx_buf_char(b, '%');
}

/* Write the shown name of the frame to p->shown. */
static void
show_name(struct page *p, const struct nsx_flame_frame *f)
{
	p->shown.len = 0;
	if (f->node) {
		nsx_flame_put_shown(&p->shown, nsx_intern_str(&p->tree->names, p->tree->nodes.p[f->node].name));
		return;
	}
	nsx_buf_c(&p->shown, "all: ");
	nsx_flame_put_human(&p->shown, p->total, p->options->unit);
}

/* For a frame that represents several, write to p->text the names of all, those nearer to the root first. */
static void
put_run(struct page *p, size_t i)
{
	const struct nsx_flame_frame *f = p->layout->frames.p;
	uint32_t n = f[i].run;
	int listed = 0;

	if (n < 2)
		return;
	nsx_buf_fmt(&p->text, "\n%" PRIu32 " frames in this row:", n);
	for (; f[i].joined; i--)
		;
	for (uint32_t k = 0; k < n && listed < LISTED; k++, listed++) {
		nsx_buf_c(&p->text, "\n  ");
		nsx_flame_put_shown(&p->text, nsx_intern_str(&p->tree->names, p->tree->nodes.p[f[i + k].node].name));
	}
	if ((uint32_t)listed < n)
		nsx_buf_fmt(&p->text, "\n  ... and %" PRIu32 " more", n - (uint32_t)listed);
}

/* The name of frame i, its value, and its value in the base. */
static void
put_title(struct page *p, size_t i, const struct nsx_flame_node *n)
{
	enum nsx_flame_unit unit = p->options->unit;

	nsx_buf_c(&p->b, "<title>");
	nsx_flame_put_xml(&p->b, nsx_buf_view(&p->shown));
	nsx_buf_char(&p->text, '\n');
	if (unit != NSX_FLAME_COUNT) {
		nsx_flame_put_human(&p->text, n->total[NSX_FLAME_NEW], unit);
		nsx_buf_c(&p->text, " (");
	}
	nsx_flame_put_exact(&p->text, n->total[NSX_FLAME_NEW], unit);
	nsx_buf_c(&p->text, unit != NSX_FLAME_COUNT ? "), " : ", ");
	nsx_flame_put_percent(&p->text, n->total[NSX_FLAME_NEW], p->total);
	if (p->options->base) {
		nsx_buf_c(&p->text, "\nbase ");
		nsx_flame_put_exact(&p->text, n->total[NSX_FLAME_BASE], unit);
		nsx_buf_c(&p->text, ", change ");
		put_change(p, n->total[NSX_FLAME_NEW], n->total[NSX_FLAME_BASE]);
	}
	put_run(p, i);
	put_text(p);
	nsx_buf_c(&p->b, "</title>");
}

static void
put_class(struct page *p, const struct nsx_flame_frame *f, const struct nsx_flame_node *n)
{
	if (p->options->base) {
		int step = nsx_flame_step(n->total[NSX_FLAME_NEW], n->total[NSX_FLAME_BASE]);
		nsx_buf_fmt(&p->b, "%c%d", step < 0 ? 'l' : step > 0 ? 'h' : 'z', step < 0 ? -step : step);
		return;
	}
	if (n->name == p->layout->mark && f->node) {
		nsx_buf_c(&p->b, "x0");
		return;
	}
	nsx_buf_fmt(&p->b, "%s%u", kind_class[p->layout->kinds[f->node]],
	            f->node ? nsx_flame_shade(nsx_intern_str(&p->tree->names, n->name)) : 0);
}

/* Write to p->text the part of p->shown that fits into a frame of that width; before it, if there is space, the number
 * of further frames in the row. */
static void
put_label(struct page *p, const struct nsx_flame_frame *f, int64_t hundredths)
{
	size_t cells = hundredths > 200 * PAD ? (size_t)((hundredths - 200 * PAD) / LETTER_HUNDREDTHS) : 0;

	if (f->run == 0)
		return;
	if (f->run > 1)
		nsx_buf_fmt(&p->text, "+%" PRIu32 " ", f->run - 1);
	if (cells < p->text.len + NAME_CELLS)
		p->text.len = 0;
	nsx_flame_put_label(&p->text, nsx_buf_view(&p->shown), cells - p->text.len);
}

static void
put_frame(struct page *p, size_t i)
{
	const struct nsx_flame_frame *f = &p->layout->frames.p[i];
	const struct nsx_flame_node *n = &p->tree->nodes.p[f->node];
	int64_t size = n->total[NSX_FLAME_NEW], total = p->total ? p->total : 1;
	int64_t hundredths = f->node ? (int64_t)((nsx_u128)size * WIDTH * 100 / (nsx_u128)total) : WIDTH * 100;
	int y = p->top + ROW * (int)(p->options->icicle ? f->row : p->layout->rows - f->row);

	show_name(p, f);
	nsx_buf_c(&p->b, "<g class=\"f ");
	put_class(p, f, n);
	nsx_buf_fmt(&p->b, "%s%s%s\" data-d=\"%" PRIu32 "\" data-o=\"%" PRId64 "\" data-v=\"%" PRId64 "\"",
	            hundredths < 200 ? " n" : "", f->dim ? " d" : "", f->run ? "" : " k", f->depth, f->offset, size);
	if (f->run > 1)
		nsx_buf_fmt(&p->b, " data-n=\"%" PRIu32 "\"", f->run);
	nsx_buf_c(&p->b, f->joined ? " data-j=\"1\">" : ">");
	put_title(p, i, n);
	nsx_buf_c(&p->b, "<rect x=\"");
	put_place(&p->b, f->offset, total);
	nsx_buf_fmt(&p->b, "\" y=\"%d\" width=\"", y);
	put_place(&p->b, f->node ? size : total, total);
	nsx_buf_fmt(&p->b, "\" height=\"%d\"/>", ROW - 1);
	put_label(p, f, hundredths);
	if (p->text.len) {
		nsx_buf_c(&p->b, "<text x=\"");
		put_place(&p->b, f->offset, total);
		nsx_buf_fmt(&p->b, "\" dx=\"%d\" y=\"%d\">", PAD, y + BASELINE);
		put_text(p);
		nsx_buf_c(&p->b, "</text>");
	}
	nsx_buf_c(&p->b, "</g>\n");
}

static int
put_frames(struct page *p)
{
	int rc = NSX_OK;

	nsx_buf_c(&p->b, "<g class=\"frames\">\n");
	for (size_t i = 0; i < p->layout->frames.n && rc == NSX_OK; i++) {
		put_frame(p, i);
		rc = flush(p, FULL);
	}
	nsx_buf_c(&p->b, "</g>\n");
	return rc;
}

/* The script is last, so that it finds all elements. */
static int
put_page(struct page *p)
{
	static const char *const units[] = { [NSX_FLAME_NS] = "ns", [NSX_FLAME_COUNT] = "count", [NSX_FLAME_BYTES] =
	                                     "bytes" };
	struct nsx_buf head = { 0 };

	if (p->layout->depth > (INT32_MAX - 4096) / ROW)
		return nsx_err_set(p->err, "%s: stacks too deep to draw", nsx_outfile_name(p->out));
	put_head(p);
	head = p->b;
	p->b = (struct nsx_buf){ 0 };
	nsx_buf_fmt(&p->b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"%d\" height=\"%d\" data-unit=\"%s\" "
		"data-top=\"%d\" data-narrow=\"%" PRId64 "\"%s%s>\n",
	            WIDTH, p->height, units[p->options->unit], p->top, p->layout->narrow_sum,
	            p->options->icicle ? " data-icicle=\"1\"" : "", p->layout->runs ? " data-runs=\"1\"" : "");
	nsx_buf_str(&p->b, nsx_buf_view(&head));
	p->b.failed |= head.failed;
	nsx_buf_free(&head);
	if (put_frames(p) != NSX_OK)
		return NSX_ERR;
	nsx_buf_fmt(&p->b, "<script><![CDATA[\n%.*s]]></script>\n</svg>\n", (int)sizeof js, js);
	return flush(p, 0);
}

int
nsx_flame_write(const struct nsx_flame_tree *t, const struct nsx_flame_layout *l,
                const struct nsx_flame_options *options,
                struct nsx_outfile *out, struct nsx_err *err)
{
	struct page p = { .tree = t, .layout = l, .options = options, .out = out, .err = err,
	                  .total = t->total[NSX_FLAME_NEW] };
	int rc = put_page(&p);

	nsx_buf_free(&p.b);
	nsx_buf_free(&p.shown);
	nsx_buf_free(&p.text);
	return rc;
}
