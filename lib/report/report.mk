# report.mk -- a folder with the first answers about Nsight Systems profiles: streams, tables, flame graphs, plots and a
# page.
#
#   make -f report.mk PROFILES="r0.sqlite r1.sqlite" DUMPS="dump0 dump1" OUT=report
#   make -f report.mk OUT=report clean
#
# It rebuilds files that are older than their inputs, in parallel with -j, and the same inputs give the same bytes.
# nsysx-report(1) calls it and describes the contents of the folder. A makefile that includes this one has the targets
# nsysx-report and nsysx-report-clean.
#
#   PROFILES       exports, as nsysx-extract reads them, or streams, whose names end in .nsysx
#   DUMPS          folders of HLO dumps: one for each profile in order, - for none; or one for all
#   OUT            the folder to make                          [report]
#   TITLE          the page's title                            [made of the profiles' names]
#   ALIGN=no       leave the clocks unchanged
#   WARMUP=no      keep the first executions
#   DETAIL=no      omit NVTX ranges, single GPU operations and CUDA calls, which make streams large
#   EXTRACT_FLAGS  further options of nsysx-extract, as the shell reads them; likewise ALIGN_FLAGS, FLAME_FLAGS
#   NSYSX          the folder of the tools                     [PATH]
#   GNUPLOT        gnuplot; without it there are no plots      [gnuplot]
#   TRACE=yes      also a trace for Perfetto
#   SINGLE=yes     also the page with its pictures in one file, single.html
#   THREADS=N      threads of each command at most, and of those that extract: EXTRACT_THREADS=N  [one for each processor]
#   V=1            show commands

nsysx_here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
OUT ?= report
GNUPLOT ?= gnuplot
nsysx_alone := $(filter 1,$(words $(MAKEFILE_LIST)))
# A file that sets PROFILES and DUMPS, where they are too long for an argument.
ifneq ($(NAMES),)
include $(NAMES)
endif
nsysx_at := $(if $(V),,@)
nsysx_bin := $(if $(NSYSX),$(abspath $(NSYSX))/)
# $(call nsysx_quoted,TEXT): TEXT as one shell word.
nsysx_quoted = '$(subst ','\'',$(1))'

# Characters that make or the shell would interpret in the names of targets.
nsysx_hash := \#
nsysx_odd := : % $$ ' " \ ; & | ( ) < > * ? [ ] ~ = ` $(nsysx_hash)
ifneq ($(words $(OUT)),1)
$(error nsysx-report: OUT: want one folder, without spaces in its name, got "$(OUT)")
endif
$(foreach c,$(nsysx_odd),$(if $(findstring $(c),$(OUT)),$(error nsysx-report: OUT: want a name of letters, digits and _ - + , . @ /, got "$(OUT)")))
ifneq ($(filter -%,$(OUT)),)
$(error nsysx-report: OUT: want a name that does not begin with -, got "$(OUT)")
endif
nsysx_out := $(patsubst %/,%,$(OUT))
ifneq ($(words $(DUMPS)),0)
ifneq ($(words $(DUMPS)),1)
ifneq ($(words $(DUMPS)),$(words $(PROFILES)))
$(error nsysx-report: DUMPS: want none, one, or one for each of the $(words $(PROFILES)) PROFILES, got $(words $(DUMPS)))
endif
endif
endif

nsysx_profiles := $(shell seq 1 $(words $(PROFILES)))
# $(call nsysx_each,NAME,LIST): NAME_1, NAME_2... become the words of LIST. To look each up in the list would take the
# square of its length.
nsysx_each = $(foreach pair,$(join $(nsysx_profiles:%=%=),$(2)),$(eval $(1)_$(firstword $(subst =, ,$(pair))) := $$(call nsysx_after,$$(pair))))
nsysx_after = $(patsubst $(firstword $(subst =, ,$(1)))=%,%,$(1))
$(call nsysx_each,nsysx_profile,$(PROFILES))
$(if $(word 2,$(DUMPS)),$(call nsysx_each,nsysx_dump,$(DUMPS)))
# $(call nsysx_dump,N): the dump of profile N, empty if it has none.
nsysx_dump = $(filter-out -,$(if $(word 2,$(DUMPS)),$(nsysx_dump_$(1)),$(DUMPS)))
# Two of them, which is what the page shows: whether there is one, and whether there are more.
nsysx_given := $(wordlist 1,2,$(filter-out -,$(DUMPS)))
nsysx_streams := $(nsysx_profiles:%=$(nsysx_out)/streams/profile-%.nsysx)
nsysx_last := $(nsysx_out)/streams/collectives.nsysx
nsysx_asks := $(nsysx_out)/.state/asks
nsysx_detail := $(if $(filter no,$(DETAIL)),,-a)

# Tables from one reading of the stream are made together; `records` are tables of records of the stream, unchanged.
nsysx_table = $(patsubst %,$(nsysx_out)/tables/%.tsv,$(1))
nsysx_program_by := module thunk variable opcode collective
# What these say is not repeated: most of it the others said.
nsysx_whole_by := device total
nsysx_group_by := node rack
nsysx_detail_by := $(if $(nsysx_detail),range kernel phase)
nsysx_summaries := $(call nsysx_table,$(nsysx_program_by) $(nsysx_whole_by) $(nsysx_group_by) $(nsysx_detail_by))
nsysx_compile_by := range pass phase module process
nsysx_compiles := $(call nsysx_table,$(nsysx_compile_by:%=compile-%))
nsysx_kinds := diag clock skew profile device program collective
nsysx_records := $(call nsysx_table,$(nsysx_kinds:%=record-%))
nsysx_idles := $(if $(nsysx_detail),$(call nsysx_table,idle gaps path copies))
nsysx_diagnosed := $(nsysx_out)/summary.md $(call nsysx_table,findings where step-each) $(nsysx_idles)
nsysx_relevant := $(call nsysx_table,relevant)
nsysx_counted := $(nsysx_out)/.state/steps.tsv
nsysx_late := stragglers curve waits pairs
nsysx_detailed := $(if $(nsysx_detail),$(call nsysx_table,lanes step-phase)) $(call nsysx_table,roofline points)
nsysx_host := $(if $(nsysx_detail),$(call nsysx_table,host))
nsysx_tables := $(nsysx_diagnosed) $(nsysx_relevant) $(nsysx_host) $(nsysx_summaries) $(nsysx_compiles) $(nsysx_records) $(nsysx_detailed) \
	$(call nsysx_table,bandwidth residual $(nsysx_late) waits-rack heap heap-peak heap-at-peak)
nsysx_traces := $(if $(filter yes,$(TRACE)),$(nsysx_out)/job.pftrace)
nsysx_program_folds := source op-name module
nsysx_range_folds := $(if $(nsysx_detail),nvtx kernel)
nsysx_folded := $(patsubst %,$(nsysx_out)/flame/%.folded,$(nsysx_program_folds) $(nsysx_range_folds))
nsysx_host_fold := $(if $(nsysx_detail),$(nsysx_out)/flame/host.folded)
nsysx_flames := $(nsysx_folded:.folded=.svg) $(nsysx_host_fold:.folded=.svg)
nsysx_drawn := bandwidth waits skew variability lockstep heap steps percentiles roofline
nsysx_plots := $(nsysx_out)/.state/drawn
nsysx_folders := $(patsubst %,$(nsysx_out)/%,.state streams tables flame plots logs/streams logs/tables logs/flame)

# Messages of a command are kept for the page, and shown if it fails: one file for each target, with its name. A rule
# that makes several files at once sets nsysx_as, the name of its log.
nsysx_log = $(nsysx_out)/logs/$(or $(nsysx_as),$(patsubst $(nsysx_out)/%,%,$(basename $@))).log
# A page describes the files next to it: it is removed before any of them changes, so that no page remains of a report
# that could not be finished.
# Most recipes are one line, and use builtins of the shell instead of processes: for a small profile most of the time is
# that of starting processes.
nsysx_begin = [ ! -e $(nsysx_out)/index.html ] || rm -f $(nsysx_out)/index.html; unset NSYSX_FORMAT;
# Messages do not depend on the name of the folder.
nsysx_said = 2>$(nsysx_log) || { s=$$?; cat $(nsysx_log) >&2; exit $$s; }; \
	if [ -s $(nsysx_log) ]; then sed 's|$(nsysx_out)/||g' $(nsysx_log) >$(nsysx_log).new && mv -f $(nsysx_log).new $(nsysx_log); fi
# $(call nsysx_part,TOOL): of that log, what is of a table that TOOL makes, too, goes into that table's.
nsysx_part = : >$(nsysx_out)/logs/tables/$(1).log; [ ! -s $(nsysx_log) ] || { : >$(nsysx_log).new; while IFS= read -r l; do \
	case $$l in nsysx-$(1):*) printf '%s\n' "$$l" >>$(nsysx_out)/logs/tables/$(1).log ;; *) printf '%s\n' "$$l" >>$(nsysx_log).new ;; esac; \
	done <$(nsysx_log); mv -f $(nsysx_log).new $(nsysx_log); }
# $(call nsysx_tell,TEXT): with NSYSX_TELL set, the current step is reported on standard error.
nsysx_tell = $(if $(NSYSX_TELL),@printf 'nsysx-report: %s\n' '$(1)' >&2)
nsysx_tool = $(nsysx_at)$(nsysx_begin) LC_ALL=C $(nsysx_bin)nsysx-
nsysx_extractor = $(nsysx_at)$(nsysx_begin) LC_ALL=C $(if $(EXTRACT_THREADS),NSYSX_THREADS=$(EXTRACT_THREADS)) $(nsysx_bin)nsysx-
ifneq ($(THREADS),)
export NSYSX_THREADS := $(THREADS)
endif

# With CDPATH, cd may change to another folder and print its name.
unexport CDPATH

.DELETE_ON_ERROR:
ifneq ($(nsysx_alone),)
.SUFFIXES:
.DEFAULT_GOAL := nsysx-report
report: nsysx-report
clean: nsysx-report-clean
.PHONY: report clean
endif

nsysx-report: $(nsysx_out)/index.html $(if $(filter yes,$(SINGLE)),$(nsysx_out)/single.html)
	@echo $(nsysx_out)/index.html
nsysx-report-clean:
	$(nsysx_at)[ -d $(nsysx_out)/.state ] || exit 0; \
	rm -rf $(patsubst %,$(nsysx_out)/%,streams tables flame plots logs index.html summary.md single.html job.pftrace .state) && { rmdir $(nsysx_out) 2>/dev/null || :; }
nsysx-force:
nsysx-folders:
	@mkdir -p $(nsysx_folders)
$(nsysx_profiles:%=$(nsysx_out)/.state/profile-%) $(patsubst %,$(nsysx_out)/.state/%,flags page gnuplot dump): | nsysx-folders
$(nsysx_streams) $(nsysx_out)/streams/extracted.nsysx $(nsysx_last) $(nsysx_tables) $(nsysx_traces) $(nsysx_folded) $(nsysx_host_fold) $(nsysx_flames): | nsysx-folders
$(nsysx_out)/plots/marks.tsv $(nsysx_drawn:%=$(nsysx_out)/plots/%.dat) $(nsysx_plots) $(nsysx_out)/index.html: | nsysx-folders
.PHONY: nsysx-report nsysx-report-clean nsysx-force nsysx-folders

# A state is rewritten only if its contents have changed, so that checking it causes no rebuild.
# Time, size, inode and the time of its last change of any kind show if a file was replaced, or written under its old time.
nsysx_version = $(eval nsysx_version := $(shell $(nsysx_bin)nsysx-extract --version))$(nsysx_version)
nsysx_stat := stat -L -c '%n %s %Y %i %z'
nsysx_state = if [ -e $@ ] && cmp -s $@.new $@; then rm -f $@.new; else mv -f $@.new $@; fi
# The state of a profile: tools, options, file and dump; file and dump must not be newer than the state itself. Their
# names never become targets, so they may contain any character that a word of make can.
$(nsysx_out)/.state/profile-%: nsysx-force
	@LC_ALL=C; export LC_ALL; \
	p=$(call nsysx_quoted,$(nsysx_profile_$*)) x=$(call nsysx_quoted,$(call nsysx_dump,$*)); \
	if ! [ -e "$$p" ]; then echo "nsysx-report: $$p: No such file (names with spaces cannot be used: link to them)" >&2; exit 1; fi; \
	if ! [ -f "$$p" ] || ! [ -r "$$p" ]; then echo "nsysx-report: $$p: want a file that can be read (names with spaces cannot be used: link to them)" >&2; exit 1; fi; \
	if [ "$$x" ] && ! [ -e "$$x" ]; then echo "nsysx-report: $$x: No such folder of dumps" >&2; exit 1; fi; \
	if [ "$$x" ] && ! [ -d "$$x" ]; then echo "nsysx-report: $$x: want a folder of dumps" >&2; exit 1; fi; \
	case $$p in /*) ;; *) p=./$$p ;; esac; case $$x in ''|/*) ;; *) x=./$$x ;; esac; \
	{ [ '$(nsysx_version)' ] && printf '%s\n' '$(nsysx_version)' $(call nsysx_quoted,$(nsysx_detail) $(EXTRACT_FLAGS)) "$$p" "$$x" && \
	$(nsysx_stat) "$$p" && { [ -z "$$x" ] || find -L "$$x" -type f -exec $(nsysx_stat) {} + | sort; }; } >$@.new || exit 1; \
	[ -e $@ ] && [ "$$(find -L "$$p" $${x:+"$$x"} -newer $@ | head -n 1)" ] && rm -f $@; $(nsysx_state)
$(nsysx_out)/.state/flags: nsysx-force
	@printf '%s\n' '$(nsysx_version)' $(call nsysx_quoted,$(words $(PROFILES)) $(ALIGN) $(WARMUP) $(ALIGN_FLAGS) $(FLAME_FLAGS)) >$@.new; $(nsysx_state)
$(nsysx_out)/.state/page: nsysx-force
	@printf '%s\n' $(call nsysx_quoted,$(TITLE)) $(call nsysx_quoted,$(nsysx_given)) $(call nsysx_quoted,$(DETAIL) $(TRACE) $(SINGLE)) >$@.new; $(nsysx_state)
$(nsysx_out)/.state/gnuplot: nsysx-force
	@set -- $(GNUPLOT); { p=$$(command -v "$$1") && echo "$$*" && $(nsysx_stat) "$$p"; } >$@.new 2>/dev/null || : >$@.new; $(nsysx_state)

# Streams: of each profile, of all together, and the one from which tables are made.
$(nsysx_streams): $(nsysx_out)/streams/profile-%.nsysx: $(nsysx_out)/.state/profile-%
	$(call nsysx_tell,extracting $(notdir $(subst ',,$(nsysx_profile_$*))))
	$(nsysx_extractor)$(if $(filter %.nsysx,$(nsysx_profile_$*)),view -b,extract -b --host $(nsysx_detail) $(EXTRACT_FLAGS) $(if $(call nsysx_dump,$*),-x $(call nsysx_quoted,$(call nsysx_dump,$*)))) \
		-o $@ -- $(call nsysx_quoted,$(nsysx_profile_$*)) $(nsysx_said)
# Streams are named by a shell pattern: thousands of names would not fit into a command. Streams with higher numbers
# belong to an earlier list of profiles and are removed.
# A single profile needs no merging.
ifeq ($(PROFILES),)
$(nsysx_out)/streams/extracted.nsysx:
	@echo 'nsysx-report: PROFILES: want the exports to report on' >&2; exit 1
else
$(nsysx_out)/streams/extracted.nsysx: $(nsysx_streams) $(nsysx_out)/.state/flags
	@$(nsysx_begin) cd $(@D) && for f in profile-*.nsysx ../logs/streams/profile-*.log; do n=$${f##*/profile-}; n=$${n#profile-}; [ "$${n%.*}" -le $(words $(PROFILES)) ] || rm -f "$$f"; done
ifeq ($(words $(PROFILES)),1)
	$(nsysx_at)rm -f $@ && { ln $< $@ 2>/dev/null || cp $< $@; } && touch $@
else
	$(call nsysx_tell,merging $(words $(PROFILES)) profiles)
	$(nsysx_at)printf '%s\0' $(nsysx_out)/streams/profile-*.nsysx >$(nsysx_out)/.state/streams
	$(nsysx_tool)merge -b -o $@ --files-from $(nsysx_out)/.state/streams $(nsysx_said)
endif
endif
# The same rule makes nsysx_asks, the list of what the stream can answer. Much needs executions of programs, or
# communication.
$(nsysx_last): $(nsysx_out)/streams/extracted.nsysx $(nsysx_out)/.state/flags
	$(call nsysx_tell,comparing clocks$(nsysx_comma) leaving out first executions$(nsysx_comma) measuring communication)
	$(nsysx_tool)prepare --can=$(nsysx_asks) --logs=$(nsysx_out)/logs/streams $(if $(filter no,$(ALIGN)),--no-align) $(if $(filter no,$(WARMUP)),--no-warmup) \
		$(if $(nsysx_detail),,--no-detail) --no-marks --align-flags=$(call nsysx_quoted,$(ALIGN_FLAGS)) -o $@ $< >/dev/null

# Tables.
# $(call nsysx_can,WORD): whether the stream can answer WORD. A table that it cannot answer is an empty file.
nsysx_can = { w=; while read -r w && [ "$$w" != $(1) ]; do :; done <$(nsysx_asks); [ "$$w" = $(1) ]; }
nsysx_ask = $(nsysx_at)$(nsysx_begin) if ! $(call nsysx_can,$(1)); then : >$@; : >$(nsysx_log); exit; fi; LC_ALL=C $(nsysx_bin)nsysx-
# $(call nsysx_asked,WORD,FILES): the same for several files.
nsysx_asked = $(nsysx_at)$(nsysx_begin) if ! $(call nsysx_can,$(1)); then for f in $(2); do : >$$f; done; : >$(nsysx_log); exit; fi; LC_ALL=C $(nsysx_bin)nsysx-
# $(call nsysx_empty,NAMES,FOLDER,ENDING,MADE): empty files for those of the names that are not in the list MADE. The others stay as
# they are until their command has written new ones: commands that make takes them to be up to date for may be reading them.
nsysx_empty = for n in $(1); do case ,$(4), in *,$$n,*) ;; *) : >$(nsysx_out)/$(2)/$$n.$(3) ;; esac; done
nsysx_comma := ,
nsysx_list = $(subst $(eval) ,$(nsysx_comma),$(strip $(1)))
# The targets are patterns in which % stands for a dot, so that make knows that one call makes them all.
$(nsysx_summaries): private nsysx_as := tables/summary
$(nsysx_summaries:.tsv=%tsv): $(nsysx_last)
	$(call nsysx_tell,making tables)
	$(nsysx_at)$(nsysx_begin) : >$(nsysx_log); \
	by=$(call nsysx_list,$(nsysx_detail_by)) whole=; ! $(call nsysx_can,comm) || \
		by=$(call nsysx_list,collective $(nsysx_detail_by)) whole=$(call nsysx_list,$(nsysx_group_by)); \
	! $(call nsysx_can,xla) || { by=$(call nsysx_list,$(nsysx_program_by) $(nsysx_detail_by)) whole=$(call nsysx_list,$(nsysx_whole_by) $(nsysx_group_by)); }; \
	$(call nsysx_empty,$(nsysx_program_by) $(nsysx_whole_by) $(nsysx_group_by) $(nsysx_detail_by),tables,tsv,$$by$(nsysx_comma)$$whole); \
	[ -z "$$by" ] || { LC_ALL=C; export LC_ALL; \
		$(nsysx_bin)nsysx-summary --tsv --by $$by $(if $(nsysx_detail),--no-compile --names=steps) -o '$(nsysx_out)/tables/%.tsv' $(nsysx_last) && \
		{ [ -z "$$whole" ] || $(nsysx_bin)nsysx-summary -q --tsv --by $$whole -o '$(nsysx_out)/tables/%.tsv' $(nsysx_last); }; } $(nsysx_said)
$(nsysx_out)/tables/bandwidth.tsv: $(nsysx_last)
	$(call nsysx_ask,comm)collectives --tsv --summary -o $@ $< $(nsysx_said)
$(nsysx_compiles): private nsysx_as := tables/compile
$(nsysx_compiles:.tsv=%tsv): $(nsysx_out)/streams/extracted.nsysx $(nsysx_last)
	$(call nsysx_asked,compile,$(nsysx_compiles))compile --tsv --by $(call nsysx_list,$(nsysx_compile_by)) -o '$(nsysx_out)/tables/compile-%.tsv' $(nsysx_out)/streams/extracted.nsysx $(nsysx_said)
$(nsysx_records): private nsysx_as := tables/records
$(nsysx_records:.tsv=%tsv): $(nsysx_last)
	$(nsysx_tool)view -q -t $(call nsysx_list,$(nsysx_kinds)) -o '$(nsysx_out)/tables/record-%.tsv' $(nsysx_last) $(nsysx_said)
# The first screen, as tables, and as text next to the page. Its commands name the stream relative to the report's
# folder.
$(nsysx_diagnosed): private nsysx_as := summary
$(nsysx_out)/summary%md $(addsuffix %tsv,$(basename $(filter %.tsv,$(nsysx_diagnosed)))): $(nsysx_last)
	$(call nsysx_tell,diagnosing)
	$(nsysx_at)$(nsysx_begin) ( cd $(nsysx_out) && LC_ALL=C $(nsysx_bin)nsysx-diagnose --all $(if $(nsysx_idles),--gaps 4000) -o 'tables/%' streams/collectives.nsysx && mv -f tables/summary.md summary.md ) $(nsysx_said)$(if $(nsysx_idles),; \
	$(call nsysx_part,copies))
nsysx_roofs := $(call nsysx_table,roofline points)
$(nsysx_roofs): private nsysx_as := tables/roofline
$(nsysx_roofs:.tsv=%tsv): $(nsysx_last)
	$(call nsysx_asked,xla,$(nsysx_roofs))roofline --tsv --all -o '$(nsysx_out)/tables/%.tsv' $(nsysx_last) $(nsysx_said)
# Of all steps those that the first screen is of: its class, and the periods that count.
$(nsysx_counted): $(call nsysx_table,where step-each)
	$(nsysx_at)LC_ALL=C awk -F'\t' 'FNR == 1 { file++; split("", c); for (i = 1; i <= NF; i++) c[$$i] = i; if (file == 2) print; next } \
		file == 1 && $$c["class"] != "" { class = $$c["class"] } file == 2 && $$c["class"] == class && $$c["kept"] == 1' $^ >$@
# The devices that are shown where there is no room for all.
$(nsysx_relevant): $(call nsysx_table,findings) $(nsysx_counted) $(call nsysx_table,record-device) $(nsysx_here)/relevant.awk
	$(nsysx_at)$(nsysx_begin) LC_ALL=C awk -f $(nsysx_here)/relevant.awk $(call nsysx_table,findings) $(nsysx_counted) $(call nsysx_table,record-device) >$@
# What the steps of a server do, by their names.
$(nsysx_out)/tables/step-phase.tsv: $(nsysx_last) $(nsysx_counted)
	$(nsysx_at)$(nsysx_begin) : >$@; : >$(nsysx_log); ! cut -f 1 $(nsysx_out)/tables/step-each.tsv | grep -qE '[*]: (prefill|decode|mixed)$$' || \
		{ LC_ALL=C $(nsysx_bin)nsysx-steps --tsv --by phase -o $@ $< $(nsysx_said); }
# A step as lanes.
$(nsysx_out)/tables/lanes.tsv: $(nsysx_last) $(nsysx_relevant) $(nsysx_counted) $(call nsysx_table,record-device record-clock gaps path) $(nsysx_here)/lanes.awk
	$(nsysx_at)$(nsysx_begin) rm -f $@.failed; LC_ALL=C; export LC_ALL; awk -v relevant=$$(awk -F'\t' 'NR > 1 { printf "%s%s", s, $$1; s = "," }' $(nsysx_relevant)) \
		-v clock=$(nsysx_out)/tables/record-clock.tsv -v view='$(nsysx_bin)nsysx-view -q -t op $<' -v failed=$@.failed -f $(nsysx_here)/lanes.awk $(nsysx_counted) $(call nsysx_table,record-device gaps path) >$@ && \
	if [ -e $@.failed ]; then rm -f $@.failed; exit 1; fi
# Without compared clocks these tables are empty; the reason is written to the log, for the page.
nsysx_unaligned := $(if $(filter no,$(ALIGN)),$(if $(word 2,$(PROFILES)),1))
nsysx_refuse = $(nsysx_at)$(nsysx_begin) echo 'ALIGN=no: the clocks of several profiles were left as they are' >$(nsysx_log); for f in $(1); do : >$$f; done
nsysx_lates := $(call nsysx_table,$(nsysx_late))
$(nsysx_lates): private nsysx_as := tables/stragglers
$(nsysx_lates:.tsv=%tsv): $(nsysx_last)
	$(if $(nsysx_unaligned),$(call nsysx_refuse,$(nsysx_lates)),$(call nsysx_asked,xla,$(nsysx_lates))stragglers --tsv --all -o '$(nsysx_out)/tables/%.tsv' $(nsysx_last) $(nsysx_said))
# For which racks others wait, where there are several.
$(nsysx_out)/tables/waits-rack.tsv: $(nsysx_last) $(call nsysx_table,rack)
	$(if $(nsysx_unaligned),$(call nsysx_refuse,$@),$(nsysx_at)$(nsysx_begin) : >$@; : >$(nsysx_log); [ "$$(head -n 3 $(nsysx_out)/tables/rack.tsv | wc -l)" -lt 3 ] || \
		{ LC_ALL=C $(nsysx_bin)nsysx-stragglers -q --tsv --waits --by rack -o $@ $< $(nsysx_said); })
# The skew that remains after alignment: a second estimate, from the aligned stream.
$(nsysx_out)/tables/residual.tsv: $(nsysx_last)
	$(if $(filter no,$(ALIGN)),$(call nsysx_refuse,$@),$(nsysx_at)$(nsysx_begin) if ! $(call nsysx_can,xla) || ! $(call nsysx_can,devices); then : >$@; : >$(nsysx_log); exit; fi; \
	{ LC_ALL=C $(nsysx_bin)nsysx-align -q --estimate -b $< | LC_ALL=C $(nsysx_bin)nsysx-view -q -t skew -o $@; } $(nsysx_said))
# Processes of a job usually have the same programs: the first dump represents all.
nsysx_first := $(firstword $(nsysx_given))
nsysx_heaps := $(patsubst %,$(nsysx_out)/tables/%.tsv,heap heap-peak heap-at-peak)
# The states of the profiles come first, since they report a missing dump.
$(nsysx_out)/.state/dump: nsysx-force | $(nsysx_profiles:%=$(nsysx_out)/.state/profile-%)
	@x=$(call nsysx_quoted,$(nsysx_first)); case $$x in ''|/*) ;; *) x=./$$x ;; esac; \
	{ echo '$(nsysx_version)' && [ -z "$$x" ] || find -L "$$x" -type f -exec $(nsysx_stat) {} + | LC_ALL=C sort; } >$@.new || exit 1; \
	[ "$$x" ] && [ -e $@ ] && [ "$$(find -L "$$x" -newer $@ | head -n 1)" ] && rm -f $@; $(nsysx_state)
$(nsysx_heaps): private nsysx_as := tables/heap
$(nsysx_heaps:.tsv=%tsv): $(nsysx_out)/.state/dump
	$(if $(nsysx_first),$(nsysx_tool)heap --tsv --all -o '$(nsysx_out)/tables/%.tsv' -- $(call nsysx_quoted,$(nsysx_first)) $(nsysx_said),$(nsysx_at)$(nsysx_begin) : >$(nsysx_log); for f in $(nsysx_heaps); do : >$$f; done)

# What the host did while devices were idle, where it was recorded.
$(nsysx_out)/tables/host.tsv: $(nsysx_last)
	$(call nsysx_ask,host)idle --tsv --by host --lines -o $@ $< $(nsysx_said)
$(nsysx_out)/flame/host.folded: $(nsysx_last)
	$(call nsysx_ask,host)fold --by host --while idle --names digits -o $@ $< $(nsysx_said)
# Flame graphs.
nsysx_name_source := GPU time by source line
nsysx_name_op-name := GPU time by operation
nsysx_name_module := GPU time by program and instruction
nsysx_name_nvtx := GPU operations by NVTX range
nsysx_name_kernel := GPU operations by NVTX range and kernel
nsysx_name_host := What the host did while the GPU had nothing to do
nsysx_flags_host := --plain
$(nsysx_folded): private nsysx_as := flame/folded
$(nsysx_folded:.folded=%folded): $(nsysx_last)
	$(call nsysx_tell,drawing)
	$(nsysx_at)$(nsysx_begin) : >$(nsysx_log); \
	by=$(call nsysx_list,$(nsysx_range_folds)); ! $(call nsysx_can,xla) || by=$(call nsysx_list,$(nsysx_program_folds) $(nsysx_range_folds)); \
	$(call nsysx_empty,$(nsysx_program_folds) $(nsysx_range_folds),flame,folded,$$by); \
	[ -z "$$by" ] || { case $$by in *,*) f=% ;; *) f=$$by ;; esac; LC_ALL=C $(nsysx_bin)nsysx-fold --mark-comm $(if $(nsysx_range_folds),--names steps) --by $$by -o "$(nsysx_out)/flame/$$f.folded" $(nsysx_last); } $(nsysx_said)
$(nsysx_flames): $(nsysx_out)/flame/%.svg: $(nsysx_out)/flame/%.folded $(nsysx_out)/.state/flags
	$(nsysx_at)if ! [ -s $< ]; then : >$@; exit; fi; LC_ALL=C $(nsysx_bin)nsysx-flame -q --collapse $(nsysx_flags_$*) --title '$(nsysx_name_$*)' $(FLAME_FLAGS) -o $@ $<

# Plots: awk turns tables into data for gnuplot. A plot without data has no picture.
nsysx_plot = $(nsysx_here)/plots
$(nsysx_out)/plots/bandwidth.dat: $(nsysx_out)/tables/bandwidth.tsv
$(nsysx_out)/plots/waits.dat: $(nsysx_out)/tables/bandwidth.tsv
$(nsysx_out)/plots/steps.dat $(nsysx_out)/plots/percentiles.dat: $(nsysx_counted)
$(nsysx_out)/plots/steps.dat: $(nsysx_relevant)
$(nsysx_out)/plots/roofline.dat: $(nsysx_out)/tables/points.tsv
$(nsysx_out)/plots/skew.dat: $(nsysx_out)/tables/residual.tsv
$(nsysx_out)/plots/variability.dat: $(nsysx_out)/tables/variable.tsv $(nsysx_out)/tables/thunk.tsv
$(nsysx_out)/plots/lockstep.dat: $(nsysx_out)/tables/module.tsv $(nsysx_out)/tables/curve.tsv $(nsysx_out)/plots/marks.tsv
$(nsysx_out)/plots/heap.dat: $(nsysx_out)/tables/heap-peak.tsv $(nsysx_out)/tables/heap.tsv
$(nsysx_out)/plots/marks.tsv: $(nsysx_last) $(call nsysx_table,record-program record-collective) $(nsysx_plot)/marks.awk
	$(nsysx_at)if ! $(call nsysx_can,xla); then printf 'program\tname\ttime\n' >$@; exit; fi; unset NSYSX_FORMAT; LC_ALL=C; export LC_ALL; \
	$(nsysx_bin)nsysx-view -q -t module -o $@.modules $< && awk -v modules=$@.modules -f $(nsysx_plot)/marks.awk $(call nsysx_table,record-program record-collective) >$@.new && mv -f $@.new $@; s=$$?; rm -f $@.modules; exit $$s
$(nsysx_out)/plots/%.dat: $(nsysx_plot)/%.awk $(nsysx_plot)/columns.awk $(nsysx_here)/root.awk
	$(nsysx_at)if ! [ -s $(firstword $(filter $(nsysx_out)/%,$^)) ]; then : >$@; exit; fi; LC_ALL=C awk -f $(nsysx_plot)/columns.awk -f $(nsysx_here)/root.awk -f $< $(filter $(nsysx_out)/%,$^) >$@
# Draw the plots whose data are new or whose picture is gone; all of them if the scripts that draw them are new.
nsysx_lost := $(shell cd $(nsysx_out)/plots 2>/dev/null && [ -s ../.state/gnuplot ] && for name in $(nsysx_drawn); do [ -s $$name.dat ] && ! [ -e $$name.svg ] && echo $$name; done)
$(nsysx_plots): $(if $(nsysx_lost),nsysx-force)
$(nsysx_plots): $(nsysx_drawn:%=$(nsysx_out)/plots/%.dat) $(nsysx_drawn:%=$(nsysx_plot)/%.gp) $(nsysx_plot)/style.gp $(nsysx_plot)/dress.awk $(nsysx_plot)/draw.sh $(nsysx_out)/.state/gnuplot
	$(nsysx_at)sh $(nsysx_plot)/draw.sh $(call nsysx_quoted,$(GNUPLOT)) $(nsysx_plot) $(nsysx_out) \
		$(if $(filter $(nsysx_plot)/% $(nsysx_out)/.state/%,$?),$(nsysx_drawn),$(sort $(nsysx_lost) $(patsubst $(nsysx_out)/plots/%.dat,%,$(filter %.dat,$?)))) && : >$@

# Files that a call with other options makes, and this one does not, are removed with their messages before the page lists the files.
# Nothing else is removed: other files in these folders belong to the user.
nsysx_optional := $(call nsysx_table,range kernel phase step-phase idle gaps path copies lanes host) $(patsubst %,$(nsysx_out)/flame/%,nvtx.folded nvtx.svg kernel.folded kernel.svg host.folded host.svg)
nsysx_gone := $(filter-out $(nsysx_tables) $(nsysx_flames) $(nsysx_folded) $(nsysx_host_fold),$(nsysx_optional))
nsysx_gone += $(if $(nsysx_traces),,$(nsysx_out)/job.pftrace) $(if $(filter yes,$(SINGLE)),,$(nsysx_out)/single.html)
nsysx_gone += $(patsubst $(nsysx_out)/%,$(nsysx_out)/logs/%.log,$(basename $(nsysx_gone)))
$(nsysx_out)/job.pftrace: $(nsysx_last)
	$(call nsysx_tell,writing a trace)
	$(nsysx_tool)perfetto -o $@ $< $(nsysx_said)
$(nsysx_out)/single.html: $(nsysx_out)/index.html $(nsysx_here)/page/single.sh
	$(nsysx_at)sh $(nsysx_here)/page/single.sh $(nsysx_out) >$@.new && mv -f $@.new $@
$(nsysx_out)/index.html: $(nsysx_traces) $(nsysx_tables) $(nsysx_flames) $(nsysx_plots) $(nsysx_out)/.state/page $(nsysx_out)/.state/flags $(wildcard $(nsysx_here)/page/*)
	$(nsysx_at)rm -f $(nsysx_gone)
	$(nsysx_at)NSYSX_CAUSES=$$($(nsysx_bin)nsysx-idle --known) && export NSYSX_CAUSES && TITLE=$(call nsysx_quoted,$(TITLE)) ALIGN=$(ALIGN) WARMUP=$(WARMUP) DETAIL=$(DETAIL) DUMPS=$(call nsysx_quoted,$(nsysx_given)) \
		sh $(nsysx_here)/page/page.sh $(nsysx_out) >$@.new && mv -f $@.new $@
