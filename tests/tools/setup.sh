#!/bin/sh
# tests/setup.sh: tries things, installs what is missing where it may, else names the packages.
. "${0%/*}/../testlib.sh"

# A machine of our own: a compiler that finds no sqlite3.h, and no zstd, until apt-get has been here.
mkdir "$T/bin" "$T/build"
cat >"$T/bin/cc" <<'X'
#!/bin/sh
[ -e "$T/installed" ] || ! grep -q sqlite3.h "$3"
X
cat >"$T/bin/zstd" <<'X'
#!/bin/sh
[ -e "$T/installed" ]
X
cat >"$T/bin/apt-get" <<'X'
#!/bin/sh
echo "$*" >>"$T/apt"
case $1 in
update) : >"$T/lists" ;;
install) [ -e "$T/lists" ] && [ ! -e "$T/broken" ] && : >"$T/installed" ;;
esac
X
cat >"$T/bin/id" <<'X'
#!/bin/sh
cat "$T/uid"
X
printf '#!/bin/sh\nexit 1\n' >"$T/bin/sudo"
for command in protoc protoc-c sqlite3 xz python3 mandoc gnuplot; do
	printf '#!/bin/sh\n' >"$T/bin/$command"
done
chmod +x "$T/bin"/*
echo 1000 >"$T/uid"

setup() {
	env PATH="$T/bin:$PATH" B="$T/build" CC=cc sh "$tests_dir/setup.sh" "$@"
}
install='apt-get update && apt-get install -y --no-install-recommends libsqlite3-dev zstd'

fails 'without root it names the packages' 1 "as root: $install" setup
fails 'for a build, those of the build' 1 'missing: libsqlite3-dev ' setup --build
ok 'and installs nothing' test ! -e "$T/apt"

cp "$T/bin/sudo" "$T/no-sudo"
# shellcheck disable=SC2016  # for the script to expand
printf '#!/bin/sh\n[ "$1" = -n ] && shift && exec "$@"\n' >"$T/bin/sudo"
: >"$T/broken"
fails 'an apt-get that fails is reported' 1 "apt-get failed; as root: $install" setup
rm "$T/broken" "$T/apt" "$T/lists"
run setup
equal 'sudo that asks for no password installs them' "$status $(cat "$T_private/out" "$T_private/err")" \
	'0 nsysx: installing missing Debian packages: libsqlite3-dev zstd '
equal 'fetching the lists of packages where they are absent' "$(cat "$T/apt")" \
	'install -y -q --no-install-recommends libsqlite3-dev zstd
update -q
install -y -q --no-install-recommends libsqlite3-dev zstd'

rm "$T/apt" "$T/installed"
run setup
equal 'what was there is not tried again' "$status $(cat "$T_private/out" "$T_private/err")" '0 '
rm -rf "$T/build"
mkdir "$T/build"
cp "$T/no-sudo" "$T/bin/sudo"
echo 0 >"$T/uid"
ok 'root installs' setup
equal 'at once where the lists are there' "$(cat "$T/apt")" 'install -y -q --no-install-recommends libsqlite3-dev zstd'
rm -rf "$T/build" "$T/apt"
mkdir "$T/build"
run setup
equal 'with everything there it is silent' "$status $(cat "$T_private/out" "$T_private/err")" '0 '
ok 'and installs nothing' test ! -e "$T/apt"
done_testing
