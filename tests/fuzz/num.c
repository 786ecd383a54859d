/* num.c -- fuzz target: numbers and times from any bytes; a number that was read prints as one that reads the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/num.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nsx_str s = { (const char *)data, size };
	char text[NSX_DOUBLE_CHARS];
	int64_t i, i2;
	double d, d2;

	if (nsx_get_int(s, &i)) {
		s = (struct nsx_str){ text, (size_t)(nsx_put_int(text, i) - text) };
		if (!nsx_get_int(s, &i2) || i2 != i)
			abort();
	}
	s = (struct nsx_str){ (const char *)data, size };
	if (nsx_get_double(s, &d)) {
		s = (struct nsx_str){ text, (size_t)(nsx_put_double(text, d) - text) };
		/* By bits: -0 is not 0, and nan is itself; of its many forms only the plain one is printed. */
		if (!nsx_get_double(s, &d2) || (d == d && memcmp(&d, &d2, sizeof d) != 0))
			abort();
	}
	char *c = nsx_str_dup((struct nsx_str){ (const char *)data, size });
	if (c)
		nsx_time_parse(c, &i);
	free(c);
	return 0;
}
