#!/bin/sh
# make deb: packages that policy would take, the same bytes from another folder, and that install and run on a system
# that has only Debian's smallest set of packages. The last needs root, debootstrap and a mirror.
. "${0%/*}/../testlib.sh"

for tool in dpkg-deb git; do
	command -v $tool >/dev/null 2>&1 || skip_all "$tool is not here"
done
root=$(cd "$tests_dir/.." && pwd) || exit 1
own() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$@"; }
dpkg_version=$(nsysx-view -V | cut -d ' ' -f 2)-1
arch=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH

ok 'make deb' own "$root" deb "B=$B"
[ "$tests_failed" -eq 0 ] || done_testing
mkdir "$T/debs"
equal 'nsysx needs the libraries that its tools are linked with, and make' \
	"$(dpkg-deb -f "$B/nsysx_${dpkg_version}_$arch.deb" Depends | tr ',' '\n' | sed 's/^ //; s/ (.*//' | sort | tr '\n' ' ')" \
	'libc6 liblzma5 libprotobuf-c1 libsqlite3-0 libzstd1 make zlib1g '
for p in nsysx libnsysx-dev; do
	mv "$B/${p}_${dpkg_version}_$arch.deb" "$T/debs/$p.deb"
	deb=$T/debs/$p.deb
	equal "$p has the version that -V prints" "$(dpkg-deb -f "$deb" Version)" "$dpkg_version"
	equal "$p is root's and below /usr" "$(dpkg-deb -c "$deb" | awk '$2 != "root/root" || $6 !~ /^\.\/(usr\/.*)?$/')" ''
	equal "$p has the time it is told" "$(dpkg-deb --fsys-tarfile "$deb" | tar -tv --full-time --utc -f - | awk '{ print $4, $5 }' | sort -u)" '2023-11-14 22:13:20'
	dpkg-deb -R "$deb" "$T/$p"
	ok "$p holds what its md5sums say" sh -c 'cd "$1" && md5sum -c --quiet DEBIAN/md5sums' sh "$T/$p"
	equal "md5sums of $p name every file" "$(sed 's/^[^ ]*  //' "$T/$p/DEBIAN/md5sums")" "$(cd "$T/$p" && find usr -type f | sort)"
	for f in copyright changelog.Debian.gz; do
		ok "$p has $f" test -s "$T/$p/usr/share/doc/$p/$f"
	done
done
for tool in "$B"/bin/nsysx*; do
	ok "nsysx has ${tool##*/}" test -x "$T/nsysx/usr/bin/${tool##*/}"
	ok "and its page" gzip -t "$T/nsysx/usr/share/man/man1/${tool##*/}.1.gz"
done
equal 'no page keeps a time' "$(find "$T/nsysx" -name '*.gz' -exec od -An -tx1 -j4 -N4 {} \; | sort -u | tr -d ' ')" 00000000
equal 'nothing names the folder it was built in' "$(grep -rlF -e "$root" "$T/nsysx" "$T/libnsysx-dev")" ''
if command -v lintian >/dev/null 2>&1; then
	# Without DEBEMAIL there is no address.
	equal 'lintian finds no error' "$(lintian --fail-on none "$T"/debs/*.deb 2>/dev/null | grep '^E:' | grep -v bogus-mail-host)" ''
else
	skip 'lintian finds no error' 'lintian is not here'
fi

mkdir "$T/source"
(cd "$root" && git -c safe.directory='*' ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$T/source")
ok 'make deb elsewhere' own "$T/source" deb "B=$T/source/other" "CC=${CC:-gcc}"
for p in nsysx libnsysx-dev; do
	same "$p is the same from another folder" "$T/debs/$p.deb" "$T/source/other/${p}_${dpkg_version}_$arch.deb"
done

# A clean system. What is mounted there when its making is cut short must not be removed with it; and a command in the foreground
# of `timeout` ends when the test is told to.
clean=$T/clean
trap 'umount "$clean/proc" "$clean/sys" 2>/dev/null; rm -rf --one-file-system "$T" "$T_private"' EXIT
mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
	awk -v name="$(. /etc/os-release 2>/dev/null; echo "${VERSION_CODENAME-}")" '$1 == name { print $2; exit }')
if [ "$(id -u)" -ne 0 ]; then
	skip 'the packages install on a clean system' 'that needs root'
elif ! command -v debootstrap >/dev/null 2>&1; then
	skip 'the packages install on a clean system' 'debootstrap is not here'
elif [ -z "$mirror" ] || ! timeout --foreground 900 debootstrap --variant=minbase "$(. /etc/os-release; echo "$VERSION_CODENAME")" "$clean" "$mirror" >"$T/debootstrap.log" 2>&1; then
	skip 'the packages install on a clean system' 'no system can be made here: no mirror, or it is out of reach'
else
	inside() { timeout --foreground 600 chroot "$clean" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }
	apt-config dump Acquire >"$clean/etc/apt/apt.conf.d/99acquire"
	cp "$T/debs/nsysx.deb" "$T/debs/libnsysx-dev.deb" "$clean/tmp"
	inside apt-get update -q >/dev/null 2>&1
	ok 'nsysx installs on a clean system' inside apt-get install -y -q --no-install-recommends /tmp/nsysx.deb
	for tool in "$B"/bin/nsysx*; do
		run inside "${tool##*/}" -V
		equal "${tool##*/} runs there" "$status $(cut -d ' ' -f 2 "$T_private/out")" "0 ${dpkg_version%-1}"
	done
	"$SYNTH" -o "$clean/tmp/s" >/dev/null 2>&1
	inside sh -c 'cd /tmp/s && nsysx extract -q -x dump0 r0.sqlite | nsysx warmup | nsysx overlap -q | nsysx fold -q' >"$T/there"
	(cd "$clean/tmp/s" && nsysx extract -q -x dump0 r0.sqlite | nsysx warmup | nsysx overlap -q | nsysx fold -q) >"$T/here"
	ok 'an answer is not empty' test -s "$T/here"
	same 'and the same there as here' "$T/there" "$T/here"
	ok 'a report is built there' inside sh -c 'cd /tmp/s && nsysx-report -q -o report -x dump0 r0.sqlite && test -s report/index.html'
	equal 'bash completes there' "$(inside bash -c 'source /usr/share/bash-completion/completions/nsysx-fold; COMP_WORDS=(nsysx-fold --by opc); COMP_CWORD=2; _nsysx; echo ${COMPREPLY[@]}')" opcode
	ok 'libnsysx-dev installs there' inside apt-get install -y -q --no-install-recommends /tmp/libnsysx-dev.deb gcc libc6-dev pkgconf
	ok 'and serves a program' inside sh -c 'cd /tmp && cc -o longer /usr/share/doc/libnsysx-dev/examples/longer.c $(pkg-config --static --cflags --libs nsysx) && ./longer --help'
	ok 'both are removed' inside dpkg -P libnsysx-dev nsysx
	equal 'and leave nothing' "$(find "$clean/usr" "$clean/etc" -name '*nsysx*')" ''
fi
done_testing
