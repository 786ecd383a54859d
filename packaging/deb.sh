#!/bin/sh
# deb.sh VERSION -- build Debian packages in $B: nsysx, the tools, and libnsysx-dev, for programs of one's own. The same
# source gives the same bytes, by the same compiler: time is that of the last commit, or SOURCE_DATE_EPOCH.
set -eu
umask 022
cd "${0%/*}/.."
version=$1 B=${B:-build} CC=${CC:-gcc}
maintainer=${DEBFULLNAME:-nsysx}' <'${DEBEMAIL:-nsysx@localhost}'>'
if ! command -v dpkg-deb >/dev/null 2>&1; then
	echo "nsysx: dpkg-deb is not here: the Debian package dpkg has it" >&2
	exit 1
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1767225600)}
LC_ALL=C TZ=UTC DPKG_DEB_THREADS_MAX=1
export LC_ALL TZ DPKG_DEB_THREADS_MAX SOURCE_DATE_EPOCH
arch=$(dpkg --print-architecture)
stage=$B/deb/stage
mkdir -p "$B/deb"
rm -rf "$stage"

# What dpkg-buildflags says of $1, or $2 where it is not here. Without -g, which would only be stripped again.
flags() {
	{ dpkg-buildflags --get "$1" 2>/dev/null || echo "$2"; } | sed 's/^-g //'
}

# make with the flags of packages, installing $1 as package $2.
install_as() {
	package=$2
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s "${JOBS:--j2}" "B=$B/deb" "CC=$CC" \
		"CFLAGS=$(flags CFLAGS -O2) -ffile-prefix-map=$PWD=. -ffile-prefix-map=$B/deb=build" \
		"CPPFLAGS=$(flags CPPFLAGS -D_FORTIFY_SOURCE=2)" "LDFLAGS=$(flags LDFLAGS -Wl,-z,relro) -Wl,-z,now" \
		"$1" "DESTDIR=$(cd "$B/deb" && pwd)/stage/$package" PREFIX=/usr "DOCDIR=/usr/share/doc/$package" \
		ZSHDIR=/usr/share/zsh/vendor-completions "LIBDIR=/usr/lib/$(multiarch)"
}
multiarch() { dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || $CC -print-multiarch; }

# Of these files those that a compiler made: some tools are scripts.
compiled() {
	for f; do readelf -h "$f" >/dev/null 2>&1 && echo "$f"; done
	return 0
}

# The packages of the libraries that the tools need, as dpkg-shlibdeps tells from a source package of ours.
needed() {
	mkdir -p "$stage/source/debian"
	printf 'Source: nsysx\n\nPackage: nsysx\nArchitecture: any\n' >"$stage/source/debian/control"
	# shellcheck disable=SC2046  # names of tools
	(cd "$stage/source" && dpkg-shlibdeps -O $(compiled ../nsysx/usr/bin/*) 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

# What policy wants of package $1 beside its files.
documents() {
	doc=$stage/$1/usr/share/doc/$1
	mkdir -p "$doc"
	rm -f "$doc/LICENSE"
	cat >"$doc/copyright" <<-X
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
		Upstream-Name: nsysx

		Files: *
		Copyright: 2026 the authors of nsysx
		License: Apache-2.0
		 On Debian systems the whole text of the license is in
		 /usr/share/common-licenses/Apache-2.0.
	X
	printf 'nsysx (%s-1) unstable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' "$version" "$version" "$maintainer" \
		"$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.Debian.gz"
	[ ! -d "$stage/$1/usr/share/man" ] || find "$stage/$1/usr/share/man" -type f -exec gzip -9n {} +
}

# Package $1 of section $2, which depends on $3 and is better with $4; a line and more of description on standard input.
package() {
	documents "$1"
	root=$stage/$1
	mkdir "$root/DEBIAN"
	{
		printf 'Package: %s\nSource: nsysx\nVersion: %s-1\nArchitecture: %s\nMaintainer: %s\n' "$1" "$version" "$arch" "$maintainer"
		# Of every file its whole KiB, and one for each folder: not what this file system takes.
		find "$root/usr" -printf '%y %s\n' | awk '{ n += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print "Installed-Size: " n }'
		[ -z "$3" ] || printf 'Depends: %s\n' "$3"
		[ -z "$4" ] || printf 'Recommends: %s\n' "$4"
		printf 'Section: %s\nPriority: optional\n' "$2"
		sed '1s/^/Description: /; 2,$s/^/ /'
	} >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f | sort | xargs md5sum) >"$root/DEBIAN/md5sums"
	find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group -Zxz --build "$root" "$B/${1}_$version-1_$arch.deb" >/dev/null
	echo "$B/${1}_$version-1_$arch.deb"
}

install_as install-tools nsysx
install_as install-dev libnsysx-dev
compiled "$stage"/nsysx/usr/bin/* | while read -r tool; do
	strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tool"
done
strip --strip-debug --enable-deterministic-archives "$stage/libnsysx-dev/usr/lib/$(multiarch)/libnsysx.a"

depends=$(needed)
# A report is built by make, and drawn by gnuplot where that is there.
package nsysx utils "${depends:-libc6, liblzma5, libprotobuf-c1, libsqlite3-0, libzstd1, zlib1g}, make" gnuplot-nox <<-'X'
	answers from Nsight Systems profiles of JAX and XLA programs
	Small filters that turn profiles of NVIDIA Nsight Systems into answers: where
	GPU time goes by program, operation and source line, what communication costs
	and how much of it is hidden, which device is late, what compilation and
	memory take. They pass one stream of records along a pipe, text or binary.
	.
	Profiles are read from the SQLite exports of nsys, which is not needed.
X
package libnsysx-dev libdevel 'libsqlite3-dev, libprotobuf-c-dev, libzstd-dev, liblzma-dev, zlib1g-dev' '' <<-'X'
	records of Nsight Systems profiles of XLA programs, for C and C++
	The static library and headers that the tools of nsysx are made of: reading
	and writing streams of records. A filter of one's own is an example.
X
