#!/bin/sh
# Installs the packages of scripts/packages.txt that are missing. If none is missing, it prints nothing and needs no network.
# It knows Debian and its relatives only. On other systems it names the packages and goes on.
#
# usage: scripts/packages.sh GROUP...
set -eu
list=$(dirname "$0")/packages.txt

wanted=$(for group in "$@"; do sed -n "s/^$group //p" "$list"; done)
if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system: if the build fails, install what these are called here:" $wanted >&2
    exit 0
fi

# The list has no virtual packages, so a package is present exactly if dpkg knows it as installed.
present=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p')
missing=$(for package in $wanted; do echo "$present" | grep -qxF "$package" || echo "$package"; done)
[ -n "$missing" ] || exit 0

echo "Installing" $missing
if [ "$(id -u)" = 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null; then
    as_root="sudo env"
else
    echo "This needs root: run 'apt-get install" $missing"' as root, then start again." >&2
    exit 1
fi
apt="$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300"

# An update helps if apt does not know a package, or if its list is old. It takes long, so the first try goes without.
$apt install --simulate $missing >/dev/null 2>&1 || $apt update </dev/null
$apt install -y --no-install-recommends $missing </dev/null ||
    { $apt update </dev/null && $apt install -y --no-install-recommends $missing </dev/null; }
