/* large.c -- see large.h. */
#define _DEFAULT_SOURCE   /* madvise */
#include "base/large.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/worker.h"

enum { GRAIN = 1 << 20 };    /* bytes by which files grow, at least: an eighth of what they have */

/* ---- ahead ---- */

/* The kernel makes a page of a file zero when it is touched first, and maps it, which takes more time than to fill it.
 * Here it does so on another processor: parts of files, of which each has a descriptor of its own, are read before they
 * are used, the oldest first; before them what is used next is mapped, too. */
enum { WAITING = 64, NEXT = 16, AT_ONCE = 4 << 20 };
struct nsx_large_ahead {
	struct nsx_worker *worker;
	pthread_mutex_t lock;
	struct part { int fd, of; off_t from, to; } parts[WAITING];   /* of: the descriptor of the array */
	struct stretch { char *p; size_t bytes; } next[NEXT];
	size_t      n, nnext;
	bool        works;           /* the thread has not seen yet that there are none */
	atomic_bool over;
};

/* Which may be gone, and other memory be there: its pages come, and its contents stay. */
static void
map_stretch(struct stretch s)
{
#ifdef MADV_POPULATE_WRITE
	madvise(s.p, s.bytes, MADV_POPULATE_WRITE);
#else
	(void)s;
#endif
}

/* What is to be done next, at most AT_ONCE bytes of it; fd -1: nothing, or map the stretch. */
static struct part
take_part(struct nsx_large_ahead *a, struct stretch *s, bool *last)
{
	struct part p = { .fd = -1 };

	pthread_mutex_lock(&a->lock);
	a->works = a->n || a->nnext;
	*s = (struct stretch){ NULL, 0 };
	if (a->nnext) {
		*s = a->next[0];
		memmove(a->next, a->next + 1, --a->nnext * sizeof *a->next);
	} else if (a->n) {
		p = a->parts[0];
		a->parts[0].from += AT_ONCE;
		*last = a->parts[0].from >= p.to;
		if (*last)
			memmove(a->parts, a->parts + 1, --a->n * sizeof *a->parts);
	}
	pthread_mutex_unlock(&a->lock);
	return p;
}

static void
work_ahead(void *ahead)
{
	struct nsx_large_ahead *a = ahead;

	for (;;) {
		struct stretch s;
		bool last = false;
		struct part p = take_part(a, &s, &last);

		if (p.fd < 0 && !s.p)
			return;
		if (!atomic_load(&a->over)) {
			if (s.p)
				map_stretch(s);
			else
				posix_fadvise(p.fd, p.from, AT_ONCE, POSIX_FADV_WILLNEED);
		}
		if (last)
			close(p.fd);
	}
}

/* NULL: there is no other processor, or no memory for it. It is only faster: nothing is wrong where it cannot be. */
static struct nsx_large_ahead *
ahead_of(struct nsx_large *l)
{
	if (!l->ahead) {
		l->ahead = malloc(sizeof *l->ahead);
		if (!l->ahead)
			return NULL;
		*l->ahead = (struct nsx_large_ahead){ .n = 0 };
		pthread_mutex_init(&l->ahead->lock, NULL);
		l->ahead->worker = nsx_worker_new(work_ahead, l->ahead);
	}
	return l->ahead->worker ? l->ahead : NULL;
}

/* Something was added; locked. */
static void
go_on(struct nsx_large_ahead *a)
{
	bool begin = !a->works;

	a->works = true;
	pthread_mutex_unlock(&a->lock);
	if (begin) {
		nsx_worker_wait(a->worker);
		nsx_worker_begin(a->worker);
	}
}

static void
prepare(struct nsx_large *l, int fd, size_t from, size_t to)
{
	struct nsx_large_ahead *a = ahead_of(l);
	int own = a ? dup(fd) : -1;
	size_t most = (size_t)sysconf(_SC_PHYS_PAGES) / 8 * (size_t)sysconf(_SC_PAGESIZE);

	if (own < 0)
		return;
	/* Of more, the first would be gone from memory before it is used. */
	to = to - from < most ? to : from + most;
	pthread_mutex_lock(&a->lock);
	if (a->n < WAITING)
		a->parts[a->n++] = (struct part){ own, fd, (off_t)from, (off_t)to };
	else
		close(own);
	go_on(a);
}

/* Nothing is to be mapped any more of an area that goes; nor read, where its file goes, too. What is being done goes
 * on: it does no harm. */
static void
forget(struct nsx_large *l, const struct nsx_large_area *area, bool file)
{
	struct nsx_large_ahead *a = l->ahead;
	const char *p = area->p;
	size_t n = 0, nnext = 0;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < a->nnext; i++)
		if (a->next[i].p < p || a->next[i].p >= p + area->bytes)
			a->next[nnext++] = a->next[i];
	for (size_t i = 0; i < a->n; i++)
		if (file && a->parts[i].of == area->fd)
			close(a->parts[i].fd);
		else
			a->parts[n++] = a->parts[i];
	a->n = n;
	a->nnext = nnext;
	pthread_mutex_unlock(&a->lock);
}

static void
map_next(struct nsx_large *l, char *p, size_t bytes)
{
	struct nsx_large_ahead *a = bytes ? ahead_of(l) : NULL;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	if (a->nnext < NEXT)
		a->next[a->nnext++] = (struct stretch){ p, bytes };
	go_on(a);
}

static void
end_ahead(struct nsx_large *l)
{
	struct nsx_large_ahead *a = l->ahead;

	if (!a)
		return;
	atomic_store(&a->over, true);
	nsx_worker_free(a->worker);
	pthread_mutex_destroy(&a->lock);
	free(a);
	l->ahead = NULL;
}

/* ---- */

static struct nsx_large_area *
find(struct nsx_large *l, const void *p)
{
	for (size_t i = 0; i < l->areas.n; i++)
		if (l->areas.p[i].p == p)
			return &l->areas.p[i];
	return NULL;
}

/* Make the file so long that no write can fail, and map it; the old mapping is gone on success alone. */
static bool
map(struct nsx_large *l, struct nsx_large_area *a, size_t bytes)
{
	void *p;
	size_t have = a->p ? a->bytes : 0;   /* what is there need not be gone through again */
	int rc = posix_fallocate(a->fd, (off_t)have, (off_t)(bytes - have));

	if (rc) {
		nsx_err_set(l->err, "temporary file of %zu MB: %s; TMPDIR names another folder", bytes >> 20,
		            strerror(rc));
		return false;
	}
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	if (p == MAP_FAILED) {
		nsx_err_set(l->err, "temporary file of %zu MB, as memory: %s; TMPDIR names another folder",
		            bytes >> 20, strerror(errno));
		return false;
	}
	if (a->p) {
		forget(l, a, false);
		munmap(a->p, a->bytes);
	}
	a->p = p;
	a->bytes = bytes;
	prepare(l, a->fd, have, bytes);
	return true;
}

static bool
in_memory(struct nsx_large *l, struct nsx_large_area *a, size_t bytes, bool zero)
{
	void *p = zero ? calloc(bytes, 1) : realloc(a->p, bytes);

	if (!p)
		return false;
	l->bytes += bytes - a->bytes;
	a->p = p;
	a->bytes = bytes;
	return true;
}

static bool
in_file(struct nsx_large *l, struct nsx_large_area *a, size_t bytes)
{
	struct nsx_large_area x = { .fd = a->fd };

	bytes = (bytes + bytes / 8 + GRAIN - 1) / GRAIN * GRAIN;
	if (a->fd >= 0)
		return map(l, a, bytes);
	x.fd = nsx_tmpfile(l->err);
	if (x.fd < 0)
		return false;
	if (!map(l, &x, bytes)) {
		close(x.fd);
		return false;
	}
	if (a->p)
		memcpy(x.p, a->p, a->bytes);
	l->bytes -= a->bytes;
	free(a->p);
	*a = x;
	return true;
}

/* Let an area have that many bytes at least. zero: it had none, and all are to be 0. */
static bool
grow(struct nsx_large *l, struct nsx_large_area *a, size_t bytes, bool zero)
{
	return a->fd < 0 && l->bytes - a->bytes + bytes <= l->limit ? in_memory(l, a, bytes, zero)
	                                                            : in_file(l, a, bytes);
}

static struct nsx_large_area *
add(struct nsx_large *l)
{
	return nsx_vec_push(&l->areas, ((struct nsx_large_area){ .fd = -1 })) ? &l->areas.p[l->areas.n - 1] : NULL;
}

static void
drop(struct nsx_large *l, struct nsx_large_area *a)
{
	if (a->fd < 0) {
		l->bytes -= a->bytes;
		free(a->p);
	} else {
		forget(l, a, true);
		munmap(a->p, a->bytes);
		close(a->fd);
	}
	*a = l->areas.p[--l->areas.n];
}

/* Give an array that many bytes of its file and some more; as many after them are mapped until it has filled those. */
static void
give(struct nsx_large *l, struct nsx_large_area *a, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), from;

	a->given = bytes + AT_ONCE < a->bytes ? bytes + AT_ONCE : a->bytes;
	from = (a->given + page - 1) / page * page;
	if (from < a->bytes)
		map_next(l, (char *)a->p + from, a->bytes - from < AT_ONCE ? a->bytes - from : AT_ONCE);
}

static bool
grow_vector(struct nsx_large *l, void *pp, size_t size, size_t *cap, size_t n, size_t more)
{
	struct nsx_large_area *a;
	size_t want = (n + more) * size, copied;
	void *p;

	memcpy(&p, pp, sizeof p);
	if (more > SIZE_MAX / 4 / size - n)
		return false;
	a = p ? find(l, p) : add(l);
	if (!a)
		return false;
	/* Memory is copied when it grows, files are not. */
	copied = a->fd < 0 ? (*cap + *cap / 2 + 16) * size : 0;
	if (want > a->bytes && !grow(l, a, want > copied ? want : copied, false)) {
		if (!p)
			l->areas.n--;
		return false;
	}
	if (a->fd >= 0)
		give(l, a, want);
	memcpy(pp, &a->p, sizeof a->p);
	*cap = (a->fd < 0 ? a->bytes : a->given) / size;
	return true;
}

bool
nsx_large_grow_(struct nsx_large *l, void *pp, size_t size, size_t *cap, size_t n, size_t more)
{
	bool good;

	pthread_mutex_lock(&l->lock);
	good = grow_vector(l, pp, size, cap, n, more);
	pthread_mutex_unlock(&l->lock);
	return good;
}

void *
nsx_large_array(struct nsx_large *l, size_t n, size_t size)
{
	struct nsx_large_area *a;
	void *p = NULL;

	if (n > SIZE_MAX / 4 / size)
		return NULL;
	pthread_mutex_lock(&l->lock);
	a = add(l);
	if (a && grow(l, a, n ? n * size : 1, true))
		p = a->p;
	else
		l->areas.n -= a != NULL;
	pthread_mutex_unlock(&l->lock);
	return p;
}

void
nsx_large_free(struct nsx_large *l, void *p)
{
	struct nsx_large_area *a;

	pthread_mutex_lock(&l->lock);
	a = p ? find(l, p) : NULL;
	if (a)
		drop(l, a);
	pthread_mutex_unlock(&l->lock);
}

/* Bytes of files that are mapped and in memory, of all files of the process; more than any if that is not known. */
static size_t
resident(void)
{
	char text[128];
	unsigned long pages[3];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%lu %lu %lu", &pages[0], &pages[1], &pages[2]) == 3
	       ? pages[2] * (size_t)sysconf(_SC_PAGESIZE) : SIZE_MAX;
}

void
nsx_large_rest(struct nsx_large *l)
{
	bool asked = false;

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->areas.n; i++) {
		const struct nsx_large_area *a = &l->areas.p[i];

		if (a->fd < 0)
			continue;
		if (!asked && resident() <= l->mapped)
			break;
		asked = true;
		madvise(a->p, a->bytes, MADV_DONTNEED);
	}
	pthread_mutex_unlock(&l->lock);
}

void
nsx_large_end(struct nsx_large *l)
{
	end_ahead(l);
	while (l->areas.n)
		drop(l, &l->areas.p[l->areas.n - 1]);
	free(l->areas.p);
	l->areas.p = NULL;
	l->areas.cap = 0;
}
