# head.awk -- the first screen: the step, the distribution of its time, the verdict, the largest gains, and the hardware
# and software. Reads where.tsv, findings.tsv, record-device.tsv, record-profile.tsv and the first lines of summary.md,
# in any order; `sections` is the list of sections on the page.
FILENAME ~ /summary.md$/ {
	# The text has what to look at first, then up to an empty line the verdict and its number of devices, then what
	# was analysed.
	line = $0
	gsub(/\*\*/, "", line)
	gsub(/\\/, "", line)
	sub(/ +$/, "", line)
	if (line ~ /^nothing is steady/)
		unsteady = 1
	if (line ~ /^look first at / || line ~ /^none of the findings / || line ~ /^nothing is steady/)
		look = line
	else if (line == "")
		parts += verdict != ""
	else if (!parts)
		verdict = verdict (verdict == "" ? "" : "; ") line
	if (line ~ /^looked at: / || line ~ /^not known: /)
		looked[++lookeds] = line
	if (line ~ /^not sure: / || line ~ /^forecasts are ranges, / || line ~ /^no forecasts: .*%/)
		unsure[++unsures] = line
	if (line ~ /^the step is set by /) {
		set_by = path_command = line
		sub(/; see `.*/, "", set_by)
		sub(/.*; see `/, "", path_command)
		sub(/`$/, "", path_command)
	}
	if (line ~ /^step: /) {
		if (match(line, / of [0-9]+ on [0-9]+ devices?;/))
			counted = substr(line, RSTART + 4, RLENGTH - 5)
		sub(/ on /, " steps on ", counted)
		largest = line ~ / p99 \(the largest\)/ ? " (the largest)" : ""
		class_line = substr(line, index(line, "; class ") + 2)
	}
	next
}
FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.[a-z]*$/, "", file)
	split("", col)
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
function v(name) { return name in col ? $col[name] : "" }
file == "where" && FNR == 2 { whole = v("part"); steps = v("count"); mean = v("mean"); p50 = v("p50"); p99 = v("p99"); next }
file == "where" { n++; name[n] = v("part"); cause[n] = v("cause"); part_mean[n] = v("mean"); share[n] = 100 * v("share") }
file == "findings" { f++; finding[f] = v("finding"); gain[f] = v("gain"); share_of[f] = v("share"); evidence[f] = v("evidence"); command[f] = v("command"); gsub(/\\\\/, "\\", command[f]); action[f] = v("action"); subject[f] = v("subject"); saved[f] = v("saved"); low[f] = v("low"); high[f] = v("high"); forecasts += high[f] != "" }
file == "record-device" { devices++; model(v("name")) }
file == "record-profile" { profiles++; if (v("product") != "") said(v("product")); if (day == "" && v("start_utc") != "") day = date(v("start_utc")) }
function model(x) { if (x != "" && !(x in models)) { models[x] = 1; model_list = model_list (model_list == "" ? "" : ", ") x } }
function said(x) { if (!(x in products)) { products[x] = 1; product_list = product_list (product_list == "" ? "" : ", ") x } }
# The calendar date of a time in ns since 1970.
function date(t,   z, era, doe, yoe, doy, mp, d, m, y) {
	z = int(t / 86400000000000) + 719468
	era = int(z / 146097)
	doe = z - era * 146097
	yoe = int((doe - int(doe / 1460) + int(doe / 36524) - int(doe / 146096)) / 365)
	doy = doe - (365 * yoe + int(yoe / 4) - int(yoe / 100))
	mp = int((5 * doy + 2) / 153)
	d = doy - int((153 * mp + 2) / 5) + 1
	m = mp < 10 ? mp + 3 : mp - 9
	y = yoe + era * 400 + (m <= 2)
	return sprintf("%d-%02d-%02d", y, m, d)
}
# The section of the page with the evidence of a finding, by the tool of its command. In a pipe, this is the tool that
# reads the cut steps.
function section(x) {
	sub(/^nsysx-steps --cut [^|]*[|] */, "", x)
	return x ~ /^nsysx-stragglers/ ? "waits" : x ~ /^nsysx-collectives|^nsysx-summary .*--by collective/ ? "communication" : x ~ /^nsysx-idle/ ? "idle" : \
		x ~ /^nsysx-steps/ ? "steps" : x ~ /^nsysx-copies/ ? "copies" : x ~ /^nsysx-summary .*--by thunk/ ? "instructions" : x ~ /^nsysx-roofline/ ? "roofline" : "kernels"
}
# The words of a finding.
function plain(x) {
	sub(/^idle:/, "idle: ", x)
	gsub(/-/, " ", x)
	return x
}
function words(x,   y) {
	y = plain(x)
	return toupper(substr(y, 1, 1)) substr(y, 2)
}
# Whether the gain of a finding belongs to its subject alone; else the subject is the largest of several.
function one(x) { return x ~ /^(slow-collective|late-host|straggler|late-device|blocking)$/ }
# As a sentence; names in it are unchanged.
function sentence(x) { return toupper(substr(x, 1, 1)) substr(x, 2) "." }
function class(i) { return name[i] == "compute" ? "compute" : name[i] == "comm" ? "exposed" : name[i] == "copy" ? "copy" : tinted(cause[i]) }
function part_name(i) { return name[i] == "comm" ? "exposed communication" : name[i] == "copy" ? "copies" : name[i] == "idle" ? "idle: " cause[i] : name[i] }
# A range, where its ends differ; without low an upper bound.
function forecast(i,   least, most) {
	if (high[i] == "")
		return ""
	most = shown(high[i], "say")
	least = low[i] == "" ? "" : shown(low[i], "say")
	return "; forecast " esc(least == "" ? "at most " most : least == most ? most : least " to " most)
}
function card(x, form, what) { print "<div><dt>" esc(what) "</dt><dd>" data(x, form) "</dd></div>" }
function bar(   i) {
	printf "<div class=\"bar\" role=\"img\" aria-label=\"where a %s goes, as listed below\">", whole
	for (i = 1; i <= n; i++)
		if (share[i] > 0)
			printf "<i class=\"%s\" style=\"width:%.3f%%\" title=\"%s %s\"></i>", class(i), share[i], esc(part_name(i)), percent(share[i])
	printf "</div>\n<ul class=\"key\">"
	for (i = 1; i <= n; i++)
		if (share[i] >= 0.05)
			printf "<li><i class=\"%s\"></i>%s %s, %s</li>", class(i), esc(part_name(i)), data(part_mean[i], "say"), percent(share[i])
	print "</ul>"
}
END {
	# The first line shows the name of a finding in the same form as its card.
	if (f && ((i = index(look, finding[1] ", up to ")) || (i = index(look, finding[1] ", "))))
		look = substr(look, 1, i - 1) plain(finding[1]) substr(look, i + length(finding[1]))
	if (look != "")
		print "<p class=\"first\">" esc(sentence(look)) "</p>"
	if (verdict != "")
		print "<p class=\"verdict\">" esc(sentence(verdict)) "</p>"
	if (whole == "step") {
		print "<dl class=\"cards\">"
		card(mean, "say", "a step from start to start, mean of " (counted != "" ? counted : steps) (class_line != "" ? ": " class_line : ""))
		card(p50, "say", "p50")
		card(p99, "say", "p99" largest)
		print "</dl>"
	} else if (whole != "") {
		print "<dl class=\"cards\">"
		card(mean, "say", "from the first to the last operation, mean of " (steps == 1 ? "one device" : steps " devices"))
		print "</dl>"
		print "<p class=\"note\">No steps were found: shares are of the whole time of each device.</p>"
	}
	if (n)
		bar()
	if (set_by != "")
		print "<p>" esc(sentence(set_by)) " <code>" esc(path_command) "</code></p>"
	if (f) {
		print "<h3>Possible gains</h3><ol class=\"findings top\">"
		for (i = 1; i <= f; i++) {
			if (i == 4)
				print "</ol><details><summary>" f - 3 (f == 4 ? " more finding" : " more findings") "</summary><ol class=\"findings\" start=\"4\">"
			anchor = section(command[i])
			title = "<b>" esc(words(finding[i])) "</b>"
			if ((" " sections " ") ~ (" " anchor "[: ]"))
				title = "<a href=\"#" anchor "\">" title "</a>"
			print "<li>" title (subject[i] != "" && one(finding[i]) ? " <span class=\"subject\">" esc(subject[i]) "</span>" : "") "<br><span class=\"figure\">" data(gain[i], "say") ", " data(share_of[i], "share") "</span> of a " (whole == "step" ? "step" : "device's time") forecast(i) (subject[i] != "" && !one(finding[i]) ? "; the largest part: <span class=\"subject\">" esc(subject[i]) "</span>" : "") "<p class=\"action\"><b>Do first:</b> " esc(action[i]) ".</p><p class=\"evidence\">" esc(sentence(evidence[i])) "</p><code>" esc(command[i]) "</code></li>"
		}
		print "</ol>" (f > 3 ? "</details>" : "")
		typed = " The commands run in the folder of the report, that of this page."
		if (forecasts)
			print "<p class=\"note\">A gain is the time lost in a finding, a forecast what a step would save without it alone (nsysx-whatif), by which findings are ranked if it is no range; neither adds up." typed "</p>"
		else
			print "<p class=\"note\">A gain is the most that removing this finding alone could save; gains do not add up." typed "</p>"
	} else if (n) {
		print "<h3>Possible gains</h3><p>" (unsteady ? "None are known: first executions contain what later ones do not have. Record some steps more." : "No finding is worth half a percent of it.") "</p>"
	}
	# What makes the numbers above uncertain is never hidden.
	for (i = 1; i <= unsures; i++)
		print "<p class=\"note unsure\">" esc(sentence(unsure[i])) "</p>"
	for (i = 1; i <= lookeds; i++) {
		# The first line is what was analysed; many unknown items are collapsed.
		if (i == 2 && lookeds > 3)
			print "<details><summary>" lookeds - 1 " questions could not be answered, and why</summary>"
		print "<p class=\"note\">" esc(sentence(looked[i])) "</p>"
	}
	if (lookeds > 3)
		print "</details>"
	print "<p class=\"note quietly\">" (devices ? devices : "no") (devices == 1 ? " device" : " devices") (model_list != "" ? ", " esc(model_list) : "") "; " profiles + 0 (profiles == 1 ? " profile" : " profiles") (product_list != "" ? " by " esc(product_list) : "") (day != "" ? "; recorded " day : "") "</p>"
}
