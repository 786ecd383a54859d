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
# Two that may be missing: a small one and a large one.
# shellcheck disable=SC2016  # for the script to expand
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

# What is not needed: the small for `make check`, the large for --slow.
afresh() { rm -rf "$T/build" "$T/apt"; mkdir "$T/build"; : >"$T/no-jq"; : >"$T/no-debootstrap"; }
apt='install -y -q --no-install-recommends'
afresh
ok 'what is not needed is no failure' setup
equal 'small programs are installed, large ones are not' "$(cat "$T/apt")" "$apt jq"
ok '--slow installs the large' setup --slow
equal 'and only those' "$(cat "$T/apt")" "$apt jq
$apt debootstrap"
rm "$T/apt"
run setup --slow
equal 'once' "$status $(cat "$T_private/err")$([ ! -e "$T/apt" ] || cat "$T/apt")" '0 '
afresh
: >"$T/broken"
ok 'what cannot be installed and is not needed is no failure' setup
run setup --slow
equal 'nor for --slow, which names it' "$status $(tail -n 1 "$T_private/err")" '0 nsysx: not here, and tests are skipped for it: debootstrap '
rm "$T/broken"
afresh
echo 1000 >"$T/uid"
run setup
equal 'without root what is not needed stays missing, in silence' "$status $(cat "$T_private/err")$([ ! -e "$T/apt" ] || cat "$T/apt")" '0 '
run setup --build
equal 'and a build asks for none of it' "$status $(cat "$T_private/err")" '0 '
done_testing
