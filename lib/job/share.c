/* share.c -- the programs that account for most of the time, computed in integers. */
#include "job/share.h"


#include "base/sort.h"

bool
nsx_cover_parse(const char *s, struct nsx_cover *c)
{
	int64_t num = 0, den = 1;
	bool point = false, digit = false;

	for (; *s; s++) {
		if (*s == '.' && !point) {
			point = true;
			continue;
		}
		if (!nsx_is_digit(*s) || num > 1 << 30 || den >= 1000000000)
			return false;
		digit = true;
		num = num * 10 + (*s - '0');
		den *= point ? 10 : 1;
	}
	if (!digit || num <= 0 || num > den)
		return false;
	*c = (struct nsx_cover){ num, den };
	return true;
}

NSX_ORDER(longest_first, struct nsx_cover_row, NSX_CMP(b->time, a->time), nsx_str_cmp(a->key, b->key),
          NSX_CMP(a->number, b->number))

void
nsx_cover_pick(struct nsx_cover_row *rows, size_t n, struct nsx_cover c)
{
	nsx_u128 total = 0, sum = 0;

	nsx_sort(rows, n, longest_first);
	for (size_t i = 0; i < n; i++)
		total += rows[i].time;
	/* 64-bit times and denominators of 30 bits leave 34 bits of 128 for the number of rows. */
	for (size_t i = 0; i < n; i++) {
		rows[i].kept = c.num == c.den || sum * (nsx_u128)c.den < total * (nsx_u128)c.num;
		sum += rows[i].time;
	}
}
