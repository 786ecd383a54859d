# job.mk -- the streams of many ranks with make: one for each report, groups of 64 merged, then all; with -j in parallel. Run
# again, it makes what changed.
#
#   make -j16 -f job.mk REPORTS='prof/*/report.sqlite' OUT=out
#
# Each report may have its HLO dumps in a folder `dump` beside it.
REPORTS ?= prof/*/report.sqlite
OUT ?= out
FLAGS ?= -a

reports := $(sort $(wildcard $(REPORTS)))
name = $(subst /,_,$(basename $(1)))
streams := $(foreach r,$(reports),$(OUT)/streams/$(call name,$(r)).nsysx)
groups := $(if $(word 129,$(streams)),$(shell seq -w 1 $$(( ($(words $(streams)) + 63) / 64 ))))

$(if $(reports),,$(error job.mk: REPORTS: want reports, $(REPORTS) names none))
$(if $(filter-out $(words $(sort $(streams))),$(words $(streams))),$(error job.mk: REPORTS: two reports would have one stream, \
  as a_b/r.sqlite and a/b_r.sqlite would))
all: $(OUT)/steady.nsysx
$(OUT)/streams $(OUT)/groups:
	mkdir -p $@
define rank
$(OUT)/streams/$(call name,$(1)).nsysx: $(1) | $(OUT)/streams
	nsysx-extract -q -b -z --host $(FLAGS) $(if $(wildcard $(dir $(1))dump),-x $(dir $(1))dump) -o $$@ -- $(1)
endef
$(foreach r,$(reports),$(eval $(call rank,$(r))))
define group
$(OUT)/groups/$(1).nsysx: $(wordlist $(shell expr $(1) \* 64 - 63),$(shell expr $(1) \* 64),$(streams)) | $(OUT)/groups
	nsysx-merge -q -b -z -o $$@ $$(filter %.nsysx,$$^)
endef
$(foreach g,$(groups),$(eval $(call group,$(g))))
$(OUT)/merged.nsysx: $(if $(groups),$(groups:%=$(OUT)/groups/%.nsysx),$(streams))
	nsysx-merge -q -b -z -o $@ $^
$(OUT)/steady.nsysx: $(OUT)/merged.nsysx
	nsysx-prepare -q -z -o $@ $<
.PHONY: all
