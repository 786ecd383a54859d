#!/bin/sh
# tests/setup.sh: tests requirements, installs missing ones if possible, else names the packages.
. "${0%/*}/../testlib.sh"

# A separate machine: a compiler without sqlite3.h, and no zstd, until apt-get has run.
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
install)
	[ -e "$T/lists" ] && [ ! -e "$T/broken" ] || exit 1
	for p; do rm -f "$T/no-$p"; done
	: >"$T/installed" ;;
esac
X
cat >"$T/bin/id" <<'X'
#!/bin/sh
cat "$T/uid"
X
printf '#!/bin/sh\nexit 1\n' >"$T/bin/sudo"
for command in protoc protoc-c sqlite3 xz python3 mandoc gnuplot datamash parallel pkg-config \
	chromium chromedriver slurmctld slurmd sbatch munged dpkg-shlibdeps dpkg-buildflags git zsh fish g++; do
	printf '#!/bin/sh\n' >"$T/bin/$command"
done
# Two optional requirements: a small one and a large one.
# shellcheck disable=SC2016  # expanded in the script
for command in jq debootstrap; do
	printf '#!/bin/sh\n[ ! -e "$T/no-%s" ]\n' $command >"$T/bin/$command"
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
# shellcheck disable=SC2016  # expanded in the script
printf '#!/bin/sh\n[ "$1" = -n ] && shift && exec "$@"\n' >"$T/bin/sudo"
: >"$T/broken"
fails 'an apt-get that fails is reported' 1 "apt-get failed; as root: $install" setup
rm "$T/broken" "$T/apt" "$T/lists"
run setup
equal 'sudo without a password installs them' "$status $(cat "$T_private/out" "$T_private/err")" \
	'0 nsysx: installing missing Debian packages: libsqlite3-dev zstd '
equal 'lists of packages are updated if absent' "$(cat "$T/apt")" \
	'install -y -q --no-install-recommends libsqlite3-dev zstd
update -q
install -y -q --no-install-recommends libsqlite3-dev zstd'

rm "$T/apt" "$T/installed"
run setup
equal 'satisfied requirements are not tested again' "$status $(cat "$T_private/out" "$T_private/err")" '0 '
rm -rf "$T/build"
mkdir "$T/build"
cp "$T/no-sudo" "$T/bin/sudo"
echo 0 >"$T/uid"
ok 'root installs' setup
equal '... without updating lists that exist' "$(cat "$T/apt")" 'install -y -q --no-install-recommends libsqlite3-dev zstd'
rm -rf "$T/build" "$T/apt"
mkdir "$T/build"
run setup
equal 'with all requirements it is silent' "$status $(cat "$T_private/out" "$T_private/err")" '0 '
ok 'and installs nothing' test ! -e "$T/apt"

# Optional: the small one for `make check`, the large one for --slow.
afresh() { rm -rf "$T/build" "$T/apt"; mkdir "$T/build"; : >"$T/no-jq"; : >"$T/no-debootstrap"; }
apt='install -y -q --no-install-recommends'
afresh
ok 'a missing optional requirement is not an error' setup
equal 'small programs are installed, large ones are not' "$(cat "$T/apt")" "$apt jq"
ok '--slow installs the large' setup --slow
equal '... and only these' "$(cat "$T/apt")" "$apt jq
$apt debootstrap"
rm "$T/apt"
run setup --slow
equal 'once' "$status $(cat "$T_private/err")$([ ! -e "$T/apt" ] || cat "$T/apt")" '0 '
afresh
: >"$T/broken"
ok 'an optional requirement that cannot be installed is not an error' setup
run setup --slow
equal '... also with --slow, which names it' "$status $(tail -n 1 "$T_private/err")" '0 nsysx: not here, and tests are skipped for it: debootstrap '
rm "$T/broken"
afresh
echo 1000 >"$T/uid"
run setup
equal 'without root, optional requirements remain missing without a message' "$status $(cat "$T_private/err")$([ ! -e "$T/apt" ] || cat "$T/apt")" '0 '
run setup --build
equal 'a build does not require them' "$status $(cat "$T_private/err")" '0 '
done_testing
