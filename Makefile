# nsysx -- see README.md. `make` builds everything into $B/bin; B=DIR builds elsewhere.
# Objects built with other flags belong in another B.
B ?= build
ifeq ($(origin CC),default)
CC = gcc
endif
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/nsysx
SKILLDIR = $(DATADIR)/nsysx/skills/nsysx
# Where the shells look for completions by themselves.
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d
WARN = -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Werror=incompatible-pointer-types
STD = -std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -pthread
LDLIBS = -lsqlite3 -lprotobuf-c -lzstd -llzma -lz -lm -ldl
ASAN = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
TSAN = -O1 -g -fsanitize=thread
S ?= 60
# What `make check` is given to run side by side, unless -j says otherwise.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN))

LIB_SRC = $(wildcard lib/*/*.c lib/*/*/*.c)
LIB_OBJ = $(LIB_SRC:%.c=$B/%.o) $(PB_OBJ)
TOOL_SRC = $(wildcard cmd/nsysx*.c)
TOOLS = $(TOOL_SRC:cmd/%.c=$B/bin/%) $(SCRIPTS:cmd/%.sh=$B/bin/%)
SCRIPTS = $(wildcard cmd/nsysx-*.sh)
SYNTH = $B/tests/synth/nsysx-synth
SYNTH_OBJ = $(patsubst %.c,$B/%.o,$(wildcard tests/synth/*.c)) $(filter $B/lib/base/%,$(LIB_OBJ))
UNIT = $(patsubst %.c,$B/%,$(wildcard tests/unit/*.c))
BENCH = $(patsubst %.c,$B/%,$(wildcard tests/bench/*.c))
# One target a file; replay.c is a main() that feeds them their corpus without libFuzzer.
FUZZ = $(filter-out replay,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
REPLAY = $(FUZZ:%=$B/tests/fuzz/%-replay)
# What makes calls fail under the tools, and what tries each call in turn.
FAULT = $B/tests/fault/shim.so $B/tests/fault/sweep
# What damages exports.
DAMAGE = $B/tests/damage/damage
MAN = $(wildcard docs/man/*.[1-8])
DOCS = README.md LICENSE protos/nsysx.proto $(wildcard docs/*.md)
# What -V prints, and what packages are called.
VERSION = $(shell sed -n 's/^\#define NSX_VERSION "\(.*\)"/\1/p' lib/base/cli.h)
# Headers for programs of one's own; they include each other and nothing else of ours.
PUBLIC = $(patsubst %,lib/base/%.h,arena cli declare diag err escape map num only outfile str table vec) \
	$(patsubst %,lib/stream/%,diags.h fields.h kinds.h kinds.def reader.h run.h spool.h writer.h)
# What a report is made with, where there is such a thing: not the C that is compiled in.
REPORT = $(if $(wildcard lib/report),$(shell cd lib/report && find . -type f ! -name '*.[ch]'))
# These describe what we write by hand; the tests hold it to that. The others become code.
PB_DOC = protos/nsysx.proto protos/perfetto.proto
PB_SRC = $(patsubst %.proto,$B/%.pb-c.c,$(filter-out $(PB_DOC),$(wildcard protos/*.proto)))
PB_OBJ = $(PB_SRC:%.c=%.o)

# What an object depends on, under both names that it has: make is also run with an absolute B.
DEPS = -MMD -MP -MT $(patsubst $(CURDIR)/%,%,$@) -MT $(abspath $@)

# The README's first commands generate profiles: where that is built from is here, nsysx-synth is too.
all: $(TOOLS) $B/completion/.done $(if $(wildcard tests/synth/*.c),$(SYNTH))

$B/%.o: %.c | $B/.ready $(PB_SRC)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(DEPS) -Ilib -I$B $(CPPFLAGS) -c -o $@ $<
$B/protos/%.pb-c.c: protos/%.proto | $B/.ready
	protoc-c --c_out=$B $<
$(PB_OBJ): %.o: %.c
	$(CC) $(STD) $(CFLAGS) -w $(DEPS) -I$B $(CPPFLAGS) -c -o $@ $<
# Style and script of a picture as C's bytes.
$B/lib/draw/flame/%.h: lib/draw/flame/%
	@mkdir -p $(@D)
	od -An -v -tx1 $< | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g' >$@
$B/lib/draw/flame/svg.o: $B/lib/draw/flame/flame.css.h $B/lib/draw/flame/flame.js.h
$B/libtool.a: $B/cmd/tool.o $B/cmd/tables.o $B/cmd/files_from.o $B/cmd/progress.o
$B/libnsysx.a: $(LIB_OBJ)
$B/libtool.a $B/libnsysx.a:
	@rm -f $@
	$(AR) rcs $@ $^
$B/bin/%: $B/cmd/%.o $B/libtool.a $B/libnsysx.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LDLIBS)
# A script in the build finds lib/report in the source; once installed, in share. What scripts share is put into each.
script = sed -e 's|@REPORT@|$1|' -e '/^@FILES_FROM@$$/{' -e 'r cmd/files_from.sh' -e 'd' -e '}'
$(SCRIPTS:cmd/%.sh=$B/bin/%): $B/bin/%: cmd/%.sh cmd/files_from.sh
	@mkdir -p $(@D)
	$(call script,$(CURDIR)/lib/report) $< >$@.new && chmod 755 $@.new && mv -f $@.new $@
# Completions of the shells, from the tools' --help.
$B/completion/.done: $(TOOLS) $(wildcard lib/completion/*)
	sh lib/completion/make.sh $B/completion $(sort $(TOOLS))
	@touch $@
$(SYNTH): $(SYNTH_OBJ)
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ -lsqlite3 -lzstd -llzma -lz -lm
$(UNIT) $(BENCH) $(DAMAGE): %: %.o $B/libnsysx.a
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LDLIBS)
$B/tests/fuzz/%-replay: $B/tests/fuzz/%.o $B/tests/fuzz/replay.o $B/libnsysx.a
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LDLIBS)
$B/tests/fuzz/pipeline.o: $B/tests/fuzz/listed.h
# The tables of tests/tools.list that have options like each other.
$B/tests/fuzz/listed.h: tests/tools.list
	@mkdir -p $(@D)
	awk -F'\t' '$$1 == "fuzz" || $$1 == "analysis" { if (!had[$$3]++) print "#include \"table/" $$3 ".h\""; all = all " \\\n\t" ($$1 == "fuzz" ? "X(" : "Y(") $$3 ", " ($$2 == "-" ? "0" : $$2) ")" } \
		END { print "#define FUZZ_LISTED(X, Y)" all }' $< >$@
# Without the flags of sanitizers, which have allocators of their own.
$B/tests/fault/shim.so: tests/fault/shim.c tests/fault/fault.h | $B/.ready
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) -O2 -g -fPIC -shared -o $@ $< -ldl
$B/tests/fault/sweep: $B/tests/fault/sweep.o
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^
$B/fuzz/%: $B/tests/fuzz/%.o $B/libnsysx.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pthread -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LDLIBS)
# Says in one line what a compiler would say in fifty, where something that the build needs is missing.
$B/.ready: tests/setup.sh
	@B=$B CC='$(CC)' sh tests/setup.sh --build
	@touch $@

# make check T='view num' runs the test files of those names alone.
check:
	@B=$B CC='$(CC)' sh tests/setup.sh
	@$(MAKE) $(JOBS) --no-print-directory --silent all tests
	@B=$B T='$T' sh tests/run.sh
tests: $(UNIT) $(REPLAY) $(BENCH) $(FAULT) $(DAMAGE) $(if $(wildcard tests/synth/*.c),$(SYNTH))
# Fails each call of the tools to the system, not a sample of them: half an hour of a core.
faults: all tests
	@B='$(abspath $B)' FAULTS=all sh tests/tools/faults.sh
# 10,000 damaged exports, with a table of how reading them ended; N=NUMBER tries others.
damage: all tests
	@B='$(abspath $B)' DAMAGE=$(or $N,10000) sh tests/tools/damage.sh
# Those that take a browser or a long time; each is skipped by name where what it needs is not here and cannot be installed.
check-slow:
	@B=$B CC='$(CC)' sh tests/setup.sh
	@B=$B CC='$(CC)' sh tests/setup.sh --slow
	@$(MAKE) $(JOBS) --no-print-directory --silent all tests
	@B=$B SLOW=1 T='$T' sh tests/run.sh
asan:
	$(MAKE) B=build/asan CFLAGS='$(ASAN) -DNSX_CHECK_NEEDS' check
tsan:
	$(MAKE) B=build/tsan CFLAGS='$(TSAN)' check
# What of lib/ the tests run; make coverage T='view num' runs the test files of those names alone. The table is build/coverage/table.
coverage:
	@$(MAKE) $(JOBS) --no-print-directory --silent B=build/coverage CFLAGS='-O0 -g --coverage' all tests
	@find build/coverage -name '*.gcda' -exec rm -f {} +
	@B=build/coverage T='$T' sh tests/run.sh || echo 'coverage: of a run with failures' >&2
	@sh tests/coverage.sh >build/coverage/table; status=$$?; cat build/coverage/table; exit $$status
# What compilers and linters say: nothing, or it fails.
lint:
	@B=$B sh tests/lint.sh
# make fuzz fuzzes each target for S seconds; make fuzz T=text S=600 that one alone. A crash is left as build/found/text-*.
FUZZ_LIMITS = -rss_limit_mb=512 -malloc_limit_mb=256 -timeout=10 -max_len=100000
fuzz:
	@$(MAKE) $(JOBS) --no-print-directory B=build/fuzz CC=clang CFLAGS='$(ASAN) -fsanitize=fuzzer-no-link' \
		$(patsubst %,build/fuzz/fuzz/%,$(or $T,$(FUZZ)))
	@for t in $(or $T,$(FUZZ)); do \
		mkdir -p build/found/$$t && \
		build/fuzz/fuzz/$$t $(FUZZ_LIMITS) -max_total_time=$S -print_final_stats=1 -artifact_prefix=build/found/$$t- \
			$$(find tests/fuzz/$$t.dict 2>/dev/null | sed 's/^/-dict=/') build/found/$$t tests/fuzz/corpus/$$t || exit 1; \
	done
# Into the corpus what fuzzing found that reaches more code, in as few files as can be: make fuzz-keep T=text.
fuzz-keep:
	@for t in $(or $T,$(FUZZ)); do \
		rm -rf build/kept && mkdir -p build/kept/from build/kept/to && \
		find build/found/$$t -type f -size -11k -exec cp {} build/kept/from \; && \
		build/fuzz/fuzz/$$t $(FUZZ_LIMITS) -use_counters=0 -set_cover_merge=1 build/kept/to tests/fuzz/corpus/$$t build/kept/from || exit 1; \
		for f in build/kept/to/*; do sha1sum tests/fuzz/corpus/$$t/* | grep -q "^$${f##*/} " || cp $$f tests/fuzz/corpus/$$t; done; \
	done
demo:
	@B=$B CC='$(CC)' sh tests/setup.sh
	@$(MAKE) $(JOBS) --no-print-directory --silent all $(SYNTH)
	@B=$B sh tests/demo.sh
# make bench T='extract filters' runs these parts alone; SCALE=large takes an export of 16 million ranges.
bench: all $(SYNTH) $(BENCH)
	@B=$B T='$T' SCALE='$(SCALE)' sh tests/bench/run.sh
# The lists of all tools, from their pages.
index:
	@sh tests/index.sh
bench-doc: bench
	@B=$B sh tests/bench/table.sh docs/performance.md && sh tests/bench/table.sh docs/tour.md

# The tools and what belongs to them, and what programs of one's own are built with. DESTDIR is put before every path.
install: install-tools install-dev
put = install -d '$(DESTDIR)$2' && install -m $1 $3 '$(DESTDIR)$2'
install-tools: all
	$(call put,755,$(BINDIR),$(TOOLS))
	# A script of ours looks for the report's makefile beside itself, or where it is installed.
	for script in $(SCRIPTS); do \
		tool='$(DESTDIR)$(BINDIR)'/$$(basename $$script .sh); \
		$(call script,$(DATADIR)/nsysx/report) $$script >"$$tool" && chmod 755 "$$tool" || exit 1; \
	done
	for page in $(MAN); do \
		dir='$(DESTDIR)$(MANDIR)'/man$${page##*.}; \
		install -d "$$dir" && install -m 644 $$page "$$dir" || exit 1; \
	done
	for f in $(REPORT); do \
		dir='$(DESTDIR)$(DATADIR)/nsysx/report/'$${f%/*}; mode=644; [ -x lib/report/$$f ] && mode=755; \
		install -d "$$dir" && install -m $$mode lib/report/$$f "$$dir" || exit 1; \
	done
	$(call put,644,$(DOCDIR),$(DOCS))
	# The runbook as what agents look for.
	install -d '$(DESTDIR)$(SKILLDIR)' && install -m 644 docs/diagnose.md '$(DESTDIR)$(SKILLDIR)/SKILL.md'
	$(call put,644,$(BASHDIR),$B/completion/nsysx.bash)
	mv '$(DESTDIR)$(BASHDIR)/nsysx.bash' '$(DESTDIR)$(BASHDIR)/nsysx'
	for tool in $(filter-out nsysx,$(notdir $(TOOLS))); do ln -sf nsysx '$(DESTDIR)$(BASHDIR)'/$$tool || exit 1; done
	$(call put,644,$(ZSHDIR),$B/completion/_nsysx)
	$(call put,644,$(FISHDIR),$(TOOLS:$B/bin/%=$B/completion/fish/%.fish))
install-dev: $B/libnsysx.a
	$(call put,644,$(LIBDIR),$B/libnsysx.a)
	$(call put,644,$(INCLUDEDIR)/nsysx/base,$(filter lib/base/%,$(PUBLIC)))
	$(call put,644,$(INCLUDEDIR)/nsysx/stream,$(filter lib/stream/%,$(PUBLIC)))
	$(call put,644,$(DOCDIR)/examples,$(wildcard docs/example/*))
	install -d '$(DESTDIR)$(LIBDIR)/pkgconfig'
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@INCLUDEDIR@|$(call below,$(INCLUDEDIR))|; s|@LIBDIR@|$(call below,$(LIBDIR))|' \
		-e 's|@VERSION@|$(VERSION)|; s|@LIBS@|-pthread $(LDLIBS)|' lib/nsysx.pc.in >$B/nsysx.pc
	install -m 644 $B/nsysx.pc '$(DESTDIR)$(LIBDIR)/pkgconfig'
below = $(patsubst $(PREFIX)/%,$${prefix}/%,$1)

# What `make install` of the same paths left, and of folders those that are ours alone.
drop = for f in $2; do rm -f '$(DESTDIR)$1'/$$f; done
uninstall:
	$(call drop,$(BINDIR),$(notdir $(TOOLS)))
	for page in $(notdir $(MAN)); do rm -f '$(DESTDIR)$(MANDIR)'/man$${page##*.}/$$page; done
	$(call drop,$(BASHDIR),$(notdir $(TOOLS)))
	$(call drop,$(ZSHDIR),_nsysx)
	$(call drop,$(FISHDIR),$(TOOLS:$B/bin/%=%.fish))
	$(call drop,$(DATADIR)/nsysx/report,$(REPORT))
	$(call drop,$(SKILLDIR),SKILL.md)
	$(call drop,$(DOCDIR),$(notdir $(DOCS)) $(patsubst docs/example/%,examples/%,$(wildcard docs/example/*)))
	$(call drop,$(LIBDIR),libnsysx.a pkgconfig/nsysx.pc)
	$(call drop,$(INCLUDEDIR)/nsysx,$(PUBLIC:lib/%=%))
	for dir in '$(DESTDIR)$(INCLUDEDIR)/nsysx' '$(DESTDIR)$(DATADIR)/nsysx' '$(DESTDIR)$(DOCDIR)'; do \
		[ ! -d "$$dir" ] || find "$$dir" -depth -type d -empty -exec rmdir {} \; ; \
	done
# Debian packages in $B: nsysx and libnsysx-dev.
deb:
	@B=$B CC='$(CC)' JOBS='$(JOBS)' sh packaging/deb.sh $(VERSION)
clean:
	rm -rf $B
.SECONDARY:
.PHONY: all check tests index asan tsan fuzz demo bench bench-doc install faults damage check-slow fuzz-keep coverage lint install-tools install-dev uninstall deb clean
-include $(wildcard $B/*/*.d $B/*/*/*.d $B/*/*/*/*.d)
