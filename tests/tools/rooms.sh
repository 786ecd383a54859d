#!/bin/sh
# The checks of `make lint` on the structure of lib/: breaking a rule in a small tree is reported; following it is not.
. "${0%/*}/../testlib.sh"

rooms=$tests_dir/rooms.sh

# A valid tree, in $tree.
plant() {
	tree=$T/tree
	rm -rf "$tree"
	for room in base stream nsys xla job/comm extract filter/merge filter/align table draw; do
		mkdir -p "$tree/lib/$room"
	done
	mkdir -p "$tree/cmd" "$tree/tests" "$tree/build"
	printf '#define NSX_ABSENT INT64_MIN\nenum nsx_kinds { NSX_ONE, NSX_TWO };\n' >"$tree/lib/stream/kinds.h"
	printf '#include "stream/kinds.h"\nstruct nsx_catalogue { int n; };\nint a = NSX_INST_name;\n' >"$tree/lib/job/catalogue.h"
	printf '#include "job/catalogue.h"\n#include "xla/hlo.h"\nstruct row { int x; };\n' >"$tree/lib/table/heap.c"
	printf 'struct nsx_hlo { int x; };\n' >"$tree/lib/xla/hlo.h"
	printf '#include "table/heap.h"\n' >"$tree/cmd/tool.c"
	printf '/* enum { NSX_ONE } of a comment */\n#define F(x) enum { x }\nfor (size_t c; (c = 2 * i + 1) < n; i = c)\n' >"$tree/lib/base/heap.h"
}
found() {
	B=build sh "$rooms" "$tree"
}
# $1: the report if file $2 has the additional line $3.
says() {
	plant
	printf '%b\n' "$3" >>"$tree/$2"
	equal "$1" "$(found)" "$1"
}

plant
equal "a valid tree: no report" "$(found; echo $?)" 0

says "metadata lib/table/heap.c" lib/table/heap.c 'x = nsx_int(rec, NSX_INST_name, 0);'
says "metadata lib/filter/align/a.c" lib/filter/align/a.c 'NSX_GROUPS_members'
says "" lib/filter/merge/a.c 'NSX_INST_name NSX_CLOCK_ref'
says "" lib/table/heap.c 'NSX_INST NSX_THUNK_name NSX_DEVICE'
says "communicates lib/table/heap.c" lib/table/heap.c 'if (nsx_int(rec, NSX_OP_comm, 0) == 1)'
says "communicates lib/job/comm/nccl.c" lib/job/comm/nccl.c 'nsx_field_int(rec, NSX_ROLE_COMM, 0)'
says "communicates lib/filter/warmup.c" lib/filter/warmup.c 'w->comm |= nsx_has(rec, NSX_THUNK_comm)'
for file in stream/fields.c extract/emit.c filter/merge/run.c job/comm/communicates.c job/comm/communicates.h; do
	says "" lib/$file 'NSX_OP_comm NSX_ROLE_COMM NSX_THUNK_comm'
done
says "" lib/table/heap.c 'NSX_OP_comm_id NSX_ROLE_COMM_ID NSX_OP_collective NSX_INST'
says "absent lib/table/heap.c" lib/table/heap.c '#define ABSENT INT64_MIN'
says "key lib/table/heap.c" lib/table/heap.c '{ "device", NSX_CELL_INT }, { "count", NSX_CELL_INT }'
says "" lib/table/heap.c '{ "device", NSX_CELL_ID }, { "devices", NSX_CELL_INT }'
says "heap lib/draw/a.c" lib/draw/a.c '\twhile ((c = 2 * at + 1) < n)'
says "heap lib/draw/a.c" lib/draw/a.c '\tfor (; n && less(x, h[(n - 1) / 2]); n = (n - 1) / 2)'
says "order lib/filter/align/a.c" lib/filter/align/a.c 'cmp(const struct nsx_rec *a, const struct nsx_rec *b)'
says "" lib/stream/order.c 'cmp(const struct nsx_rec *a, const struct nsx_rec *b)'
for arrow in base:stream stream:job nsys:stream nsys:xla xla:nsys job:xla job:table filter:xla filter:table table:nsys table:filter draw:table draw:extract extract:filter; do
	says "arrow lib/${arrow%:*}/a.c ${arrow#*:}/b.h" "lib/${arrow%:*}/a.c" "#include \"${arrow#*:}/b.h\""
done
for arrow in stream:base nsys:base xla:base job:stream filter:job table:job table:xla draw:xla extract:nsys extract:xla extract:job; do
	says "" "lib/${arrow%:*}/a.c" "#include \"${arrow#*:}/b.h\""
done
says "inside filter/merge filter/align/fit.h" lib/filter/merge/a.c '#include "filter/align/fit.h"'
says "inside filter filter/align/fit.h" lib/filter/merge.c '#include "filter/align/fit.h"'
says "arrow lib/table/heap.c draw/flame/svg.h
inside table draw/flame/svg.h" lib/table/heap.c '#include "draw/flame/svg.h"'
says "inside cmd filter/merge/load.h" cmd/tool.c '#include "filter/merge/load.h"'
says "" lib/filter/merge.c '#include "filter/merge/load.h"'
says "" lib/filter/merge/a.c '#include "filter/merge/load.h"'
says "" lib/table/heap.c '#include "table/steps.h"'
says "twice constant NSX_ONE" lib/table/heap.c 'enum {\n\tOTHER = F(1, 2),\n\tNSX_ONE   /* , NSX_TWO */\n};'
says "twice tag nsx_hlo" lib/draw/a.c 'struct nsx_hlo { int y; };'
says "" lib/draw/a.c 'struct row { int y; };\nenum { OTHER };'
says "" lib/draw/a.c 'struct row *row(struct row r);'
says "long cmd/tool.c" cmd/tool.c "$(printf '%121s' x)"
says "long cmd/tool.c" cmd/tool.c "\t\t$(printf '%105s' x)"
says "" cmd/tool.c "\t\t$(printf '%104s' x | sed 's/^  /ä /')"

plant
echo '#include "base/b.h"' >"$tree/lib/base/a.h"
echo '#include "base/c.h"' >"$tree/lib/base/b.h"
echo '#include "base/a.h"' >"$tree/lib/base/c.c"
equal "files that include each other through others" "$(found)" "circle lib/base/a lib/base/b lib/base/c"
echo '#include "base/c.h"' >"$tree/lib/base/c.c"
equal "a source includes its header" "$(found)" ""

# An archive with two names, one with the prefix of the library.
if command -v cc >/dev/null && command -v nm >/dev/null && command -v ar >/dev/null; then
	plant
	printf 'int nsx_ours; int other_name; static int own; int use(void); int use(void) { return own; }\n' >"$T/a.c"
	(cd "$T" && cc -c -o a.o a.c && ar rc "$tree/build/libnsysx.a" a.o)
	equal "exported names without the prefix" "$(found)" "export other_
export use"
	printf 'export other_ : planted\nexport use : planted\n' >"$tree/tests/rooms.except"
	equal "... exceptions are accepted" "$(found)" ""
	rm "$tree/build/libnsysx.a"
	equal "... and not required without the archive" "$(found)" ""
else
	skip "exported names" "no compiler"
fi

plant
echo '#define ABSENT 1' >>"$tree/lib/table/heap.c"
printf '# kept\n\nabsent lib/table/heap.c : planted\n' >"$tree/tests/rooms.except"
equal "an exception is accepted" "$(found; echo $?)" 0
echo 'absent lib/draw/a.c : it was' >>"$tree/tests/rooms.except"
equal "an unnecessary exception is reported" "$(found; echo $?)" "absent lib/draw/a.c: no longer so: take it out of tests/rooms.except
1"
printf 'absent lib/table/heap.c\n' >"$tree/tests/rooms.except"
equal "an exception without a reason is reported" "$(found >/dev/null; echo $?)" 1

done_testing
