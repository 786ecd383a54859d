# dump.sh -- reading a large HLO dump, beside reading its bytes.
dump=$work/dump-$DUMP_MIB.hlo.pb
if [ ! -e "$dump" ]; then
	"$tools/dump" make "$dump.part" "$DUMP_MIB"
	mv "$dump.part" "$dump"
fi
row dump command "$cost" read_bytes
turns cat "cat $dump" read "$tools/dump read $dump"
while IFS=$tab read -r name numbers; do
	row dump "$name" "$numbers" "$(bytes "$dump")"
done <"$rows"

about "Reading an HLO dump as nsysx-extract does, beside cat ($("$tools/dump" read "$dump")):"
show dump
