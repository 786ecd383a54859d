/* hlo_groups.c -- the devices of a collective, from every form in which XLA has written replica groups. */
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "base/num.h"
#include "base/sort.h"
#include "xla/hlo_int.h"

enum {
	DEVICES_MAX = 1 << 20,   /* of one job, and members of one instruction's groups */
	DIMS_MAX = 32,
	PARTS_MAX = 3 * DIMS_MAX  /* for each listed part: itself, the part before it, and the one after the last of an
	                           * axis */
};
static const uint64_t MEMBERS_MAX = UINT64_C(1) << 25;   /* of all groups of a dump */

/* The meaning of ids in a collective's groups. */
enum mode { REPLICAS, PARTITIONS, REPLICAS_ALL_PARTITIONS, FLAT };

/* Groups of ids. */
struct lists { struct nsx_members of; bool failed; };

static void
add_id(struct lists *l, int64_t id)
{
	if (!nsx_vec_push(&l->of.ids, id))
		l->failed = true;
}

static void
end_group(struct lists *l)
{
	if (!nsx_vec_push(&l->of.ends, l->of.ids.n))
		l->failed = true;
}

/* ---- the device assignment */

int
nsx_hlo_devices_read(struct nsx_hlo_build *b, struct nsx_extent span)
{
	struct nsx_hlo_devices *d = &b->devices;
	const Nsysx__NsxHloDeviceAssignment *m = nsx_unpack_message(&b->u, span,
		&nsysx__nsx_hlo_device_assignment__descriptor);

	if (!m)
		return NSX_ERR;
	int64_t r = m->replica_count, p = m->computation_count;
	bool good = r > 0 && p > 0 && r <= DEVICES_MAX && p <= DEVICES_MAX && r * p <= DEVICES_MAX &&
	    m->n_computation_devices == (size_t)p;
	for (size_t i = 0; good && i < (size_t)p; i++) {
		good = m->computation_devices[i]->n_replica_device_ids == (size_t)r;
		for (size_t k = 0; good && k < (size_t)r; k++)
			good = m->computation_devices[i]->replica_device_ids[k] >= 0;
	}
	if (!good || d->known) {
		b->missed[NSX_HLO_BAD_ASSIGNMENT]++;
		return NSX_OK;
	}
	d->device = malloc((size_t)(r * p) * sizeof *d->device);
	if (!d->device)
		return nsx_hlo_nomem(b);
	for (int64_t i = 0; i < p; i++)
		memcpy(d->device + i * r, m->computation_devices[i]->replica_device_ids, (size_t)r * sizeof *d->device);
	d->replicas = r;
	d->partitions = p;
	d->known = true;
	return NSX_OK;
}

/* ---- groups in the form of the instruction; false: not understood */

/* a x b if that is at most DEVICES_MAX and both are positive, else 0. */
static int64_t
product(int64_t a, int64_t b)
{
	return a > 0 && b > 0 && a <= DEVICES_MAX && b <= DEVICES_MAX && a * b <= DEVICES_MAX ? a * b : 0;
}

static bool
from_list(Nsysx__NsxHloReplicaGroup *const *g, size_t n, struct lists *l)
{
	for (size_t i = 0; i < n; i++) {
		if (!g[i]->n_replica_ids)
			continue;
		if (l->of.ids.n + g[i]->n_replica_ids > DEVICES_MAX)
			return false;
		for (size_t k = 0; k < g[i]->n_replica_ids; k++)
			add_id(l, g[i]->replica_ids[k]);
		end_group(l);
	}
	return true;
}

/* Visit an array of n dimensions in row-major order; element i has the value (sum of index x stride). A group ends
 * after every `row` elements. */
static void
walk(const int64_t *size, const int64_t *stride, int n, int64_t row, struct lists *l)
{
	int64_t index[PARTS_MAX] = { 0 }, value = 0, done = 0;
	int d;

	do {
		add_id(l, value);
		if (++done % row == 0)
			end_group(l);
		for (d = n - 1; d >= 0; d--) {
			value += stride[d];
			if (++index[d] < size[d])
				break;
			value -= stride[d] * size[d];
			index[d] = 0;
		}
	} while (d >= 0);
}

/* 0, 1, ... in an array of the reshape dims, transposed, flattened, split into rows. */
static bool
from_iota(const Nsysx__NsxHloIotaGroups *m, struct lists *l)
{
	int64_t total = product(m->num_replica_groups, m->num_devices_per_group), n = 1;
	int64_t dims[DIMS_MAX], strides[DIMS_MAX], size[DIMS_MAX], stride[DIMS_MAX];
	bool used[DIMS_MAX] = { false };
	int k = (int)m->n_iota_reshape_dims;

	if (!total || m->n_iota_reshape_dims > DIMS_MAX)
		return false;
	for (int i = 0; i < k; i++)
		dims[i] = m->iota_reshape_dims[i];
	if (k == 0)
		dims[k++] = total;
	for (int i = k - 1; i >= 0; i--) {
		strides[i] = n;
		if (!(n = product(n, dims[i])))
			return false;
	}
	if (n != total || (m->n_iota_transpose_perm && m->n_iota_transpose_perm != (size_t)k))
		return false;
	for (int i = 0; i < k; i++) {
		int from = m->n_iota_transpose_perm ? m->iota_transpose_perm[i] : i;
		if (from < 0 || from >= k || used[from])
			return false;
		used[from] = true;
		size[i] = dims[from];
		stride[i] = strides[from];
	}
	walk(size, stride, k, m->num_devices_per_group, l);
	return true;
}

/* Part of a mesh axis: the whole axis, or `size` of its indices from a position that pre_size gives. */
struct part { int64_t axis, pre, size, stride; bool listed; int order; };

NSX_ORDER(by_place, struct part, NSX_CMP(a->axis, b->axis), NSX_CMP(a->pre, b->pre))

/* The listed parts last, in the order of the list; the remaining parts of the mesh first, major to minor. */
NSX_ORDER(by_role, struct part, NSX_CMP(a->listed, b->listed), NSX_CMP(a->order, b->order))

/* The groups of a mesh: devices whose indices differ along the listed axes (or parts of axes) only. */
static bool
from_mesh(const Nsysx__NsxHloMeshGroups *m, struct lists *l)
{
	struct part listed[DIMS_MAX], part[PARTS_MAX];
	int64_t size[DIMS_MAX], stride[DIMS_MAX], n = 1, row = 1, dims[PARTS_MAX], strides[PARTS_MAX];
	int k = 0, parts = 0, next = 0;

	if (!m->mesh || m->mesh->n_axes == 0 || m->mesh->n_axes > DIMS_MAX || m->n_axes > DIMS_MAX)
		return false;
	k = (int)m->mesh->n_axes;
	for (int i = k - 1; i >= 0; i--) {
		size[i] = m->mesh->axes[i]->size;
		stride[i] = n;
		if (!(n = product(n, size[i])))
			return false;
	}
	if (m->mesh->n_device_ids && m->mesh->n_device_ids != (size_t)n)
		return false;
	int nlisted = (int)m->n_axes;
	for (int i = 0; i < nlisted; i++) {
		const Nsysx__NsxHloAxisRef *a = m->axes[i];
		if (a->mesh_axis_index < 0 || a->mesh_axis_index >= k)
			return false;
		listed[i] = (struct part){ a->mesh_axis_index, 1, size[a->mesh_axis_index], 0, true, i };
		if (a->sub_axis) {
			listed[i].pre = a->sub_axis->pre_size;
			listed[i].size = a->sub_axis->size;
			int64_t end = product(listed[i].pre, listed[i].size);
			if (!end || size[a->mesh_axis_index] % end)
				return false;
		}
		row *= listed[i].size;
		if (row > n)
			return false;
	}
	qsort(listed, (size_t)nlisted, sizeof *listed, by_place);
	/* Split every axis at its listed parts: the parts before, between and after them are separate parts. */
	for (int i = 0; i < k; i++) {
		int64_t pre = 1;
		for (; next < nlisted && listed[next].axis == i; next++) {
			const struct part *p = &listed[next];
			if (p->pre < pre || p->pre % pre)
				return false;
			if (p->pre > pre)
				part[parts] = (struct part){ i, pre, p->pre / pre, stride[i] * (size[i] / p->pre),
				                             false, parts }, parts++;
			pre = p->pre * p->size;
			part[parts] = *p;
			part[parts++].stride = stride[i] * (size[i] / pre);
		}
		if (pre < size[i])
			part[parts] = (struct part){ i, pre, size[i] / pre, stride[i], false, parts }, parts++;
	}
	qsort(part, (size_t)parts, sizeof *part, by_role);
	for (int i = 0; i < parts; i++) {
		dims[i] = part[i].size;
		strides[i] = part[i].stride;
	}
	walk(dims, strides, parts, row, l);
	for (size_t i = 0; m->mesh->n_device_ids && !l->failed && i < l->of.ids.n; i++)
		l->of.ids.p[i] = m->mesh->device_ids[l->of.ids.p[i]];
	return true;
}

/* The instruction's groups, from the first form that is set. If none is set: no groups. */
static bool
logical_groups(const Nsysx__NsxHloParticipants *p, struct lists *l)
{
	if (!from_list(p->replica_groups, p->n_replica_groups, l))
		return false;
	if (!l->of.ends.n && p->collective_device_list) {
		const Nsysx__NsxHloDeviceList *d = p->collective_device_list;
		if (!from_list(d->replica_groups, d->n_replica_groups, l))
			return false;
		if (!l->of.ends.n && d->iota_groups && !from_iota(d->iota_groups, l))
			return false;
	}
	if (!l->of.ends.n && p->iota_groups && !from_iota(p->iota_groups, l))
		return false;
	return l->of.ends.n || !p->mesh_groups || from_mesh(p->mesh_groups, l);
}

/* The pairs of a send or receive: numbers in the text of an attribute. */
static void
pairs_from_text(struct nsx_str s, struct lists *l)
{
	size_t from = l->of.ids.n;

	for (size_t i = 0; i < s.len;) {
		size_t end = i;
		int64_t v;
		while (end < s.len && nsx_is_digit(s.ptr[end]))
			end++;
		if (end == i) {
			i++;
			continue;
		}
		if (!nsx_get_int((struct nsx_str){ s.ptr + i, end - i }, &v) || l->of.ids.n >= DEVICES_MAX)
			break;
		add_id(l, v);
		if ((l->of.ids.n - from) % 2 == 0)
			end_group(l);
		i = end;
	}
	/* An incomplete pair is ignored. */
	if (!l->failed)
		l->of.ids.n = l->of.ends.n ? l->of.ends.p[l->of.ends.n - 1] : 0;
}

static bool
logical_pairs(const Nsysx__NsxHloParticipants *p, struct lists *l)
{
	if (p->n_source_target_pairs > DEVICES_MAX / 2)
		return false;
	for (size_t i = 0; i < p->n_source_target_pairs; i++) {
		add_id(l, p->source_target_pairs[i]->source);
		add_id(l, p->source_target_pairs[i]->target);
		end_group(l);
	}
	for (size_t i = 0; !l->of.ends.n && p->frontend_attributes && i < p->frontend_attributes->n_map; i++) {
		const Nsysx__NsxHloAttribute *a = p->frontend_attributes->map[i];
		if (nsx_str_eq(nsx_str_pb(a->key), NSX_STR("_xla_send_recv_source_target_pairs")))
			pairs_from_text(nsx_str_pb(a->value), l);
	}
	return true;
}

/* ---- logical ids to devices */

static enum mode
mode_of(enum nsx_hlo_kind kind, const Nsysx__NsxHloParticipants *p)
{
	if (p->channel_id <= 0)
		return REPLICAS;
	if (p->use_global_device_ids)
		return FLAT;
	switch (kind) {
	case NSX_HLO_ALL_REDUCE: case NSX_HLO_ALL_GATHER: case NSX_HLO_REDUCE_SCATTER: case NSX_HLO_REDUCE:
		return REPLICAS_ALL_PARTITIONS;
	default:
		return PARTITIONS;
	}
}

/* The group of every logical id, for instructions without groups. */
static void
everyone(const struct nsx_hlo_devices *d, enum mode mode, struct lists *l)
{
	int64_t n = mode == PARTITIONS ? d->partitions : mode == FLAT ? d->replicas * d->partitions : d->replicas;

	for (int64_t i = 0; i < n; i++)
		add_id(l, i);
	end_group(l);
}

static bool
within(const struct nsx_hlo_devices *d, enum mode mode, const struct lists *l)
{
	int64_t n = mode == PARTITIONS ? d->partitions : mode == FLAT ? d->replicas * d->partitions : d->replicas;

	for (size_t i = 0; i < l->of.ids.n; i++)
		if (l->of.ids.p[i] < 0 || l->of.ids.p[i] >= n)
			return false;
	return true;
}

/* One group of devices from the logical group g, for partition or replica `other` where ids count one of them and apply
 * to each value of the other. */
static void
expand_group(const struct nsx_hlo_devices *d, enum mode mode, const struct lists *in, size_t g, int64_t other,
             struct lists *out)
{
	for (size_t i = nsx_members_begin(&in->of, g); i < in->of.ends.p[g]; i++) {
		int64_t id = in->of.ids.p[i];
		switch (mode) {
		case REPLICAS:   add_id(out, d->device[other * d->replicas + id]); break;
		case PARTITIONS: add_id(out, d->device[id * d->replicas + other]); break;
		case FLAT:       add_id(out, d->device[id % d->partitions * d->replicas + id / d->partitions]); break;
		case REPLICAS_ALL_PARTITIONS:
			for (int64_t p = 0; p < d->partitions; p++)
				add_id(out, d->device[p * d->replicas + id]);
		}
	}
	end_group(out);
}

/* False if that would be more than one instruction can have. */
static bool
expand(const struct nsx_hlo_devices *d, enum mode mode, const struct lists *in, struct lists *out)
{
	int64_t others = mode == REPLICAS ? d->partitions : mode == PARTITIONS ? d->replicas : 1;
	int64_t factor = mode == REPLICAS_ALL_PARTITIONS ? d->partitions : others;

	if ((int64_t)in->of.ids.n > DEVICES_MAX / factor)
		return false;
	for (size_t g = 0; g < in->of.ends.n; g++)
		for (int64_t other = 0; other < others; other++)
			expand_group(d, mode, in, g, other, out);
	return true;
}

/* ---- the whole instruction */

static int
write_groups(struct nsx_hlo_build *b, const struct lists *l, uint32_t *groups)
{
	struct nsx_buf out = { 0 };

	b->members += l->of.ids.n;
	nsx_members_put(&l->of, &out);
	uint32_t s = out.failed ? NSX_NONE : nsx_intern(&b->strs, nsx_buf_view(&out));
	nsx_buf_free(&out);
	uint32_t *at = s == NSX_NONE ? NULL : nsx_map_at(&b->group_by_str, (struct nsx_key){ s, 0 });
	if (!at)
		return nsx_hlo_nomem(b);
	if (*at == NSX_NONE) {
		if (!nsx_vec_push(&b->groups, s))
			return nsx_hlo_nomem(b);
		*at = (uint32_t)(b->groups.n - 1);
	}
	*groups = *at;
	return NSX_OK;
}

static int
groups_of(struct nsx_hlo_build *b, enum nsx_hlo_kind kind, const Nsysx__NsxHloParticipants *p, struct lists *logical,
          struct lists *devices,
          uint32_t *groups, int64_t *first)
{
	bool pairs = kind == NSX_HLO_PERMUTE || kind == NSX_HLO_SEND || kind == NSX_HLO_RECV, given;
	const struct nsx_hlo_devices *d = &b->devices;
	enum mode mode = mode_of(kind, p);
	const struct lists *use = logical;

	if (b->members > MEMBERS_MAX || !(pairs ? logical_pairs(p, logical) : logical_groups(p, logical))) {
		b->missed[NSX_HLO_BAD_GROUPS]++;
		return logical->failed ? nsx_hlo_nomem(b) : NSX_OK;
	}
	given = logical->of.ends.n > 0;
	if (!given && (pairs || !d->known))
		return logical->failed ? nsx_hlo_nomem(b) : NSX_OK;
	if (!given)
		everyone(d, mode, logical);
	if (!d->known) {
		b->missed[NSX_HLO_NO_ASSIGNMENT]++;
	} else if (!within(d, mode, logical)) {
		b->missed[NSX_HLO_BAD_DEVICE]++;
	} else if (expand(d, mode, logical, devices)) {
		use = devices;
	} else {
		b->missed[NSX_HLO_BAD_GROUPS]++;
		return NSX_OK;
	}
	if (logical->failed || devices->failed)
		return nsx_hlo_nomem(b);
	*first = (int64_t)use->of.ends.p[0];
	for (size_t g = 1; kind == NSX_HLO_REDUCE_SCATTER && g < use->of.ends.n; g++)
		if (use->of.ends.p[g] - use->of.ends.p[g - 1] != (size_t)*first) {
			b->missed[NSX_HLO_UNEQUAL]++;
			break;
		}
	return write_groups(b, use, groups);
}

int
nsx_hlo_groups(struct nsx_hlo_build *b, enum nsx_hlo_kind kind, const Nsysx__NsxHloParticipants *p, uint32_t *groups,
               int64_t *first)
{
	struct lists logical = { 0 }, devices = { 0 };

	*groups = NSX_NONE;
	*first = 0;
	int rc = groups_of(b, kind, p, &logical, &devices, groups, first);
	nsx_members_free(&logical.of);
	nsx_members_free(&devices.of);
	return rc;
}
