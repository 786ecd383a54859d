/* damage.c -- damages copies of valid exports and extracts each twice, from its pages and through SQLite, which does not check them: both give the same records, or at least one refuses.
 *
 *   damage [-n CASES] [-s SEED] [-f FIRST] [-k DIR] [-v] EXPORT...
 *
 * "Same" is what both give of the sound export, "other values" what both give, with as many records or more, "fewer" with fewer: a
 * changed value can do that. "Of what passes integrity_check" nsysx refuses alone what SQLite's own check has nothing
 * against. -f begins with another case than the first, -k keeps exports that were read differently (with -v those that are looked
 * at closer, too), -v names each case. Prints a table: for each
 * kind of damage how many cases ended how. Case i of a seed is always the same. The status is 1 if any differs. */
#define _GNU_SOURCE   /* memfd_create, by bytes.h */
#include "../fuzz/bytes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "extract/extract.h"
#include "base/num.h"

enum outcome { SAME, OTHER_VALUES, FEWER, BOTH_REFUSE, WE_REFUSE, STRICTER, SQLITE_REFUSES, DIFFER, OUTCOMES };
static const char *const outcomes[OUTCOMES] = {
	"same", "same, other values", "same, fewer", "both refuse", "nsysx refuses alone", "of what passes integrity_check",
	"SQLite refuses alone", "DIFFER"
};

struct image { unsigned char *p; size_t n; uint32_t page, usable; uint32_t *pages[3]; size_t npages[3]; };
enum { LEAVES, INTERIORS, OTHERS };

static uint64_t state;

static uint32_t
rnd(uint64_t n)
{
	/* splitmix64, a public-domain generator by Sebastiano Vigna. */
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) % (n ? n : 1));
}

static uint32_t
be16(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static void
put16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

static unsigned char *
page_of(struct image *x, uint32_t no)
{
	return x->p + (size_t)(no - 1) * x->page;
}

static uint32_t
count_of(const struct image *x)
{
	return (uint32_t)(x->n / x->page);
}

/* A page of that kind; any page if there is none. */
static uint32_t
pick(const struct image *x, int kind)
{
	return x->npages[kind] ? x->pages[kind][rnd(x->npages[kind])] : 1 + rnd(count_of(x));
}

/* The header of a b-tree page. */
static unsigned char *
head_of(struct image *x, uint32_t no)
{
	return page_of(x, no) + (no == 1 ? 100 : 0);
}

/* Something near v, or anything. */
static uint32_t
other(uint32_t v, uint32_t limit)
{
	switch (rnd(4)) {
	case 0:  return v + 1 + rnd(8);
	case 1:  return v - 1 - rnd(8);
	case 2:  return v ^ 1u << rnd(16);
	default: return rnd(limit);
	}
}

/* ---- kinds of damage */

static void
one_byte(struct image *x)
{
	x->p[rnd(x->n)] = (unsigned char)rnd(256);
}

static void
one_bit(struct image *x)
{
	x->p[rnd(x->n)] ^= (unsigned char)(1u << rnd(8));
}

static void
some_bytes(struct image *x)
{
	for (uint32_t n = 2 + rnd(7); n > 0; n--)
		one_byte(x);
}

static void
burst(struct image *x)
{
	uint32_t n = 16 + rnd(500), at = rnd(x->n);

	for (; n > 0 && at < x->n; n--)
		x->p[at++] = (unsigned char)rnd(256);
}

static void
file_header(struct image *x)
{
	x->p[rnd(100)] = (unsigned char)rnd(256);
}

static void
schema(struct image *x)
{
	x->p[100 + rnd(x->page - 100)] = (unsigned char)rnd(256);
}

static void
page_header(struct image *x)
{
	head_of(x, pick(x, rnd(3) ? LEAVES : INTERIORS))[rnd(12)] = (unsigned char)rnd(256);
}

static void
cell_count(struct image *x)
{
	unsigned char *h = head_of(x, pick(x, rnd(3) ? LEAVES : INTERIORS));

	put16(h + 3, rnd(2) ? rnd(be16(h + 3)) : other(be16(h + 3), 200));
}

/* The offset of a cell in the offsets of a page; NULL: it has none. */
static unsigned char *
cell_at(struct image *x, uint32_t no)
{
	unsigned char *h = head_of(x, no);
	uint32_t n = be16(h + 3), array = (no == 1 ? 100 : 0) + (h[0] & 8 ? 8 : 12);

	return n && array + 2 * n <= x->page ? page_of(x, no) + array + 2 * rnd(n) : NULL;
}

static void
cell_offset(struct image *x)
{
	unsigned char *at = cell_at(x, pick(x, rnd(3) ? LEAVES : INTERIORS));

	if (at)
		put16(at, other(be16(at), x->page));
}

/* Two cells of a page are swapped, or one occurs twice. */
static void
cell_order(struct image *x)
{
	uint32_t no = pick(x, LEAVES);
	unsigned char *a = cell_at(x, no), *b = cell_at(x, no);

	if (!a || !b)
		return;
	uint32_t v = be16(a);
	put16(a, be16(b));
	if (rnd(2))
		put16(b, v);
}

/* The first bytes of a cell: of a leaf's length and rowid, of an interior page's child and key; then types of values. */
static void
cell_begin(struct image *x)
{
	uint32_t no = pick(x, rnd(3) ? LEAVES : INTERIORS);
	const unsigned char *at = cell_at(x, no);

	if (at && be16(at) + 24 < x->page)
		page_of(x, no)[be16(at) + rnd(rnd(2) ? 5 : 24)] = (unsigned char)rnd(256);
}

static void
free_space(struct image *x)
{
	unsigned char *h = head_of(x, pick(x, rnd(3) ? LEAVES : INTERIORS));

	switch (rnd(3)) {
	case 0:  h[7] = (unsigned char)(rnd(2) ? h[7] + 1 + rnd(3) : rnd(256)); break;
	case 1:  put16(h + 1, other(be16(h + 1), x->page)); break;
	default: put16(h + 5, other(be16(h + 5), x->page)); break;
	}
}

static void
swap_pages(struct image *x)
{
	unsigned char *a = page_of(x, pick(x, rnd(3) ? LEAVES : OTHERS)), *b = page_of(x, pick(x, rnd(3) ? LEAVES : (int)rnd(3)));

	for (uint32_t i = 0; i < x->page; i++) {
		unsigned char c = a[i];
		a[i] = b[i];
		b[i] = c;
	}
}

static void
copy_page(struct image *x)
{
	memmove(page_of(x, pick(x, (int)rnd(3))), page_of(x, pick(x, (int)rnd(3))), x->page);
}

static void
zero_page(struct image *x)
{
	memset(page_of(x, rnd(2) ? pick(x, (int)rnd(3)) : 1 + rnd(count_of(x))), 0, x->page);
}

/* A part of a page, as sectors are lost. */
static void
zero_sector(struct image *x)
{
	size_t at = (size_t)rnd(x->n / 512) * 512;

	memset(x->p + at, rnd(2) ? 0 : 0xff, x->n - at < 512 ? x->n - at : 512);
}

static void
cut(struct image *x)
{
	x->n = rnd(3) ? (size_t)(1 + rnd(count_of(x) - 1)) * x->page : rnd(x->n);
}

/* The file loses pages, and its header agrees. */
static void
cut_and_count(struct image *x)
{
	uint32_t n = 1 + rnd(count_of(x) - 1);

	x->n = (size_t)n * x->page;
	put16(x->p + 28, n >> 16);
	put16(x->p + 30, n & 0xffff);
}

/* The next page in a chain of overflow pages. */
static void
chain(struct image *x)
{
	put16(page_of(x, pick(x, OTHERS)) + 2, rnd(2) ? 0 : rnd(count_of(x) + 2));
}

static void
child(struct image *x)
{
	uint32_t no = pick(x, INTERIORS);
	const unsigned char *at = cell_at(x, no);
	unsigned char *p = at && rnd(4) && be16(at) + 4 < x->page ? page_of(x, no) + be16(at) : head_of(x, no) + 8;

	put16(p + 2, other(be16(p + 2), count_of(x)));
}

static void
nothing(struct image *x)
{
	(void)x;   /* of the file; a log is beside it */
}

static const struct { const char *name; void (*apply)(struct image *x); const char *log; } kinds[] = {
	{ "a byte", one_byte, NULL }, { "a bit", one_bit, NULL }, { "two to eight bytes", some_bytes, NULL }, { "a burst of bytes", burst, NULL },
	{ "the file's header", file_header, NULL }, { "the table of tables", schema, NULL }, { "a page's header", page_header, NULL },
	{ "a count of cells", cell_count, NULL }, { "a cell's offset", cell_offset, NULL }, { "the order of cells", cell_order, NULL },
	{ "a cell's length, rowid, types", cell_begin, NULL }, { "free blocks, fragments", free_space, NULL },
	{ "two pages swapped", swap_pages, NULL }, { "a page twice", copy_page, NULL }, { "a page of zeros", zero_page, NULL },
	{ "a sector lost", zero_sector, NULL }, { "a cut", cut, NULL }, { "a cut that the header agrees to", cut_and_count, NULL },
	{ "a chain of overflow pages", chain, NULL }, { "a child of a page", child, NULL },
	{ "a stale log", nothing, "-wal" }, { "a stale journal", nothing, "-journal" }
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- reading */

static void
read_image(const char *path, struct image *x)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	fuzz_must(fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= 512);
	x->n = (size_t)st.st_size;
	x->p = malloc(x->n);
	fuzz_must(x->p && read(fd, x->p, x->n) == (ssize_t)x->n);
	close(fd);
	x->page = be16(x->p + 16) == 1 ? 65536 : be16(x->p + 16);
	for (int i = 0; i < 3; i++)
		fuzz_must((x->pages[i] = calloc(count_of(x), sizeof **x->pages)) != NULL);
	for (uint32_t no = 1; no <= count_of(x); no++) {
		int type = head_of(x, no)[0], kind = type == 0x0D ? LEAVES : type == 0x05 ? INTERIORS : OTHERS;
		x->pages[kind][x->npages[kind]++] = no;
	}
}

/* Extract: the stream's bytes, or NULL where it was refused. */
static char *
extract(const char *path, bool alone, size_t *size)
{
	static struct fuzz_file stream;
	struct nsx_extract_opts opts = { .ranges = NSX_RANGES_ALL, .ops = true, .from = INT64_MIN, .to = INT64_MAX, .jobs = 1,
	                                 .sqlite_alone = alone };
	struct nsx_extract_input input = { path, NULL };
	struct nsx_err err = { "" }, write_err = { "" };
	struct nsx_diags diags = { 0 };
	char *bytes = NULL;

	fuzz_file_clear(&stream);
	struct nsx_writer *w = nsx_writer_fd(stream.fd, "stream", false, 0, &write_err);
	if (nsx_extract(&input, 1, &opts, w, &diags, &err) == NSX_OK) {
		fuzz_must(nsx_writer_finish(w) == NSX_OK);
		*size = (size_t)lseek(stream.fd, 0, SEEK_END);
		bytes = malloc(*size + 1);
		fuzz_must(bytes && pread(stream.fd, bytes, *size, 0) == (ssize_t)*size);
	} else {
		fuzz_must(err.msg[0] && !write_err.msg[0]);
	}
	nsx_writer_free(w);
	nsx_diags_free(&diags);
	return bytes;
}

static void
put_file(const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	fuzz_must(fd >= 0 && write(fd, p, n) == (ssize_t)n && close(fd) == 0);
}

static size_t
lines_of(const char *p, size_t n)
{
	size_t lines = 0;

	for (const char *end = p + n; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
		lines++;
	return lines;
}

/* The result of SQLite's integrity check of a file. */
static bool
passes(const char *path)
{
	sqlite3 *sql = NULL;
	sqlite3_stmt *s = NULL;
	bool good = sqlite3_open_v2(path, &sql, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
	            && sqlite3_prepare_v2(sql, "PRAGMA integrity_check(1)", -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW
	            && strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;

	sqlite3_finalize(s);
	sqlite3_close(sql);
	return good;
}

static enum outcome
hold(const char *path, const char *sound, size_t nsound)
{
	size_t na = 0, nb = 0;
	char *a = extract(path, false, &na), *b = extract(path, true, &nb);
	bool same = a && b && na == nb && memcmp(a, b, na) == 0;
	enum outcome end = !a && !b ? BOTH_REFUSE : !a ? passes(path) ? STRICTER : WE_REFUSE : !b ? SQLITE_REFUSES : !same ? DIFFER
	                   : na == nsound && memcmp(a, sound, na) == 0 ? SAME
	                   : lines_of(a, na) < lines_of(sound, nsound) ? FEWER : OTHER_VALUES;

	free(a);
	free(b);
	return end;
}

int
main(int argc, char **argv)
{
	static uint64_t table[KINDS][OUTCOMES];
	int64_t n = 300, seed = 1, from = 0;
	const char *keep = NULL, *tmp = getenv("TMPDIR");
	char folder[200], path[256], log[300], where[400];
	bool verbose = false;
	uint64_t all[OUTCOMES] = { 0 };

	for (int c; (c = getopt(argc, argv, "n:s:f:k:v")) != -1; )
		switch (c) {
		case 'n': n = strtoll(optarg, NULL, 10); break;
		case 's': seed = strtoll(optarg, NULL, 10); break;
		case 'f': from = strtoll(optarg, NULL, 10); break;
		case 'k': keep = optarg; break;
		case 'v': verbose = true; break;
		default:  return 2;
		}
	if (optind == argc)
		return 2;
	snprintf(folder, sizeof folder, "%s/damage-XXXXXX", tmp ? tmp : "/tmp");
	fuzz_must(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/x.sqlite", folder);
	int nimages = argc - optind;
	struct image *images = calloc((size_t)nimages, sizeof *images);
	struct { char *p; size_t n; } *sound = calloc((size_t)nimages, sizeof *sound);
	fuzz_must(images && sound);
	for (int i = 0; i < nimages; i++) {
		read_image(argv[optind + i], &images[i]);
		put_file(path, images[i].p, images[i].n);
		sound[i].p = extract(path, false, &sound[i].n);
		fuzz_must(sound[i].p && hold(path, sound[i].p, sound[i].n) == SAME);
	}
	for (int64_t i = from; i < n; i++) {
		state = (uint64_t)seed * 1000003 + (uint64_t)i;
		int which = (int)rnd((uint64_t)nimages), kind = rnd(40) ? (int)rnd(KINDS - 2) : KINDS - 2 + (int)rnd(2);
		struct image x = images[which];

		fuzz_must((x.p = malloc(x.n)) != NULL);
		memcpy(x.p, images[which].p, x.n);
		kinds[kind].apply(&x);
		put_file(path, x.p, x.n);
		if (kinds[kind].log) {
			snprintf(log, sizeof log, "%s%s", path, kinds[kind].log);
			put_file(log, images[which].p, 100 + rnd(5000));
		}
		if (verbose)
			fprintf(stderr, "case %" PRId64 ": %s: %s\n", i, argv[optind + which], kinds[kind].name);
		alarm(60);
		enum outcome end = hold(path, sound[which].p, sound[which].n);
		if (kinds[kind].log)
			unlink(log);
		table[kind][end]++;
		if (verbose)
			fprintf(stderr, "%s\n", outcomes[end]);
		if (end == DIFFER || (verbose && keep && (end == FEWER || end == STRICTER || end == SQLITE_REFUSES))) {
			printf("# case %" PRId64 " of seed %" PRId64 ": %s: %s\n", i, seed, argv[optind + which], kinds[kind].name);
			snprintf(where, sizeof where, "%s/%" PRId64 ".sqlite", keep ? keep : "", i);
			if (keep)
				put_file(where, x.p, x.n);
		}
		free(x.p);
	}
	for (int i = 0; i < nimages; i++) {
		free(images[i].p);
		for (int k = 0; k < 3; k++)
			free(images[i].pages[k]);
		free(sound[i].p);
	}
	free(images);
	free(sound);
	unlink(path);
	rmdir(folder);
	printf("damage\tcases");
	for (int e = 0; e < OUTCOMES; e++)
		printf("\t%s", outcomes[e]);
	putchar('\n');
	for (int k = 0; k <= KINDS; k++) {
		const uint64_t *row = k < KINDS ? table[k] : all;
		uint64_t sum = 0;
		for (int e = 0; e < OUTCOMES; e++) {
			sum += row[e];
			all[e] += k < KINDS ? row[e] : 0;
		}
		printf("%s\t%" PRIu64, k < KINDS ? kinds[k].name : "all", sum);
		for (int e = 0; e < OUTCOMES; e++)
			printf("\t%" PRIu64, row[e]);
		putchar('\n');
	}
	return all[DIFFER] != 0;
}
