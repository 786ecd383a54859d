"""A trace as lines: process, track, depth, category, name, start, duration, arguments, launch, instances.

With --counters values of counters instead: process, counter, time, value.

Reads what protoc --decode prints of a Perfetto trace, or with --chrome JSON, and lays slices out as a viewer does: by time, on each track
the innermost open slice ends. Fails on what does not nest, what does not end, and what is not in order on its track in the file."""
import ast, collections, json, re, sys

def packets(lines):
    stack = [collections.defaultdict(list)]
    for line in lines:
        line = line.strip()
        if line.endswith("{"):
            stack.append(collections.defaultdict(list))
            stack[-2][line[:-2]].append(stack[-1])
        elif line == "}":
            stack.pop()
            if len(stack) == 1:
                yield stack[0].pop("packet")[0]
        else:
            key, value = line.split(": ", 1)
            assert not key.isdigit(), "a field that the .proto lacks: " + key
            stack[-1][key].append(ast.literal_eval("b" + value).decode() if value[0] == '"' else value)

def one(message, key, default=None):
    assert len(message[key]) <= 1, (key, message)
    return message[key][0] if message[key] else default

processes, names, ranks = {}, {}, {}
slices, counters = [], []

def shown(track):
    parent, name = names[track]
    return processes[parent], name

def proto(lines):
    tables = ["event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values"]
    told = {t: {} for t in tables}
    events, last, restarts, values = [], {}, 0, {}
    for i, p in enumerate(packets(lines)):
        assert one(p, "trusted_packet_sequence_id") == "1"
        flags = int(one(p, "sequence_flags", "0"))
        if flags & 1:
            told = {t: {} for t in tables}
            restarts += 1
        new = one(p, "interned_data", collections.defaultdict(list))
        for t in tables:
            for entry in new[t]:
                number = one(entry, "iid")
                assert int(number) > 0 and number not in told[t], "a number that is taken"
                told[t][number] = one(entry, "name" if t != tables[3] else "str")
        if i == 0:
            assert flags == 1, "the first packet begins the numbers"
        d = one(p, "track_descriptor")
        if d:
            uuid, process = one(d, "uuid"), one(d, "process")
            assert uuid not in processes and uuid not in names, "a track twice"
            if process:
                assert one(d, "child_ordering") == "EXPLICIT"
                processes[uuid] = one(process, "process_name")
            else:
                parent = one(d, "parent_uuid")
                names[uuid] = parent, one(d, "name")
                rank = int(one(d, "sibling_order_rank"))
                assert 0 <= rank < 1 << 31 and (parent, rank) not in ranks, "a place twice"
                ranks[parent, rank] = uuid
                c = one(d, "counter")
                assert not c or one(c, "unit") == "UNIT_SIZE_BYTES"
                if c:
                    values[uuid] = True
                assert parent in processes
        e = one(p, "track_event")
        if not e:
            continue
        time, track = int(one(p, "timestamp")), one(e, "track_uuid")
        assert track in names and last.get(track, 0) <= time, "out of order on its track"
        last[track] = time
        kind = one(e, "type")
        assert (kind == "TYPE_COUNTER") == (track in values), "slices and values on one track"
        if kind == "TYPE_COUNTER":
            counters.append((*shown(track), time, int(one(e, "counter_value"))))
            continue
        event = dict(kind=kind, track=track, time=time)
        if kind == "TYPE_SLICE_BEGIN":
            assert flags & 2
            args = {}
            for a in e["debug_annotations"]:
                s = one(a, "string_value_iid")
                args[told[tables[2]][one(a, "name_iid")]] = told[tables[3]][s] if s else int(one(a, "int_value"))
            flows, ends = e["flow_ids"], e["terminating_flow_ids"]
            event.update(category=told[tables[0]][one(e, "category_iids")], name=told[tables[1]][one(e, "name_iid")], args=args,
                         launch=[("s", f) for f in flows if int(f) < 1 << 63] + [("f", f) for f in ends],
                         instance=[f for f in flows if int(f) >= 1 << 63])
        else:
            assert kind == "TYPE_SLICE_END" and not e["flow_ids"]
        events.append(event)
    if "--restarts" in sys.argv:
        print(restarts)
        sys.exit()
    # As a viewer: by time, else by place in the file.
    events.sort(key=lambda e: e["time"])
    open_on = collections.defaultdict(list)
    for e in events:
        stack = open_on[e["track"]]
        if e["kind"] == "TYPE_SLICE_BEGIN":
            e["depth"] = len(stack)
            stack.append(e)
            slices.append(e)
        else:
            stack.pop()["end"] = e["time"]
    assert not any(open_on.values()), "slices without an end"

def ns(text):
    whole, _, rest = text.partition(".")
    return int(whole) * 1000 + int(rest.ljust(3, "0"))

def chrome(text):
    at = {}
    open_on = collections.defaultdict(list)
    for e in sorted(json.loads(text, parse_float=str, parse_int=str)["traceEvents"], key=lambda e: ns(e["ts"]) if "ts" in e else -1):
        if e["ph"] == "M":
            if e["name"] == "process_name":
                processes[e["pid"]] = e["args"]["name"]
            elif e["name"] == "thread_name":
                names[e["tid"]] = e["pid"], e["args"]["name"]
        elif e["ph"] == "C":
            assert list(e["args"]) == ["bytes"]
            counters.append((processes[e["pid"]], e["name"], ns(e["ts"]), int(e["args"]["bytes"])))
        elif e["ph"] == "X":
            s = dict(track=e["tid"], time=ns(e["ts"]), end=ns(e["ts"]) + ns(e["dur"]), category=e["cat"], name=e["name"], launch=[], instance=[],
                     args={k: int(v) if re.fullmatch("-?[0-9]+", v) else v for k, v in e.get("args", {}).items()})
            stack = open_on[e["tid"]]
            while stack and stack[-1]["end"] <= s["time"]:
                stack.pop()
            assert not stack or s["end"] <= stack[-1]["end"], "slices that overlap"
            s["depth"] = len(stack)
            stack.append(s)
            slices.append(s)
            at[e["tid"], s["time"]] = s
        else:
            s = at[e["tid"], ns(e["ts"])]   # an arrow is of the slice that was written before it
            number = str(int(e["id"], 16))
            if e["name"] == "launch":
                s["launch"].append((e["ph"], number))
            else:
                assert e["ph"] in "st"
                s["instance"].append(number)

if "--chrome" in sys.argv:
    chrome(sys.stdin.read())
else:
    proto(sys.stdin)
if "--counters" in sys.argv:
    for c in sorted(counters, key=lambda c: c[:3]):   # values of one time as they come
        print(*c, sep="\t")
    sys.exit()
lines = [(*shown(s["track"]), s["depth"], s["category"], s["name"], s["time"], s["end"] - s["time"],
          json.dumps(s["args"], sort_keys=True), ",".join(p + n for p, n in s["launch"]), ",".join(s["instance"])) for s in slices]
lines.sort(key=lambda l: (l[0], l[1], l[5], -l[6], l[2]))
for l in lines:
    print(*l, sep="\t")
