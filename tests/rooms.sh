#!/bin/sh
# rooms.sh -- checks the structure of lib/ that the compiler does not check: allowed includes, names of metadata columns, concepts that must be
# defined once, meanings of names. docs/hacking.md has the rules. Each violation is a line `CHECK WHAT`; those that are intended are in
# tests/rooms.except, with a reason, and one there that is no violation any more is to be taken out.
#
#     sh tests/rooms.sh [ROOT]     of the tree at ROOT [this one], whose archive is $B/libnsysx.a, where there is one [build]
#     sh tests/rooms.sh --long     lines for tests/rooms.except of the files that have lines over 120 columns now
set -u
LC_ALL=C
export LC_ALL
cd "${0%/*}/.." || exit 1
long=
[ "${1-}" = --long ] && { long=1; shift; }
cd "${1-.}" || exit 1
B=${B:-build}
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT

files() {
	find "$@" -name '*.[ch]' 2>/dev/null | sort
}
# Files of lib/ with a line like $1, except those with names like $2.
those_with() {
	files lib | grep -Ev "$2" | xargs grep -lE "$1" /dev/null
}

# Columns of metadata are read by readers of metadata only; others use the catalogue.
metadata() {
	those_with 'NSX_(PROFILE|DEVICE|COMMUNICATOR|CLOCK|PROGRAM|ALIAS|GROUPS|STACK|INST|LOC)_[a-z]' '^lib/(stream|job|extract|filter/merge)/' |
		sed 's/^/metadata /'
}

# Whether something communicates is read off its column in one place of lib/job, beside who writes the column; all others ask the catalogue.
communicates() {
	those_with 'NSX_((INST|THUNK|OP)_comm|ROLE_COMM)([^_A-Za-z0-9]|$)' '^lib/(stream|extract|filter/merge)/|^lib/job/comm/communicates\.' |
		sed 's/^/communicates /'
}

# A number that is absent is NSX_ABSENT, here and everywhere.
absent() {
	those_with '#[ 	]*define[ 	]+ABSENT' '^$' | sed 's/^/absent /'
}

# A column with the number of a thing is a key, NSX_CELL_ID, and no value; the same name is the same in every table.
keys() {
	files lib | xargs awk '
	FNR == 1 { before = told = 0 }
	!told && (before " " $0) ~ /"(device|profile|process|program|id|execution|step|range|op|call|seq|rank|group|waited_for|straggler|local|partition|point|base_step|stripes)",[ \t]*NSX_CELL_INT/ {
		print "key", FILENAME
		told = 1
	}
	{ before = $0 }' /dev/null
}

# Parents or children of an element by index are a heap.
heap() {
	those_with '(2 \* [a-z]+ \+ [12]|[a-z]+ \* 2 \+ [12])\)? <|\[\([a-z]+ - 1\) / 2\].*;.*= \([a-z]+ - 1\) / 2' '^lib/base/heap\.h$' | sed 's/^/heap /'
}

order() {
	those_with '\(const struct nsx_rec \*[a-z]+, const struct nsx_rec \*[a-z]+\)' '^lib/stream/order\.[ch]$' | sed 's/^/order /'
}

# arrow FILE HEADER: FILE includes a header that its room may not include.
arrows() {
	files lib cmd | xargs awk '
	BEGIN {
		may["base"] = " "
		may["stream"] = may["source"] = may["xla"] = " base "
		may["nsys"] = may["kineto"] = may["xplane"] = " source base "
		may["job"] = " stream base "
		may["filter"] = " job stream base "
		may["draw"] = " xla job stream base "
		may["table"] = " xplane source xla job stream base "
		may["extract"] = " nsys kineto xplane source xla job stream base "
		may["cmd"] = " extract filter table draw nsys xla job stream base "
	}
	/^#include "[a-z]+\// {
		split($0, quoted, "\"")
		header = quoted[2]
		sub(/^lib\//, "", header)
		to = header
		sub(/\/.*/, "", to)
		room = FILENAME
		sub(/^lib\//, "", room)
		sub(/\/.*/, "", room)
		if (to != room && to != "protos" && index(may[room], " " to " ") == 0)
			print "arrow", FILENAME, header
	}' /dev/null
}

# inside FOLDER HEADER: a file of FOLDER includes a header in a folder of another table, filter or picture, such as table/idle/idle.h. What others use of
# it is in the header beside the folder: table/idle.h. That header and its source may include what is inside.
insides() {
	files lib cmd | xargs awk '
	/^#include "/ {
		split($0, quoted, "\"")
		header = quoted[2]
		sub(/^lib\//, "", header)
		if (header !~ /^(table|filter|draw)\// || split(header, part, "/") < 3)
			next
		inside = header
		sub(/\/[^\/]*$/, "", inside)
		room = FILENAME
		sub(/^lib\//, "", room)
		if (index(room, inside "/") == 1 || room == inside ".c" || room == inside ".h")
			next
		sub(/\/[^\/]*$/, "", room)
		print "inside", room, header
	}' /dev/null | sort -u
}

# circle FILE FILE...: files, a source with its header, each of which includes the next by some way.
circles() {
	files lib | xargs awk '
	function name(file) { sub(/\.[ch]$/, "", file); return file }
	function reach(from, at,   n, i, list) {
		n = split(next_of[at], list, " ")
		for (i = 1; i <= n; i++)
			if (!((from, list[i]) in reached)) {
				reached[from, list[i]] = 1
				reach(from, list[i])
			}
	}
	FNR == 1 { self = name(FILENAME); if (!(self in known)) { known[self] = 1; all[++nall] = self } }
	/^#include "/ {
		split($0, quoted, "\"")
		header = quoted[2]
		if (header !~ /\//) { header = FILENAME; sub(/[^\/]*$/, "", header); header = header quoted[2] }
		else if (header !~ /^lib\//) header = "lib/" header
		if (name(header) != self && header ~ /\.h$/)
			next_of[self] = next_of[self] " " name(header)
	}
	END {
		for (i = 1; i <= nall; i++)
			reach(all[i], all[i])
		for (i = 1; i <= nall; i++) {
			if (!((all[i], all[i]) in reached) || all[i] in told)
				continue
			line = "circle"
			for (k = 1; k <= nall; k++)
				if ((all[i], all[k]) in reached && (all[k], all[i]) in reached) {
					line = line " " all[k]
					told[all[k]] = 1
				}
			print line
		}
	}' /dev/null
}

# twice tag|constant NAME: struct, union and enum tags, and enum constants, of a header that are defined in another place too. What a source has for
# itself, such as the columns of its table, means something there alone.
twice() {
	files lib | xargs awk '
	FNR == 1 { inside = comment = 0 }
	{
		line = $0
		if (comment) {
			if (!match(line, /\*\//))
				next
			line = substr(line, RSTART + 2)
			comment = 0
		}
		gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, "", line)
		if (match(line, /\/\*/)) {
			line = substr(line, 1, RSTART - 1)
			comment = 1
		}
		if (line ~ /^[ \t]*#/)
			next
		if (match(line, /(struct|union|enum) [a-z_0-9]+ \{/)) {
			split(substr(line, RSTART, RLENGTH), word, " ")
			print "tag", word[2], FILENAME
		}
		if (!inside && match(line, /(^|[ \t(])enum( [a-z_0-9]+)? \{/)) {
			line = substr(line, RSTART + RLENGTH)
			inside = 1
		}
		if (!inside)
			next
		if (match(line, /\}/)) {
			line = substr(line, 1, RSTART - 1)
			inside = 0
		}
		gsub(/\([^)]*\)/, "", line)
		n = split(line, part, ",")
		for (i = 1; i <= n; i++)
			if (match(part[i], /^[ \t]*[A-Za-z_][A-Za-z_0-9]*/)) {
				gsub(/[ \t]/, "", part[i])
				sub(/=.*/, "", part[i])
				print "constant", part[i], FILENAME
			}
	}' /dev/null | awk '
	{ name = $1 " " $2; count[name]++; shared[name] = shared[name] + ($3 ~ /\.h$/ || $2 ~ /^(nsx|NSX)_/) }
	END { for (name in count) if (count[name] > 1 && shared[name]) print "twice", name }'
}

# export PREFIX: names that the archive exports begin with nsx_.
exports() {
	[ -f "$B/libnsysx.a" ] && command -v nm >/dev/null 2>&1 || return 0
	nm -g "$B/libnsysx.a" 2>/dev/null | awk '$2 ~ /^[TDBRCV]$/ && $3 !~ /^nsx_/ { sub(/_.*/, "_", $3); print "export", $3 }' | sort -u
}

# Tabs are eight columns; a continuation byte of a character is none.
long() {
	files lib cmd | xargs awk '
	FNR == 1 { told = 0 }
	!told && length($0) > 60 {
		n = split($0, part, "\t")
		width = 0
		for (i = 1; i <= n; i++) {
			gsub(/[\200-\277]/, "", part[i])
			width += length(part[i])
			if (i < n)
				width += 8 - width % 8
		}
		if (width > 120) {
			print "long", FILENAME
			told = 1
		}
	}' /dev/null
}

if [ "$long" ]; then
	long
	exit 0
fi
for check in metadata communicates absent keys heap order arrows insides circles twice exports long; do
	$check
done | sort >"$T/found"
except=tests/rooms.except
[ -f $except ] || except=/dev/null
# A line of these: CHECK WHAT..., then the reason after a colon.
sed -E '/^(#|$)/d; s/ *:.*//' $except | sort >"$T/meant"
if [ "$(sed -E '/^(#|$)/d; /^long /d' $except | grep -vc ' : [^ ]')" -gt 0 ]; then
	echo "tests/rooms.except: an exception without a reason:"
	sed -E '/^(#|$)/d; /^long /d' $except | grep -v ' : [^ ]'
	exit 1
fi
[ -f "$B/libnsysx.a" ] && command -v nm >/dev/null 2>&1 || sed -i '/^export /d' "$T/meant"
comm -23 "$T/found" "$T/meant" >"$T/new"
comm -13 "$T/found" "$T/meant" | sed 's/$/: no longer so: take it out of tests\/rooms.except/' >"$T/old"
cat "$T/new" "$T/old"
[ ! -s "$T/new" ] && [ ! -s "$T/old" ]
