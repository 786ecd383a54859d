# html.awk -- numbers and names as the page shows them. Everything that comes from data goes through esc().
# Sums are converted to text with all digits: mawk otherwise writes six digits of numbers from 2147483648 on; 2^53 has
# 16.
BEGIN { FS = "\t"; OFMT = CONVFMT = "%.16g" }
function esc(s) {
	if (s !~ /[&<>"]/)
		return s
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	gsub(/>/, "\\&gt;", s)
	gsub(/"/, "\\&quot;", s)
	return s
}
# In busybox a field passed to a function is compared as text, so it is converted to a number first. Four digits of a
# number from 0 to 1000.
function four(x) { return x < 9.9995 ? sprintf("%.3f", x) : x < 99.995 ? sprintf("%.2f", x) : sprintf("%.1f", x) }
function short(x,   a) {
	x += 0
	a = x < 0 ? -x : x
	return a == int(a) && a < 1e6 ? x "" : a >= 0.1 && a < 1000 ? (x < 0 ? "−" : "") four(a) : sprintf("%.3g", x)
}
function ns(x,   a) {
	x += 0
	a = x < 0 ? -x : x
	return (x < 0 ? "−" : "") (a < 999.95 ? (a == int(a) ? a : four(a)) " ns" : a < 999.95e3 ? four(a / 1e3) " us" : a < 999.95e6 ? four(a / 1e6) " ms" : a < 999.95e9 ? four(a / 1e9) " s" : sprintf("%.0f s", a / 1e9))
}
# A time with as many digits as in the text of nsysx-diagnose next to it.
function spoken(x,   a) {
	x += 0
	a = x < 0 ? -x : x
	return a < 999.5 ? sprintf("%.0f ns", x) : a < 999950 ? sprintf("%.1f us", x / 1e3) : a < 999999500 ? sprintf("%.3f ms", x / 1e6) : four(x / 1e9) " s"
}
function size(x) {
	x += 0
	return x < 1000 ? x " B" : x < 999.95e3 ? four(x / 1e3) " kB" : x < 999.95e6 ? four(x / 1e6) " MB" : x < 999.95e9 ? four(x / 1e9) " GB" : four(x / 1e12) " TB"
}
function percent(x) { return sprintf("%.1f %%", x) }
# A value in the form of its column: n a count, ns a time, say a time as nsysx-diagnose prints it, at a point in time, %
# percent, share of 1, B bytes, bw in GB/s, x any number, s a name.
function shown(x, form) {
	return form == "ns" ? ns(x) : form == "say" ? spoken(x) : form == "at" ? sprintf("%.6f s", x / 1e9) : form == "%" ? percent(x) : form == "share" ? percent(100 * x) : form == "B" ? size(x) : form == "bw" ? short(x) " GB/s" : form == "x" ? short(x) : form == "whole" ? sprintf("%.0f", x) : x
}
# Idle time has one tint for each of: waits of the host (sync), what the host did instead of launching (late), what
# launching waited for (starved), work that had been launched (idle). Causes of one tint differ in their stripes
# (page.css), which can be seen without colours too.
BEGIN { take_causes(ENVIRON["NSYSX_CAUSES"]) }
# The table of nsysx-idle --known: CAUSES in its order.
function take_causes(table,   n, i, line, c) {
	n = split(table, line, "\n")
	for (i = 2; i <= n; i++) {
		split(line[i], c, "\t")
		if (!c[4])
			continue
		CAUSES = CAUSES c[1] " "
		tint_of[c[1]] = c[3]
		stripes_of[c[1]] = c[4]
	}
}
function tint(cause) { return cause in tint_of ? tint_of[cause] : "starved" }
function stripes(cause) { return cause in tint_of ? stripes_of[cause] : 8 }
function tinted(cause) { return tint(cause) (stripes(cause) > 1 ? " stripes" stripes(cause) : "") }
# A number with the digits that the tool printed.
function data(x, form) { return "<data value=\"" esc(x) "\">" esc(shown(x, form)) "</data>" }
