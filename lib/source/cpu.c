/* cpu.c -- see cpu.h. */
#include "source/cpu.h"

#include <stdlib.h>

const char *
nsx_off_state(uint8_t state)
{
	static const char *const names[] = { "", "running", "interruptible", "uninterruptible", "stopped", "terminated",
	                                     "unscheduled", "waiting", "os-runtime", "initialized", "transition" };

	return state < sizeof names / sizeof *names ? names[state] : "";
}

void
nsx_cpu_free(struct nsx_cpu *c)
{
	if (!c)
		return;
	free(c->threads.p);
	free(c->os.p);
	free(c->offs.p);
	free(c->gils.p);
	free(c->samples.p);
	nsx_intern_free(&c->stacks);
	free(c);
}
