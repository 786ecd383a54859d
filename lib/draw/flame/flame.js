/* flame.js -- zoom, search and the keyboard for a flame graph. The picture is whole without it. Names go into text alone. */
(function () {
	"use strict";
	var SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
	var PAD = 4, ROW = 18, BASELINE = 13, NAME_CELLS = 8;
	var svg = document.currentScript.closest("svg"), graph = svg.querySelector(".frames");
	var top = Number(svg.dataset.top), height = Number(svg.getAttribute("height"));
	var frames = [], zoomed = 0, letter = 7.25, barHeight = 0, focused = 0, open = false;
	var bar = {}, box;

	/* Frames stand in the order of their depth first: each one's `up` is the last that was less deep, `end` where those above it end. */
	function readFrames() {
		var open = [], all = graph.querySelectorAll(".f");
		for (var i = 0; i < all.length; i++) {
			var g = all[i], title = g.querySelector("title").textContent, d = Number(g.dataset.d), cut = title.indexOf("\n");
			var facts = title.slice(cut + 1).split("\n"), joined = "j" in g.dataset;
			while (open.length && frames[open[open.length - 1]].d >= d)
				frames[open.pop()].end = i;
			frames.push({
				g: g, rect: g.querySelector("rect"), text: g.querySelector("text"), d: d, o: Number(g.dataset.o), v: Number(g.dataset.v),
				name: title.slice(0, cut), facts: facts.slice(0, facts.findIndex(function (l) { return l[0] === " "; }) >>> 0), up: open.length ? open[open.length - 1] : -1,
				end: all.length, hit: false, width: 0, shown: true,
				/* The first frame of its row, how many it stands for, and where it goes. */
				first: joined ? frames[i - 1].first : i, joined: joined, n: Number(g.dataset.n || 1), row: d, hidden: false
			});
			open.push(i);
			g.setAttribute("tabindex", i ? "-1" : "0");
			g.setAttribute("role", "button");
		}
	}

	/* ---- labels */

	function cellsOf(c) {
		return c.codePointAt(0) >= 0x1100 ? 2 : 1;
	}

	function width(letters) {
		return letters.reduce(function (sum, c) { return sum + cellsOf(c); }, 0);
	}

	/* As many letters at the end as fit. */
	function ending(letters, cells) {
		var from = letters.length;
		while (from > 0 && cellsOf(letters[from - 1]) <= cells)
			cells -= cellsOf(letters[--from]);
		return letters.slice(from).join("");
	}

	/* As much of a name as fits: of a path its last parts, as nsx_flame_put_label does it. */
	function label(name, cells) {
		var letters = Array.from(name), depth = 0, from = 0, fits = "", left = cells - 1;
		if (width(letters) <= cells)
			return name;
		if (cells < 3)
			return "";
		for (var i = 0; i < letters.length; i++) {
			if ("([{".indexOf(letters[i]) >= 0)
				depth++;
			else if (")]}".indexOf(letters[i]) >= 0)
				depth = Math.max(0, depth - 1);
			if (letters[i] !== "/" || depth || i === 0 || i + 1 === letters.length)
				continue;
			from = i;
			if (letters.length - i < cells && width(letters.slice(i)) < cells)
				return "\u2026" + letters.slice(i).join("");
		}
		letters = letters.slice(from ? from + 1 : 0);
		var line = /^(.*[^]:[0-9]+)(?:\[[^]*)?$/.exec(letters.join(""));
		if (line && width(Array.from(line[1])) < cells)
			return line[1] + "\u2026";
		if (line)
			return "\u2026" + ending(Array.from(line[1]), left);
		for (i = 0; i < letters.length && cellsOf(letters[i]) <= left; i++) {
			fits += letters[i];
			left -= cellsOf(letters[i]);
		}
		return fits + (i < letters.length ? "\u2026" : "");
	}

	function measure() {
		var t = document.createElementNS(SVG, "text");
		t.textContent = "M".repeat(100);
		frames[0].g.appendChild(t);
		letter = t.getComputedTextLength() / 100 || letter;
		t.remove();
	}

	function showLabel(f, x, pixels) {
		var count = f.n > 1 && !isOpen(f) ? "+" + (f.n - 1) + " " : "";
		var cells = pixels > 2 * PAD ? Math.floor((pixels - 2 * PAD) / letter) : 0, text;
		if (cells < count.length + NAME_CELLS)
			count = "";
		text = label(f.name, cells - count.length);
		if (text)
			text = count + text;
		if (!f.text && !text)
			return;
		if (!f.text) {
			f.text = document.createElementNS(SVG, "text");
			f.text.setAttribute("y", Number(f.rect.getAttribute("y")) + BASELINE);
			f.text.setAttribute("dx", PAD);
			f.g.appendChild(f.text);
		}
		f.text.setAttribute("x", x + "%");
		f.text.textContent = text;
	}

	/* ---- rows: frames of one width on each other share one, unless all rows or the zoomed one are opened */

	function isOpen(f) {
		return open || f.first === frames[zoomed].first;
	}

	function arrange() {
		var last = 0;
		if (!svg.dataset.runs)
			return;
		frames.forEach(function (f, i) {
			var opened = isOpen(f);
			f.row = i ? frames[f.up].row + (f.joined && !opened ? 0 : 1) : 0;
			/* In a row of several, the one with their number represents them. */
			f.hidden = !opened && f.n === 1 && (f.joined || (i + 1 < frames.length && frames[i + 1].joined));
			f.g.classList.toggle("k", f.hidden);
			last = Math.max(last, f.row);
		});
		frames.forEach(function (f) {
			var y = top + ROW * (svg.dataset.icicle ? f.row : last - f.row);
			f.rect.setAttribute("y", y);
			if (f.text)
				f.text.setAttribute("y", y + BASELINE);
		});
		height = top + ROW * (last + 1) + 10;
		svg.setAttribute("height", height + barHeight);
	}

	function setOpen(all) {
		open = all;
		bar.rows.textContent = open ? "Collapse" : "All frames";
	}

	/* ---- zoom */

	function place(f, x, w, whole) {
		f.shown = w > 0 && !f.hidden;
		f.width = w;
		f.g.classList.toggle("off", w <= 0);
		if (!f.shown)
			return;
		f.rect.setAttribute("x", x + "%");
		f.rect.setAttribute("width", w + "%");
		f.g.classList.toggle("n", w * whole < 200);
		showLabel(f, x, w * whole / 100);
	}

	function draw() {
		var whole = svg.getBoundingClientRect().width, z = frames[zoomed], i;
		arrange();
		for (i = 0; i < frames.length; i++) {
			var f = frames[i];
			f.g.classList.remove("past");
			if (i >= zoomed && i < z.end)
				place(f, i === zoomed ? 0 : 100 * (f.o - z.o) / z.v, i === zoomed ? 100 : 100 * f.v / z.v, whole);
			else
				place(f, 0, 0, whole);
		}
		for (i = z.up; i >= 0; i = frames[i].up) {
			place(frames[i], 0, 100, whole);
			frames[i].g.classList.add("past");
		}
		bar.reset.disabled = zoomed === 0;
		tell(zoomed);
	}

	function tell(i) {
		bar.what.textContent = frames[i].name;
		bar.much.textContent = frames[i].facts.join(" \u00b7 ").replace(/:$/, "");
	}

	/* ---- search */

	function human(n) {
		var scale = { ns: ["ns", "us", "ms", "s"], bytes: ["B", "kB", "MB", "GB", "TB"], count: [""] }[svg.dataset.unit], i = 0;
		for (; i + 1 < scale.length && n >= 999.95; i++)
			n /= 1000;
		return (i ? n.toPrecision(4) : String(n)) + (scale[i] ? " " + scale[i] : "");
	}

	/* A pattern without capitals finds them too. null: not a regular expression. */
	function compile(pattern) {
		try {
			return new RegExp(pattern, /[A-Z]/.test(pattern.replace(/\\./g, "")) ? "u" : "iu");
		} catch (e) {
			return null;
		}
	}

	/* The time of the found frames i..end; one above another counts once. */
	function held(i, end) {
		var sum = 0;
		while (i < end) {
			sum += frames[i].hit ? frames[i].v : 0;
			i = frames[i].hit ? frames[i].end : i + 1;
		}
		return sum;
	}

	function percent(n, of) {
		return (of ? 100 * n / of : 0).toFixed(2) + " %";
	}

	function search() {
		var pattern = bar.input.value, re = pattern ? compile(pattern) : null, n = 0, within = -1;
		var rows = new Set();
		frames.forEach(function (f, i) {
			/* The root is no frame of the input. */
			f.hit = i > 0 && re !== null && re.test(f.name);
			n += f.hit;
			if (f.hit)
				rows.add(f.first);
		});
		frames.forEach(function (f) {
			f.g.classList.toggle("hit", f.hit || (f.n > 1 && !isOpen(f) && rows.has(f.first)));
		});
		bar.clear.disabled = !pattern;
		if (!pattern || !re) {
			bar.found.textContent = pattern ? "not a regular expression" : "";
			return;
		}
		var sum = held(0, frames.length), text = "matched " + percent(sum, frames[0].v);
		for (var i = zoomed; i > 0 && within < 0; i = frames[i].up)
			within = frames[i].hit ? frames[zoomed].v : -1;
		if (zoomed)
			text += ", " + percent(within >= 0 ? within : held(zoomed, frames[zoomed].end), frames[zoomed].v) + " of the zoomed";
		text += " (" + human(sum) + ", " + n + (n === 1 ? " frame)" : " frames)");
		/* Names of frames that are not drawn are not available: the result says how much they may add. */
		var narrow = Math.min(Number(svg.dataset.narrow), frames[0].v - sum);
		if (narrow > 0)
			text += ", at most " + percent(narrow, frames[0].v) + " more in frames not drawn";
		bar.found.textContent = text;
	}

	/* ---- state, which the address holds: #z=FRAME&s=PATTERN&a=1 (all frames) */

	function readAddress() {
		var z = 0, s = "", all = false;
		location.hash.slice(1).split("&").forEach(function (part) {
			try {
				if (part.indexOf("z=") === 0)
					z = Number(part.slice(2));
				else if (part.indexOf("s=") === 0)
					s = decodeURIComponent(part.slice(2));
				else if (part === "a=1")
					all = true;
			} catch (e) { /* a broken address is none */ }
		});
		zoomed = z > 0 && z < frames.length && Math.floor(z) === z ? z : 0;
		bar.input.value = s;
		setOpen(all);
		draw();
		search();
	}

	function writeAddress(push) {
		var parts = [];
		if (zoomed)
			parts.push("z=" + zoomed);
		if (bar.input.value)
			parts.push("s=" + encodeURIComponent(bar.input.value));
		if (open)
			parts.push("a=1");
		try {
			history[push ? "pushState" : "replaceState"](null, "", "#" + parts.join("&"));
		} catch (e) { /* shown inside something that does not let us: go without */ }
	}

	function zoom(i) {
		if (i === zoomed)
			return;
		zoomed = i;
		draw();
		search();
		writeAddress(true);
	}

	function clearSearch() {
		bar.input.value = "";
		search();
		writeAddress(false);
	}

	/* ---- the bar */

	function make(parent, tag, text) {
		var e = document.createElementNS(HTML, tag);
		if (text)
			e.textContent = text;
		parent.appendChild(e);
		return e;
	}

	function makeBar() {
		box = document.createElementNS(SVG, "foreignObject");
		box.setAttribute("width", "100%");
		var div = make(box, "div"), form = make(div, "form");
		div.className = "bar";
		bar.input = make(form, "input");
		bar.input.setAttribute("type", "text");
		bar.input.setAttribute("aria-label", "search");
		bar.input.setAttribute("placeholder", "search: regular expression");
		bar.input.setAttribute("spellcheck", "false");
		bar.clear = make(form, "button", "Clear");
		bar.reset = make(form, "button", "Reset zoom");
		bar.rows = make(form, "button", "All frames");
		bar.rows.hidden = !svg.dataset.runs;
		bar.clear.type = bar.reset.type = bar.rows.type = "button";
		bar.found = make(form, "span");
		bar.found.className = "found";
		bar.found.setAttribute("role", "status");
		bar.what = make(div, "p");
		bar.what.className = "what";
		bar.much = make(div, "p");
		bar.much.className = "much";
		form.addEventListener("submit", function (e) { e.preventDefault(); writeAddress(true); });
		bar.input.addEventListener("input", function () { search(); writeAddress(false); });
		bar.clear.addEventListener("click", clearSearch);
		bar.reset.addEventListener("click", function () { zoom(0); });
		bar.rows.addEventListener("click", function () { setOpen(!open); draw(); search(); writeAddress(true); });
		svg.appendChild(box);
	}

	/* The bar stays in sight where the picture is taller than the window. */
	function stick() {
		box.setAttribute("y", Math.max(top - 4, -svg.getBoundingClientRect().top));
	}

	function fit() {
		barHeight = svg.getBoundingClientRect().width > 640 ? 80 : svg.dataset.runs ? 152 : 116;
		box.setAttribute("height", barHeight);
		graph.setAttribute("transform", "translate(0," + barHeight + ")");
		svg.setAttribute("height", height + barHeight);
		stick();
		draw();
	}

	/* ---- mouse and keyboard */

	function frameOf(e) {
		var g = e.target.closest ? e.target.closest(".f") : null;
		return g ? frames.findIndex(function (f) { return f.g === g; }) : -1;
	}

	function focus(i) {
		if (i < 0 || i >= frames.length)
			return;
		frames[focused].g.setAttribute("tabindex", "-1");
		focused = i;
		frames[i].g.setAttribute("tabindex", "0");
		frames[i].g.focus();
	}

	/* The next frame in sight of i's row, to the right (step 1) or left (-1). */
	function beside(i, step) {
		for (var k = i + step; k > 0 && k < frames.length; k += step)
			if (frames[k].shown && frames[k].row === frames[i].row)
				return k;
		return i;
	}

	function above(i) {
		var k = i + 1;
		while (k < frames[i].end && frames[k].hidden)
			k++;
		return k < frames[i].end && frames[k].shown ? k : frames[i].end > i + 1 && zoomed > i ? pathTo(i) : i;
	}

	/* The frame on the way from i to the zoomed one. */
	function pathTo(i) {
		var to = zoomed;
		for (var k = zoomed; k > i; k = frames[k].up)
			if (!frames[k].hidden)
				to = k;
		return to;
	}

	function below(i) {
		for (i = frames[i].up; i > 0 && frames[i].hidden;)
			i = frames[i].up;
		return Math.max(0, i);
	}

	function move(i, key) {
		var out = svg.dataset.icicle ? "ArrowDown" : "ArrowUp", back = svg.dataset.icicle ? "ArrowUp" : "ArrowDown";
		if (key === out)
			return above(i);
		if (key === back)
			return below(i);
		return key === "Home" ? 0 : key === "ArrowLeft" ? beside(i, -1) : key === "ArrowRight" ? beside(i, 1) : -1;
	}

	function onFrameKey(e) {
		var i = frameOf(e), to = i < 0 || e.altKey || e.ctrlKey || e.metaKey ? -1 : move(i, e.key);
		if (i >= 0 && (e.key === "Enter" || e.key === " ")) {
			zoom(i);
			e.preventDefault();
		} else if (to >= 0) {
			focus(to);
			e.preventDefault();
		}
	}

	function onKey(e) {
		var typing = document.activeElement === bar.input;
		if (e.key === "Escape") {
			if (typing && bar.input.value)
				clearSearch();
			else
				zoom(0);
			e.preventDefault();
		} else if ((e.key === "f" && (e.ctrlKey || e.metaKey) && !typing) || (e.key === "/" && !typing)) {
			/* Once more within the field, and the browser's own search comes. */
			bar.input.focus();
			bar.input.select();
			e.preventDefault();
		}
	}

	function listen() {
		graph.addEventListener("click", function (e) { var i = frameOf(e); if (i >= 0) zoom(i); });
		graph.addEventListener("mouseover", function (e) { var i = frameOf(e); if (i >= 0) tell(i); });
		graph.addEventListener("mouseleave", function () { tell(zoomed); });
		graph.addEventListener("focusin", function (e) { var i = frameOf(e); if (i >= 0) tell(i); });
		graph.addEventListener("keydown", onFrameKey);
		window.addEventListener("keydown", onKey);
		window.addEventListener("scroll", stick, { passive: true });
		window.addEventListener("resize", function () { requestAnimationFrame(fit); });
		window.addEventListener("popstate", readAddress);
		window.addEventListener("hashchange", readAddress);
	}

	readFrames();
	makeBar();
	measure();
	svg.classList.add("live");
	listen();
	fit();
	readAddress();
}());
