/* hlo_body.c -- which fusions may share a kernel; which instructions run as thunks. */
#include <unistd.h>

#include "dump.h"

/* A fused computation of that id: opcode applied to an array of dims, with unique names. */
static void
fused(pb *m, int64_t id, const char *prefix, const char *opcode, const char *dims, int type)
{
	char name[64];
	pb c = computation(prefix);

	snprintf(name, sizeof name, "%s.param", prefix);
	pb p = shaped(name, "parameter", id << 32 | 1, "", type, dims, 0);
	add(&c, &p);
	snprintf(name, sizeof name, "%s.root", prefix);
	pb r = shaped(name, opcode, id << 32 | 2, "1", type, dims, 0);
	place(&r, prefix, "", 0, 0);
	add(&c, &r);
	close_computation(m, &c, id, true);
}

static void
fusion(pb *c, const char *name, int64_t id, const char *calls)
{
	pb f = shaped(name, "fusion", id, "", F32, "8", 0);

	call(&f, calls);
	add(c, &f);
}

static struct nsx_hlo h;
static uint64_t *bodies;

static uint64_t
body(const char *name)
{
	const struct nsx_hlo_inst *i = nsx_hlo_find(&h, nsx_str_c(name));

	return ok(i != NULL, "%s is there", name) ? bodies[i - h.insts] : 0;
}

static bool
is_thunk(const char *name)
{
	const struct nsx_hlo_inst *i = nsx_hlo_find(&h, nsx_str_c(name));

	return i && i->thunk;
}

int
main(void)
{
	char path[] = "/tmp/nsysx-body.XXXXXX";
	pb m = module(9), entry = computation("main");
	int fd = mkstemp(path);

	fused(&m, 1, "a", "negate", "8", F32);
	fused(&m, 2, "b", "negate", "8", F32);
	fused(&m, 3, "c", "exponential", "8", F32);
	fused(&m, 4, "d", "negate", "8 1", F32);
	fused(&m, 5, "e", "negate", "8", BF16);
	fusion(&entry, "fusion.1", 11, "1");
	fusion(&entry, "fusion.2", 12, "2");
	fusion(&entry, "fusion.3", 13, "3");
	fusion(&entry, "fusion.4", 14, "4");
	fusion(&entry, "fusion.5", 15, "5");
	fusion(&entry, "fusion.6", 16, "77");
	pb plain = shaped("copy.1", "copy", 17, "11", F32, "8", 0);
	add(&entry, &plain);
	close_computation(&m, &entry, 9, false);
	pb d = dump_of(&m);
	ok(fd >= 0 && write(fd, d.ptr, d.len) == (ssize_t)d.len, "%s can be written", path);
	ok(nsx_hlo_read(path, &h, &diags, &err) == NSX_OK, "the dump is read: '%s'", err.msg);
	ok(nsx_hlo_bodies(path, &h, &bodies, &err) == NSX_OK && bodies, "its fusions are compared: '%s'", err.msg);
	ok(bodies && body("fusion.1") && body("fusion.1") == body("fusion.2"), "equal computations, whatever their names");
	ok(bodies && body("fusion.1") != body("fusion.3"), "another opcode");
	ok(bodies && body("fusion.1") != body("fusion.4"), "another shape");
	ok(bodies && body("fusion.1") != body("fusion.5"), "another type");
	ok(bodies && body("fusion.6"), "a computation that is not there may be any");
	ok(bodies && body("copy.1") == 0, "other instructions have no body");
	ok(is_thunk("fusion.1") && is_thunk("copy.1") && !is_thunk("a.root"), "instructions outside fusions are thunks");
	free(bodies);
	ok(ftruncate(fd, (off_t)d.len / 2) == 0 && nsx_hlo_bodies(path, &h, &bodies, &err) == NSX_ERR && !bodies, "a dump that was cut meanwhile: '%s'", err.msg);
	unlink(path);
	err.msg[0] = '\0';
	ok(nsx_hlo_bodies(path, &h, &bodies, &err) == NSX_ERR && !bodies && strstr(err.msg, path), "one that is gone: '%s'", err.msg);
	close(fd);
	nsx_hlo_free(&h);
	nsx_buf_free(&d);
	reset();
	return done();
}
