/* vec.c -- growing arrays of any type. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool
nsx_vec_grow_(void *pp, size_t size, size_t *cap, size_t n, size_t more)
{
	size_t want = *cap ? *cap : 16;
	void *p;

	if (more > SIZE_MAX / 2 / size - n)
		return false;
	while (want - n < more)
		/* Half as much again: a large array moves less memory than by doubling. */
		want += want < 1024 ? want : want / 2;
	memcpy(&p, pp, sizeof p);
	p = realloc(p, want * size);
	if (!p)
		return false;
	memcpy(pp, &p, sizeof p);
	*cap = want;
	return true;
}

bool
nsx_vec_fill_(void *p, size_t size, size_t *have, size_t n, const void *x)
{
	unsigned char *to = p;

	for (; *have < n; ++*have) {
		if (x)
			memcpy(to + *have * size, x, size);
		else
			memset(to + *have * size, 0, size);
	}
	return true;
}

void
nsx_vec_pass_(void *p, size_t size, size_t *n, size_t *head)
{
	enum { FEW = 64 };

	if (*head <= FEW || *head <= *n / 2)
		return;
	*n -= *head;
	memmove(p, (char *)p + *head * size, *n * size);
	*head = 0;
}
