/* hlo_shelf.c -- dumps with the same bytes are read once. */
#include "xla/hlo_shelf.h"
#include "base/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xla/hlo_int.h"

enum { CHUNK = 64 << 10, LANES = 4 };
/* Memory for dumps that are kept for later requests: enough for some thousand MB of dumps. */
static const uint64_t KEPT_MAX = UINT64_C(256) << 20;

/* The key of a content: 128 bits of hash and the size, so no two real files are confused. */
struct content { uint64_t size; struct nsx_key hash; };

/* A folder whose dumps will be requested. */
struct folder { const char *path; bool begun; };

/* A file, in its state when it was hashed. */
struct file { struct stat st; struct nsx_hlo_entry *entry; };

struct nsx_hlo_entry {
	struct nsx_hlo_shelf *shelf;
	struct content        content;
	enum { UNREAD, READING, READ } state;
	struct nsx_hlo        h;         /* while READ */
	struct nsx_diags      diags;
	uint32_t              readers;   /* number of users */
	bool                  kept;      /* stays without users */
};

struct nsx_hlo_shelf {
	pthread_mutex_t       lock;
	pthread_cond_t        changed;
	struct nsx_map        by_hash;   /* index in entries */
	NSX_VEC(struct nsx_hlo_entry *) entries;
	struct nsx_map        by_file;   /* (device, inode): index in files */
	NSX_VEC(struct file)  files;
	NSX_VEC(struct folder) folders;
	struct nsx_map        guessed;   /* hash of a file's name: the folder where it is tried next */
	uint64_t              kept;      /* bytes */
};

/* ---- keys of contents */

/* Independent sums, so that multiplications overlap. */
struct lanes { uint64_t v[LANES]; };

static void
add_bytes(struct lanes *l, const unsigned char *p, size_t n)
{
	uint64_t w[LANES], v[LANES];

	memcpy(v, l->v, sizeof v);
	for (; n >= sizeof w; p += sizeof w, n -= sizeof w) {
		memcpy(w, p, sizeof w);
		for (int i = 0; i < LANES; i++) {
			v[i] = (v[i] ^ w[i]) * 0xff51afd7ed558ccdULL;
			v[i] ^= v[i] >> 32;
		}
	}
	memcpy(l->v, v, sizeof v);
	if (n)
		l->v[0] = nsx_hash_u64(l->v[0] ^ nsx_hash(p, n));
}

/* False when the file cannot be read. */
static bool
hash_file(int fd, struct content *c)
{
	struct lanes l = { { 1, 2, 3, 4 } };
	unsigned char *buf = malloc(CHUNK);
	ssize_t got = -1;

	c->size = 0;
	while (buf && (got = read(fd, buf, CHUNK)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		add_bytes(&l, buf, (size_t)got);
		c->size += (uint64_t)got;
	}
	free(buf);
	c->hash.a = nsx_hash_u64(l.v[0] ^ nsx_hash_u64(l.v[1] ^ nsx_hash_u64(l.v[2] ^ nsx_hash_u64(l.v[3]))));
	c->hash.b = nsx_hash_u64(l.v[3] + nsx_hash_u64(l.v[2] + nsx_hash_u64(l.v[1] + nsx_hash_u64(l.v[0] + c->size))));
	return got == 0;
}

/* ---- entries */

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static struct nsx_key
file_key(const struct stat *st)
{
	return (struct nsx_key){ (uint64_t)st->st_dev, (uint64_t)st->st_ino };
}

/* The entry of a file that was hashed before and has not changed since; NULL: none. */
static struct nsx_hlo_entry *
known_file(struct nsx_hlo_shelf *s, const struct stat *st)
{
	pthread_mutex_lock(&s->lock);
	uint32_t at = nsx_map_get(&s->by_file, file_key(st));
	struct nsx_hlo_entry *e = at != NSX_NONE && same_file(&s->files.p[at].st, st) ? s->files.p[at].entry : NULL;
	pthread_mutex_unlock(&s->lock);
	return e;
}

/* The entry of c, created if there is none; NULL when out of memory. Locked. */
static struct nsx_hlo_entry *
entry_of(struct nsx_hlo_shelf *s, const struct content *c)
{
	uint32_t *at = nsx_map_at(&s->by_hash, c->hash);

	if (!at)
		return NULL;
	if (*at != NSX_NONE)
		return s->entries.p[*at]->content.size == c->size ? s->entries.p[*at] : NULL;
	struct nsx_hlo_entry *e = calloc(1, sizeof *e);
	if (!e || !nsx_vec_push(&s->entries, e)) {
		free(e);
		return NULL;
	}
	e->shelf = s;
	e->content = *c;
	*at = (uint32_t)s->entries.n - 1;
	return e;
}

/* Remember that the file has that content; without memory it is hashed again. Locked. */
static void
remember(struct nsx_hlo_shelf *s, const struct stat *st, struct nsx_hlo_entry *e)
{
	uint32_t *at = nsx_map_at(&s->by_file, file_key(st));

	if (!at || (*at == NSX_NONE && !nsx_vec_push(&s->files, ((struct file){ .entry = NULL }))))
		return;
	if (*at == NSX_NONE)
		*at = (uint32_t)s->files.n - 1;
	s->files.p[*at] = (struct file){ *st, e };
}

struct nsx_hlo_entry *
nsx_hlo_shelf_find(struct nsx_hlo_shelf *s, const char *path)
{
	struct nsx_hlo_entry *e = NULL;
	struct content c;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	nsx_inputs_note(fd);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(e = known_file(s, &st)) && hash_file(fd, &c)) {
		pthread_mutex_lock(&s->lock);
		e = entry_of(s, &c);
		if (e)
			remember(s, &st, e);
		pthread_mutex_unlock(&s->lock);
	}
	close(fd);
	return e;
}

/* ---- the results of reading */

static uint64_t
bytes_of(const struct nsx_hlo *h)
{
	uint64_t slots = (uint64_t)h->by_id.cap * 2 * sizeof(struct nsx_key);

	return h->arena.total + slots + (uint64_t)h->ninsts * sizeof *h->insts + (uint64_t)h->nlocs * sizeof *h->locs +
	       ((uint64_t)h->nstacks + h->ngroups) * sizeof *h->stacks + (uint64_t)h->ncontents * sizeof *h->contents;
}

/* Free the contents of e. Locked. */
static void
unread(struct nsx_hlo_entry *e)
{
	nsx_hlo_free(&e->h);
	nsx_diags_free(&e->diags);
	e->diags = (struct nsx_diags){ 0 };
	e->state = UNREAD;
}

/* Read path into e, which is READING by this thread. NSX_OK, NSX_ERR with err filled, and *trouble. */
static int
fill(struct nsx_hlo_entry *e, const char *path, bool *trouble, struct nsx_err *err)
{
	struct nsx_hlo_shelf *s = e->shelf;
	int rc = nsx_hlo_read(path, &e->h, &e->diags, err);

	*trouble = e->h.trouble;
	if (rc == NSX_OK && e->diags.failed) {
		rc = nsx_err_nomem(err, path);
		*trouble = true;
	}
	pthread_mutex_lock(&s->lock);
	if (rc == NSX_OK) {
		e->state = READ;
		e->readers = 1;
		e->kept = bytes_of(&e->h) <= KEPT_MAX - s->kept;
		s->kept += e->kept ? bytes_of(&e->h) : 0;
	} else {
		unread(e);
	}
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* Whether it has been read, after waiting for a thread that reads it: then it has one reader more; else the caller is
 * to read it. */
static bool
await(struct nsx_hlo_entry *e)
{
	struct nsx_hlo_shelf *s = e->shelf;

	pthread_mutex_lock(&s->lock);
	while (e->state == READING)
		pthread_cond_wait(&s->changed, &s->lock);
	bool there = e->state == READ;
	if (there)
		e->readers++;
	else
		e->state = READING;
	pthread_mutex_unlock(&s->lock);
	return there;
}

int
nsx_hlo_shelf_read(struct nsx_hlo_entry *e, const char *path, struct nsx_hlo *h, struct nsx_diags *diags,
                   struct nsx_err *err)
{
	bool trouble;

	if (!e)
		return nsx_hlo_read(path, h, diags, err);
	*h = (struct nsx_hlo){ 0 };
	if (!await(e) && fill(e, path, &trouble, err) != NSX_OK) {
		h->trouble = trouble;
		return NSX_ERR;
	}
	/* An entry with readers does not change, except for the walk. */
	*h = e->h;
	h->entry = e;
	h->walk = nsx_hlo_walk_new(h->ncontents);
	if (!h->walk) {
		nsx_hlo_shelf_back(h);
		h->trouble = true;
		return nsx_err_nomem(err, path);
	}
	nsx_diags_join(diags, &e->diags);
	return NSX_OK;
}

/* One reader less. */
static void
leave(struct nsx_hlo_entry *e)
{
	pthread_mutex_lock(&e->shelf->lock);
	if (--e->readers == 0 && !e->kept)
		unread(e);
	pthread_mutex_unlock(&e->shelf->lock);
}

void
nsx_hlo_shelf_back(struct nsx_hlo *h)
{
	if (!h->entry) {
		nsx_hlo_free(h);
		return;
	}
	nsx_hlo_walk_free(h->walk);
	leave(h->entry);
	*h = (struct nsx_hlo){ 0 };
}

bool
nsx_hlo_shelf_busy(const struct nsx_hlo_entry *e)
{
	pthread_mutex_lock(&e->shelf->lock);
	bool busy = e->state == READING;
	pthread_mutex_unlock(&e->shelf->lock);
	return busy;
}

void
nsx_hlo_shelf_ahead(struct nsx_hlo_entry *e, const char *path)
{
	struct nsx_hlo_shelf *s = e->shelf;
	struct nsx_err err = { "" };
	bool trouble;

	pthread_mutex_lock(&s->lock);
	/* The result of reading needs about as much memory as the dump, decompressed. */
	bool mine = e->state == UNREAD && e->content.size <= (KEPT_MAX - s->kept) / 4;
	if (mine)
		e->state = READING;
	pthread_mutex_unlock(&s->lock);
	if (mine && fill(e, path, &trouble, &err) == NSX_OK)
		leave(e);
}

/* ---- reading in advance what others will request */

/* The folder to try next for a file of this name; NULL: none. If two names have the same hash, not every folder is
 * tried. */
static const char *
next_folder(struct nsx_hlo_shelf *s, struct nsx_str name)
{
	const char *folder = NULL;

	pthread_mutex_lock(&s->lock);
	uint32_t *at = nsx_map_at(&s->guessed, (struct nsx_key){ nsx_hash(name.ptr, name.len), name.len });
	if (at) {
		if (*at == NSX_NONE)
			*at = 0;
		while (*at < s->folders.n && s->folders.p[*at].begun)
			++*at;
		if (*at < s->folders.n)
			folder = s->folders.p[(*at)++].path;
	}
	pthread_mutex_unlock(&s->lock);
	return folder;
}

bool
nsx_hlo_shelf_guess(struct nsx_hlo_shelf *s, const char *name)
{
	const char *folder = next_folder(s, nsx_str_c(name));
	struct nsx_buf path = { 0 };

	if (!folder)
		return false;
	nsx_buf_fmt(&path, "%s/%s", folder, name);
	nsx_buf_char(&path, '\0');
	struct nsx_hlo_entry *e = path.failed ? NULL : nsx_hlo_shelf_find(s, path.ptr);
	if (e)
		nsx_hlo_shelf_ahead(e, path.ptr);
	nsx_buf_free(&path);
	return true;
}

int
nsx_hlo_shelf_expect(struct nsx_hlo_shelf *s, const char *folder)
{
	return nsx_vec_push(&s->folders, ((struct folder){ folder, false })) ? NSX_OK : NSX_ERR;
}

void
nsx_hlo_shelf_begin(struct nsx_hlo_shelf *s, const char *folder)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->folders.n; i++)
		s->folders.p[i].begun |= strcmp(s->folders.p[i].path, folder) == 0;
	pthread_mutex_unlock(&s->lock);
}

/* ---- public functions */

struct nsx_hlo_shelf *
nsx_hlo_shelf_new(void)
{
	struct nsx_hlo_shelf *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	if (pthread_mutex_init(&s->lock, NULL) != 0) {
		free(s);
		return NULL;
	}
	if (pthread_cond_init(&s->changed, NULL) != 0) {
		pthread_mutex_destroy(&s->lock);
		free(s);
		return NULL;
	}
	return s;
}

void
nsx_hlo_shelf_clear(struct nsx_hlo_shelf *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->entries.n; i++) {
		struct nsx_hlo_entry *e = s->entries.p[i];
		if (e->state != READ || !e->kept)
			continue;
		s->kept -= bytes_of(&e->h);
		e->kept = false;
		if (!e->readers)
			unread(e);
	}
	pthread_mutex_unlock(&s->lock);
}

void
nsx_hlo_shelf_free(struct nsx_hlo_shelf *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->entries.n; i++) {
		unread(s->entries.p[i]);
		free(s->entries.p[i]);
	}
	free(s->entries.p);
	free(s->files.p);
	free(s->folders.p);
	nsx_map_free(&s->guessed);
	nsx_map_free(&s->by_hash);
	nsx_map_free(&s->by_file);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
